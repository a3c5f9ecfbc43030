// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/layers/softmax.hpp"

#include "core/nets/layers/layers.hpp"
#include "ferry/layers.pb.h"

namespace ferry::detail {
namespace {

/// y = exp(x) / (the sum of exp(x) along the axis), computed without overflow.
///
/// Parameters: softmax_param { axis: 1 }.
/// Bottoms: 1, with that axis.
/// Tops: 1, of that shape; may be the bottom.
/// Gradient: (dy - (the sum of dy y along the axis)) y. As in Caffe, it is computed even if
/// propagate_down is false.
template <class T>
class SoftmaxLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Softmax"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }

  void Reshape(const Blobs& bottom, const Blobs& top) override {
    columns_ = Columns::Of(*bottom[0], this->layer_param().softmax_param().axis());
    top[0]->ReshapeLike(*bottom[0]);
  }

 protected:
  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    SoftmaxForward(place, columns_, *bottom[0], *top[0]);
  }
  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& /*propagate_down*/,
                  const Blobs& bottom) override {
    SoftmaxBackward(place, columns_, *top[0], *bottom[0]);
  }

 private:
  Columns columns_{};
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Softmax);

}  // namespace ferry::detail
