// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/layers/layers.hpp"
#include "core/nets/layers/loss_layer.hpp"

namespace ferry::detail {
namespace {

/// The sum of max(0, 1 - t x), or of its square for L2, divided by the first dim; t is 1 for the class that
/// the label names, and -1 for the others.
///
/// Parameters: hinge_loss_param { norm: L1 (L2) }.
/// Bottoms: predictions, whose dims from axis 1 on are the classes; labels, one for each instance.
/// Tops: the loss, of weight 1 unless the layer says otherwise.
/// Gradient: 0 where the margin is 0 or less; the labels have none. A label without a class is an error. On a
/// GPU it makes the loss and the instance's gradient not-a-number; a pass with such a loss throws.
/// Caffe: keeps the margins in the diff of bottom 0 from Forward to Backward; Ferry computes them anew. Caffe
/// refuses more than 4 axes, and takes labels with more elements than are used.
template <class T>
class HingeLossLayer : public LossLayer<T> {
 public:
  using LossLayer<T>::LossLayer;
  using typename LossLayer<T>::Blobs;

  const char* type() const override { return "HingeLoss"; }

  void Reshape(const Blobs& bottom, const Blobs& top) override {
    LossLayer<T>::Reshape(bottom, top);
    this->RequireLabelCount(bottom[0]->shape(0), *bottom[1]);
  }

  void CheckValues(const Blobs& bottom) const override {
    this->RequireLabels(*bottom[1], {bottom[0]->count(1)});
  }
  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    const std::int64_t classes = bottom[0]->count(1);
    const Labels labels{classes};
    const bool squared = IsSquared();
    this->sum_.Compute(
        place, bottom[0]->count(), {false, static_cast<double>(bottom[0]->shape(0))}, *top[0],
        KOKKOS_LAMBDA(std::int64_t i, Tally & tally, const T* x, const T* label) {
          const auto margin =
              static_cast<double>(Margin(x[i], i % classes, labels.Class(label[i / classes])));
          tally.sum += squared ? margin * margin : margin;
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
    const bool squared = IsSquared();
    ParallelFor(
        place, {num, classes}, Read(*bottom[0], {num, classes}), Read(*bottom[1], {num}),
        Read(this->sum_.Scale(place, *top[0]), {2}), Overwrite(Diff(*bottom[0]), {num, classes}),
        KOKKOS_LAMBDA(std::int64_t n, std::int64_t c, View<const T, 2> x, View<const T, 1> label,
                      View<const T, 1> scale, View<T, 2> dx) {
          const std::int64_t cls = labels.Class(label(n));
          const T margin = Margin(x(n, c), c, cls);
          const T slope = squared ? 2 * margin : margin > 0 ? T(1) : margin;
          dx(n, c) = (c == cls ? -scale(0) : scale(0)) * slope;
        });
  }

 private:
  KOKKOS_INLINE_FUNCTION static T Margin(T x, std::int64_t c, std::int64_t cls) {
    if (cls == Labels::kWrong) return kNan<T>;
    const T margin = c == cls ? 1 - x : 1 + x;
    return margin < 0 ? T(0) : margin;
  }
  bool IsSquared() const { return this->layer_param().hinge_loss_param().norm() == HingeLossParameter::L2; }
};

}  // namespace

FERRY_NETS_MAKE_LAYER(HingeLoss);

}  // namespace ferry::detail
