// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>

#include "core/nets/layers/layers.hpp"
#include "core/nets/layers/loss_layer.hpp"

namespace ferry::detail {
namespace {

/// The sum of -log(max(p, 1e-20)), divided by the first dim, where p is the probability that the prediction
/// gives the class that the label names.
///
/// Bottoms: probabilities, whose dims from axis 1 on are the classes; labels, one for each instance.
/// Tops: the loss, of weight 1 unless the layer says otherwise.
/// Gradient: -1 / max(p, 1e-20) at the label's class, and 0 at the others; the labels have none. A label
/// without a class is an error. On a GPU it makes the loss and the instance's gradient not-a-number; if the
/// net's loss becomes that, too, the pass throws.
/// Caffe: refuses more than 4 axes.
template <class T>
class MultinomialLogisticLossLayer : public LossLayer<T> {
 public:
  using LossLayer<T>::LossLayer;
  using typename LossLayer<T>::Blobs;

  const char* type() const override { return "MultinomialLogisticLoss"; }

  void Reshape(const Blobs& bottom, const Blobs& top) override {
    LossLayer<T>::Reshape(bottom, top);
    this->RequireLabelCount(bottom[0]->shape(0), *bottom[1]);
  }

  void CheckValues(const Blobs& bottom) const override {
    this->RequireLabels(*bottom[1], {bottom[0]->count(1)});
  }
  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    const std::int64_t num = bottom[0]->shape(0);
    const std::int64_t classes = bottom[0]->count(1);
    const Labels labels{classes};
    this->sum_.Compute(
        place, num, {false, static_cast<double>(num)}, *top[0],
        KOKKOS_LAMBDA(std::int64_t n, Tally & tally, const T* prob, const T* label) {
          const std::int64_t cls = labels.Class(label[n]);
          tally.sum -= cls == Labels::kWrong
                           ? kNan<double>
                           : static_cast<double>(std::log(Clamped(prob[n * classes + cls])));
        },
        Read(*bottom[0]), Read(*bottom[1]));
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    this->RefuseGradient(propagate_down, 1);
    if (!propagate_down[0]) return;
    const std::int64_t num = bottom[0]->shape(0);
    const std::int64_t classes = bottom[0]->count(1);
    const Labels labels{classes};
    Set(place, T(0), Diff(*bottom[0]));
    ParallelFor(
        place, num, Read(*bottom[0]), Read(*bottom[1]), Read(this->sum_.Scale(place, *top[0])),
        ReadWrite(Diff(*bottom[0])),
        KOKKOS_LAMBDA(std::int64_t n, const T* prob, const T* label, const T* scale, T* dx) {
          const std::int64_t cls = labels.Class(label[n]);
          if (cls >= 0) {
            dx[n * classes + cls] = -scale[0] / Clamped(prob[n * classes + cls]);
            return;
          }
          for (std::int64_t c = 0; c < classes; ++c) dx[n * classes + c] = kNan<T>;
        });
  }

 private:
  KOKKOS_INLINE_FUNCTION static T Clamped(T p) {
    const T least = T(1e-20F);
    return p < least ? least : p;
  }
};

}  // namespace

FERRY_NETS_MAKE_LAYER(MultinomialLogisticLoss);

}  // namespace ferry::detail
