// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/layers/axis_parameter.hpp"
#include "core/nets/layers/layers.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

/// y = x + b, where b goes along some axes of x and is the same along the others.
///
/// Parameters: bias_param { axis: 1, num_axes: 1 (-1 for all from axis on), filler: constant 0 }; num_axes
/// and the filler are for one bottom.
/// Weights: 0: b (the dims of those axes), for one bottom.
/// Bottoms: 1 or 2: x, of any shape; b, whose dims are those of x from the axis on.
/// Tops: 1, of the shape of x; may be the first bottom.
/// Gradient: adds to that of the parameter, and overwrites that of a second bottom.
template <class T>
class BiasLayer : public AxisParameterLayer<T> {
 public:
  using AxisParameterLayer<T>::AxisParameterLayer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Bias"; }

  void LayerSetUp(const Blobs& bottom, const Blobs& /*top*/) override {
    const BiasParameter& param = this->layer_param().bias_param();
    if (bottom.size() == 1 && this->blobs_.empty())
      this->blobs_.push_back(this->MakeParameter(*bottom[0], param.axis(), param.num_axes(), param.filler()));
    for (std::size_t i = 0; i < this->blobs_.size(); ++i)
      this->set_param_propagate_down(static_cast<int>(i), true);
    sum_ = ChannelSums<1>(this->place().device());
  }

  void Reshape(const Blobs& bottom, const Blobs& top) override {
    dims_ = this->Along(*bottom[0], Term(bottom), this->layer_param().bias_param().axis());
    top[0]->ReshapeLike(*bottom[0]);
    sum_.Reshape(dims_);
  }

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    ForChannels(
        place, dims_,
        KOKKOS_LAMBDA(std::int64_t i, std::int64_t c, const T* b, const T* x, T* y) { y[i] = x[i] + b[c]; },
        Read(Term(bottom)), Read(*bottom[0]), Overwrite(*top[0]));
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    if (propagate_down[0] && bottom[0] != top[0]) Copy(place, Diff(*top[0]), Diff(*bottom[0]));
    const bool is_param = bottom.size() == 1;
    if (!(is_param ? this->param_propagate_down(0) : propagate_down[1])) return;
    sum_.Sum(
        place,
        KOKKOS_LAMBDA(std::int64_t i, std::int64_t, const T* dy) {
          return Terms<1>{{static_cast<double>(dy[i])}};
        },
        Read(Diff(*top[0])));
    sum_.Store(place, 0, Diff(Term(bottom)), is_param ? Old::kAdded : Old::kOverwritten);
  }

 private:
  Blob<T>& Term(const Blobs& bottom) const { return bottom.size() > 1 ? *bottom[1] : *this->blobs_[0]; }

  Channels dims_;
  ChannelSums<1> sum_;
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Bias);

}  // namespace ferry::detail
