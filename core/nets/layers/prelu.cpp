// SPDX-License-Identifier: BSD-2-Clause
#include <string>

#include "core/nets/layers/channels.hpp"
#include "core/nets/layers/layers.hpp"
#include "core/nets/layers/neuron_layer.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

/// y = max(x, 0) + slope * min(x, 0), with a slope for each channel, or one, that training finds.
///
/// Parameters: prelu_param { filler: constant 0.25, channel_shared: false }.
/// Weights: 0: the slopes (channels), or with channel_shared one (no axes).
/// Bottoms: 1, of 2 axes or more; axis 1 is the channel.
/// Tops: 1, of that shape; may be the bottom, of which the layer then keeps a copy.
/// Gradient: where x is 0, slope times the top's; where x is not-a-number, 0. The slope's is not-a-number
/// where x is +infinity.
/// Caffe: refuses more than 4 axes.
template <class T>
class PReLULayer : public NeuronLayer<T> {
 public:
  using NeuronLayer<T>::NeuronLayer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "PReLU"; }

  void LayerSetUp(const Blobs& bottom, const Blobs& /*top*/) override {
    const PReLUParameter& param = this->layer_param().prelu_param();
    RequireAxes(*bottom[0]);
    const std::vector<std::int64_t> shape(param.channel_shared() ? 0 : 1, bottom[0]->shape(1));
    if (this->blobs_.empty()) {
      FillerParameter filler = param.filler();
      if (!param.has_filler()) filler.set_value(0.25F);
      this->blobs_.push_back(std::make_shared<Blob<T>>(Shape(shape), this->place().device()));
      this->FillBlob(filler, this->blobs_[0].get());
    }
    if (this->blobs_[0]->count() != Shape(shape).count())
      this->Fail("its slopes have the shape " + this->blobs_[0]->shape().ToString() + ", and the bottom " +
                 bottom[0]->shape().ToString() +
                 "; there is one slope a channel, or with channel_shared one");
    this->set_param_propagate_down(0, true);
    kept_ = Blob<T>(this->place().device());
    sum_ = ChannelSums<1>(this->place().device());
  }

  void Reshape(const Blobs& bottom, const Blobs& top) override {
    RequireAxes(*bottom[0]);
    const bool shared = this->layer_param().prelu_param().channel_shared();
    dims_ = {bottom[0]->shape(0), bottom[0]->shape(1), bottom[0]->count(2)};
    if (shared) dims_ = {1, 1, bottom[0]->count()};
    if (dims_.channels != this->blobs_[0]->count())
      this->Fail("the bottom's shape is now " + bottom[0]->shape().ToString() + "; it was set up for " +
                 std::to_string(this->blobs_[0]->count()) + " channels, in axis 1");
    top[0]->ReshapeLike(*bottom[0]);
    if (bottom[0] == top[0]) kept_.ReshapeLike(*bottom[0]);
    sum_.Reshape(dims_);
  }

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    if (bottom[0] == top[0]) Copy(place, *bottom[0], kept_);
    ForChannels(
        place, dims_,
        KOKKOS_LAMBDA(std::int64_t i, std::int64_t c, const T* slope, const T* x, T* y) {
          const T above = x[i] > 0 ? x[i] : T(0);
          const T below = x[i] > 0 ? T(0) : x[i];
          y[i] = above + slope[c] * below;
        },
        Read(*this->blobs_[0]), Read(*bottom[0]), Overwrite(*top[0]));
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    const Blob<T>& x_of = bottom[0] == top[0] ? kept_ : *bottom[0];
    if (this->param_propagate_down(0)) {
      sum_.Sum(
          place,
          KOKKOS_LAMBDA(std::int64_t i, std::int64_t, const T* dy, const T* x) {
            const T counts = x[i] <= 0 ? T(1) : T(0);  // 0 times infinity is not-a-number, as in Caffe
            return Terms<1>{{static_cast<double>(dy[i]) * static_cast<double>(x[i] * counts)}};
          },
          Read(Diff(*top[0])), Read(x_of));
      sum_.Store(place, 0, Diff(*this->blobs_[0]), Old::kAdded);
    }
    if (!propagate_down[0]) return;
    ForChannels(
        place, dims_,
        KOKKOS_LAMBDA(std::int64_t i, std::int64_t c, const T* slope, const T* x, const T* dy, T* dx) {
          dx[i] = dy[i] * RectifierSlope(x[i], slope[c]);
        },
        Read(*this->blobs_[0]), Read(x_of), Read(Diff(*top[0])), Overwrite(Diff(*bottom[0])));
  }

 private:
  void RequireAxes(const Blob<T>& bottom) const {
    if (bottom.num_axes() < 2)
      this->Fail("the bottom's shape is " + bottom.shape().ToString() +
                 "; it takes 2 axes or more, of which axis 1 is the channel");
  }

  Channels dims_;
  Blob<T> kept_;  ///< x, where the top overwrites it
  ChannelSums<1> sum_;
};

}  // namespace

FERRY_NETS_MAKE_LAYER(PReLU);

}  // namespace ferry::detail
