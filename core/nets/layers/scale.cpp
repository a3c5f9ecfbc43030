// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/layers/axis_parameter.hpp"
#include "core/nets/layers/layers.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

/// y = s * x + b, where s and b go along some axes of x and are the same along the others.
///
/// Parameters: scale_param { axis: 1, num_axes: 1 (-1 for all from axis on), filler: constant 1,
/// bias_term: false, bias_filler: constant 0 }; num_axes and the filler are for one bottom.
/// Weights: 0: s (the dims of those axes), for one bottom; the last: b (the same dims), with bias_term.
/// Bottoms: 1 or 2: x, of any shape; s, whose dims are those of x from the axis on.
/// Tops: 1, of the shape of x; may be the first bottom, of which the layer then keeps a copy.
/// Gradient: adds to those of parameters, and overwrites that of a second bottom. As in Caffe, the parameter
/// s is overwritten, too, in two cases: it has as many elements as x; or it and the axes behind its own have
/// several elements, and the axes before them one.
/// Caffe: where the description has one blob of weights, b begins as that blob, too, and not as its filler
/// says. Where propagate_down is false for x, Caffe leaves products in its diff, which a Split or a Parameter
/// in front takes for its gradient. In place, Caffe's Backward overwrites its copy of x: a second one after
/// the same Forward gives another gradient of s. Its BLAS decides what s of 0 makes of infinity and
/// not-a-number; here both become not-a-number.
template <class T>
class ScaleLayer : public AxisParameterLayer<T> {
 public:
  using AxisParameterLayer<T>::AxisParameterLayer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Scale"; }

  void LayerSetUp(const Blobs& bottom, const Blobs& top) override;
  void Reshape(const Blobs& bottom, const Blobs& top) override;

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override;
  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override;

 private:
  Blob<T>& Factor(const Blobs& bottom) const { return bottom.size() > 1 ? *bottom[1] : *this->blobs_[0]; }
  bool has_bias() const { return this->layer_param().scale_param().bias_term(); }
  int axis() const { return this->layer_param().scale_param().axis(); }
  bool Overwrites() const {
    return dims_.count() == dims_.channels || (dims_.outer == 1 && dims_.channels > 1 && dims_.inner > 1);
  }

  Channels dims_;
  Blob<T> kept_;  ///< x, where the top overwrites it
  ChannelSums<2> sums_;
};

template <class T>
void ScaleLayer<T>::LayerSetUp(const Blobs& bottom, const Blobs& /*top*/) {
  const ScaleParameter& param = this->layer_param().scale_param();
  if (bottom.size() == 1 && this->blobs_.empty()) {
    FillerParameter filler = param.filler();
    if (!param.has_filler()) filler.set_value(1);
    this->blobs_.push_back(this->MakeParameter(*bottom[0], param.axis(), param.num_axes(), filler));
  }
  // A bias may be there already, among the blobs that the layer was made from.
  if (has_bias() && this->blobs_.size() + bottom.size() < 3)
    this->blobs_.push_back(this->MakeParameter(*bottom[0], param.axis(),
                                               bottom.size() > 1 ? bottom[1]->num_axes() : param.num_axes(),
                                               param.bias_filler()));
  for (std::size_t i = 0; i < this->blobs_.size(); ++i)
    this->set_param_propagate_down(static_cast<int>(i), true);
  kept_ = Blob<T>(this->place().device());
  sums_ = ChannelSums<2>(this->place().device());
}

template <class T>
void ScaleLayer<T>::Reshape(const Blobs& bottom, const Blobs& top) {
  dims_ = this->Along(*bottom[0], Factor(bottom), axis());
  if (has_bias()) this->Along(*bottom[0], *this->blobs_.back(), axis());
  if (bottom[0] == top[0])
    kept_.ReshapeLike(*bottom[0]);
  else
    top[0]->ReshapeLike(*bottom[0]);
  sums_.Reshape(dims_);
}

template <class T>
void ScaleLayer<T>::ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) {
  if (bottom[0] == top[0]) Copy(place, *bottom[0], kept_);
  if (has_bias()) {
    ForChannels(
        place, dims_,
        KOKKOS_LAMBDA(std::int64_t i, std::int64_t c, const T* s, const T* b, const T* x, T* y) {
          y[i] = x[i] * s[c] + b[c];
        },
        Read(Factor(bottom)), Read(*this->blobs_.back()), Read(*bottom[0]), Overwrite(*top[0]));
  } else {
    ForChannels(
        place, dims_,
        KOKKOS_LAMBDA(std::int64_t i, std::int64_t c, const T* s, const T* x, T* y) { y[i] = x[i] * s[c]; },
        Read(Factor(bottom)), Read(*bottom[0]), Overwrite(*top[0]));
  }
}

template <class T>
void ScaleLayer<T>::BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                               const Blobs& bottom) {
  const bool is_param = bottom.size() == 1;
  const int last = static_cast<int>(this->blobs_.size()) - 1;
  const bool wants_bias = has_bias() && this->param_propagate_down(last);
  const bool wants_factor = is_param ? this->param_propagate_down(0) : propagate_down[1];
  if (wants_bias || wants_factor) {
    sums_.Sum(
        place,
        KOKKOS_LAMBDA(std::int64_t i, std::int64_t, const T* dy, const T* x) {
          const auto slope = static_cast<double>(dy[i]);
          return Terms<2>{{slope, slope * static_cast<double>(x[i])}};
        },
        Read(Diff(*top[0])), Read(bottom[0] == top[0] ? kept_ : *bottom[0]));
    if (wants_bias) sums_.Store(place, 0, Diff(*this->blobs_.back()), Old::kAdded);
    if (wants_factor)
      sums_.Store(place, 1, Diff(Factor(bottom)),
                  is_param && !Overwrites() ? Old::kAdded : Old::kOverwritten);
  }
  if (!propagate_down[0]) return;
  ForChannels(
      place, dims_,
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t c, const T* s, const T* dy, T* dx) { dx[i] = dy[i] * s[c]; },
      Read(Factor(bottom)), Read(Diff(*top[0])), Overwrite(Diff(*bottom[0])));
}

}  // namespace

FERRY_NETS_MAKE_LAYER(Scale);

}  // namespace ferry::detail
