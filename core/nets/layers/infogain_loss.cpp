// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>
#include <string>

#include "core/nets/layers/layers.hpp"
#include "core/nets/layers/loss_layer.hpp"
#include "core/nets/layers/softmax.hpp"
#include "core/nets/prefetch.hpp"
#include "ferry/nets/proto_io.hpp"

namespace ferry::detail {
namespace {

/// The sum of -H(label, c) log(max(p(c), 1e-20)) over all predictions and classes c, divided by the
/// normalizer, where p is what Softmax gives. Predictions with ignore_label do not count.
///
/// Parameters: infogain_loss_param { source: a file with H, a BlobProto, required unless there is a bottom 2;
/// axis: 1 }, loss_param { ignore_label: none, normalization: VALID (FULL, BATCH_SIZE, NONE) }.
/// Bottoms: predictions, with an axis of classes; labels, one for each prediction; H, classes x classes, if
/// there is a third.
/// Tops: the loss, of weight 1 unless the layer says otherwise; if there is a second, what Softmax gives:
/// then the layer has to give both a loss_weight.
/// Gradient: p times the sum of H's row of the label, minus the row; the labels and H have none. A label
/// without a class is an error. On a GPU it makes the loss and the prediction's gradient not-a-number; if the
/// net's loss becomes that, too, the pass throws.
template <class T>
class InfogainLossLayer : public LossLayer<T> {
 public:
  using LossLayer<T>::LossLayer;
  using typename LossLayer<T>::Blobs;

  const char* type() const override { return "InfogainLoss"; }
  int ExactNumBottomBlobs() const override { return -1; }
  int MinBottomBlobs() const override { return 2; }
  int MaxBottomBlobs() const override { return 3; }
  int ExactNumTopBlobs() const override { return -1; }
  int MinTopBlobs() const override { return 1; }
  int MaxTopBlobs() const override { return 2; }

  void LayerSetUp(const Blobs& bottom, const Blobs& top) override {
    LossLayer<T>::LayerSetUp(bottom, top);
    prob_ = Blob<T>(this->place().device());
    gain_ = Blob<T>(this->place().device());
    row_sums_ = Blob<T>(this->place().device());
    if (this->layer_param().loss_param().has_normalize())
      this->Fail("loss_param { normalize }; this layer takes normalization in its place");
    if (bottom.size() > 2) return;
    const InfogainLossParameter& param = this->layer_param().infogain_loss_param();
    if (!param.has_source())
      this->Fail("neither a bottom 2 nor infogain_loss_param { source }; one of them has to give H");
    BlobProto message;
    ReadProtoFromBinaryFileOrDie(param.source(), &message);
    gain_.FromProto(message);
  }
  void Reshape(const Blobs& bottom, const Blobs& top) override {
    LossLayer<T>::Reshape(bottom, top);
    columns_ = Columns::Of(*bottom[0], this->layer_param().infogain_loss_param().axis());
    this->RequireLabelCount(columns_.count(), *bottom[1]);
    const Blob<T>& gain = Gain(bottom);
    if (gain.count() != columns_.channels * columns_.channels)
      this->Fail("H has shape " + gain.shape_string() + "; for " + std::to_string(columns_.channels) +
                 " classes it takes classes x classes");
    prob_.ReshapeLike(*bottom[0]);
    row_sums_.Reshape({columns_.channels});
    if (top.size() < 2) return;
    top[1]->ReshapeLike(*bottom[0]);
    top[1]->ShareData(prob_);
  }

  void CheckValues(const Blobs& bottom) const override {
    this->RequireLabels(*bottom[1], this->LabelsFor(columns_.channels));
  }
  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    const Columns columns = columns_;
    const Labels labels = this->LabelsFor(columns.channels);
    if (bottom.size() == 2) PrefetchTo(place, gain_);
    SoftmaxForward(place, columns, *bottom[0], prob_);
    const T least = T(1e-20F);
    this->sum_.Compute(
        place, columns.count(),
        this->DivisorFor(this->layer_param().loss_param().normalization(), columns.outer, columns.inner),
        *top[0],
        KOKKOS_LAMBDA(std::int64_t i, Tally & tally, const T* prob, const T* label, const T* gain) {
          const std::int64_t cls = labels.Class(label[i]);
          if (cls == Labels::kIgnored) return;
          tally.count += 1;
          if (cls == Labels::kWrong) {
            tally.sum = kNan<double>;
            return;
          }
          const T* p = prob + i / columns.inner * columns.channels * columns.inner + i % columns.inner;
          for (std::int64_t c = 0; c < columns.channels; ++c, p += columns.inner)
            tally.sum -=
                static_cast<double>(gain[cls * columns.channels + c] * std::log(*p < least ? least : *p));
        },
        Read(prob_), Read(*bottom[1]), Read(Gain(bottom)));
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    this->RefuseGradient(propagate_down, 1);
    if (!propagate_down[0]) return;
    SumRows(place, Gain(bottom));
    const Columns columns = columns_;
    const Labels labels = this->LabelsFor(columns.channels);
    ParallelFor(
        place, columns.count(), Read(prob_), Read(*bottom[1]), Read(Gain(bottom)), Read(row_sums_),
        Read(this->sum_.Scale(place, *top[0])), Overwrite(Diff(*bottom[0])),
        KOKKOS_LAMBDA(std::int64_t i, const T* prob, const T* label, const T* gain, const T* sums,
                      const T* scale, T* dx) {
          const std::int64_t first = i / columns.inner * columns.channels * columns.inner + i % columns.inner;
          const std::int64_t cls = labels.Class(label[i]);
          const T other = cls == Labels::kIgnored ? T(0) : kNan<T>;
          for (std::int64_t c = 0; c < columns.channels; ++c) {
            const std::int64_t at = first + c * columns.inner;
            dx[at] = cls < 0 ? other : scale[0] * (prob[at] * sums[cls] - gain[cls * columns.channels + c]);
          }
        });
  }

  void SumRows(const Place& place, const Blob<T>& gain) {
    const std::int64_t classes = columns_.channels;
    ParallelFor(
        place, classes, Read(gain), Overwrite(row_sums_),
        KOKKOS_LAMBDA(std::int64_t row, const T* of, T* sums) {
          T sum = 0;
          for (std::int64_t c = 0; c < classes; ++c) sum += of[row * classes + c];
          sums[row] = sum;
        });
  }

 private:
  const Blob<T>& Gain(const Blobs& bottom) const { return bottom.size() > 2 ? *bottom[2] : gain_; }

  Columns columns_{};
  Blob<T> prob_;      ///< what Softmax gives
  Blob<T> gain_;      ///< H of a file
  Blob<T> row_sums_;  ///< of H
};

}  // namespace

FERRY_NETS_MAKE_LAYER(InfogainLoss);

}  // namespace ferry::detail
