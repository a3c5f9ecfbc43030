// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>
#include <limits>

#include "core/nets/layers/layers.hpp"
#include "core/nets/layers/loss_layer.hpp"
#include "core/nets/layers/softmax.hpp"

namespace ferry::detail {
namespace {

/// The sum of -log(p) over all predictions, divided by the normalizer, where p is what Softmax gives for the
/// class that the label names. Predictions with ignore_label do not count.
///
/// Parameters: softmax_param { axis: 1 }, loss_param { ignore_label: none, normalization: VALID (FULL,
/// BATCH_SIZE, NONE), normalize: for VALID (true) and BATCH_SIZE (false) }.
/// Bottoms: predictions, with an axis of classes; labels, one for each prediction.
/// Tops: the loss, of weight 1 unless the layer says otherwise.
/// Gradient: (p - 1) at the label's class, p at the others, 0 where the label is ignored; the labels have
/// none. A label without a class is an error. On a GPU it makes the loss and the prediction's gradient
/// not-a-number; if the net's loss becomes that, too, the pass throws.
/// Caffe: refuses a second top, which its documents speak of; so does Ferry.
template <class T>
class SoftmaxWithLossLayer : public LossLayer<T> {
 public:
  using LossLayer<T>::LossLayer;
  using typename LossLayer<T>::Blobs;

  const char* type() const override { return "SoftmaxWithLoss"; }

  void LayerSetUp(const Blobs& bottom, const Blobs& top) override {
    LossLayer<T>::LayerSetUp(bottom, top);
    prob_ = Blob<T>(this->place().device());
    const LossParameter& param = this->layer_param().loss_param();
    mode_ = param.normalization();
    if (!param.has_normalization() && param.has_normalize())
      mode_ = param.normalize() ? LossParameter::VALID : LossParameter::BATCH_SIZE;
  }
  void Reshape(const Blobs& bottom, const Blobs& top) override {
    LossLayer<T>::Reshape(bottom, top);
    columns_ = Columns::Of(*bottom[0], this->layer_param().softmax_param().axis());
    this->RequireLabelCount(columns_.count(), *bottom[1]);
    prob_.ReshapeLike(*bottom[0]);
  }

  void CheckValues(const Blobs& bottom) const override {
    this->RequireLabels(*bottom[1], this->LabelsFor(columns_.channels));
  }
  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    const Labels labels = this->LabelsFor(columns_.channels);
    SoftmaxForward(place, columns_, *bottom[0], prob_);
    const Columns columns = columns_;
    const T least = static_cast<T>(std::numeric_limits<float>::min());  // in double, too, as in Caffe
    this->sum_.Compute(
        place, columns.count(), this->DivisorFor(mode_, columns.outer, columns.inner), *top[0],
        KOKKOS_LAMBDA(std::int64_t i, Tally & tally, const T* prob, const T* label) {
          const std::int64_t cls = labels.Class(label[i]);
          if (cls == Labels::kIgnored) return;
          tally.count += 1;
          if (cls == Labels::kWrong) {
            tally.sum = kNan<double>;
            return;
          }
          const T p = prob[(i / columns.inner * columns.channels + cls) * columns.inner + i % columns.inner];
          tally.sum -= static_cast<double>(std::log(p < least ? least : p));
        },
        Read(prob_), Read(*bottom[1]));
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    this->RefuseGradient(propagate_down, 1);
    if (!propagate_down[0]) return;
    const Blob<T>& factor = this->sum_.Scale(place, *top[0]);
    ParallelFor(
        place, prob_.count(), Read(prob_), Read(factor), Overwrite(Diff(*bottom[0])),
        KOKKOS_LAMBDA(std::int64_t i, const T* prob, const T* scale, T* dx) { dx[i] = scale[0] * prob[i]; });
    const Labels labels = this->LabelsFor(columns_.channels);
    const Columns columns = columns_;
    ParallelFor(
        place, columns.count(), Read(prob_), Read(*bottom[1]), Read(factor), ReadWrite(Diff(*bottom[0])),
        KOKKOS_LAMBDA(std::int64_t i, const T* prob, const T* label, const T* scale, T* dx) {
          const std::int64_t first = i / columns.inner * columns.channels * columns.inner + i % columns.inner;
          const std::int64_t cls = labels.Class(label[i]);
          if (cls >= 0) {
            const std::int64_t at = first + cls * columns.inner;
            dx[at] = scale[0] * (prob[at] - 1);
            return;
          }
          const T all = cls == Labels::kIgnored ? T(0) : kNan<T>;
          for (std::int64_t c = 0; c < columns.channels; ++c) dx[first + c * columns.inner] = all;
        });
  }

 private:
  LossParameter::NormalizationMode mode_ = LossParameter::VALID;
  Columns columns_{};
  Blob<T> prob_;  ///< what Softmax gives
};

}  // namespace

FERRY_NETS_MAKE_LAYER(SoftmaxWithLoss);

}  // namespace ferry::detail
