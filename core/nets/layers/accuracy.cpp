// SPDX-License-Identifier: BSD-2-Clause
#include <string>

#include "core/nets/layers/columns.hpp"
#include "core/nets/layers/labels.hpp"
#include "core/nets/layers/layers.hpp"
#include "core/nets/layers/term_sum.hpp"
#include "ferry/layers.pb.h"

namespace ferry::detail {
namespace {

inline constexpr int kIgnoredPrediction = -1;

/// What a prediction is worth whose label's class has `rank` classes at least as likely, itself included.
template <class T>
KOKKOS_INLINE_FUNCTION T Verdict(std::int64_t cls, std::int64_t rank, std::int64_t top_k) {
  if (cls == Labels::kIgnored) return T(kIgnoredPrediction);
  if (cls == Labels::kWrong) return kNan<T>;
  return rank <= top_k ? T(1) : T(0);
}

template <class T>
struct AccuracyRow {
  std::int64_t channels;
  Labels labels;
  std::int64_t top_k;

  /// A stretch at a time: once more than top_k classes are as likely, the others do not matter.
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, const T* x, const T* label, T* verdict) const {
    constexpr std::int64_t kStretch = 64;
    x += row * channels;
    const std::int64_t cls = labels.Class(label[row]);
    std::int64_t rank = 0;
    for (std::int64_t c = 0; cls >= 0 && c < channels && rank <= top_k; c += kStretch)
      rank += AsLikely(x + c, channels - c < kStretch ? channels - c : kStretch, x[cls]);
    verdict[row] = Verdict<T>(cls, rank, top_k);
  }

 private:
  KOKKOS_INLINE_FUNCTION static std::int32_t AsLikely(const T* x, std::int64_t n, T own) {
    std::int32_t lane[kRun] = {};
    std::int64_t c = 0;
    for (; c + kRun <= n; c += kRun)
      for (int l = 0; l < kRun; ++l) lane[l] += x[c + l] >= own ? 1 : 0;
    for (; c < n; ++c) lane[0] += x[c] >= own ? 1 : 0;
    std::int32_t count = 0;
    for (const auto part : lane) count += part;
    return count;
  }
};

/// For columns that are not rows. A tile's labels and verdicts are not its predictions' neighbours.
template <class T, int kWidth>
struct AccuracyTile {
  Columns columns;
  Labels labels;
  std::int64_t top_k;

  std::int64_t PerOuter() const { return (columns.inner + kWidth - 1) / kWidth; }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t tile, const T* x, const T* label, T* verdict) const {
    const std::int64_t per_outer = (columns.inner + kWidth - 1) / kWidth;
    const std::int64_t first = tile % per_outer * kWidth;
    const std::int64_t outer = tile / per_outer;
    x += outer * columns.channels * columns.inner;
    label += outer * columns.inner;
    verdict += outer * columns.inner;
    if (first + kWidth <= columns.inner)
      Run<kWidth>(x + first, label + first, verdict + first);
    else
      for (std::int64_t j = first; j < columns.inner; ++j) Run<1>(x + j, label + j, verdict + j);
  }

 private:
  template <int kCount>
  KOKKOS_INLINE_FUNCTION void Run(const T* x, const T* label, T* verdict) const {
    std::int64_t cls[kCount] = {};
    T own[kCount] = {};
    std::int32_t rank[kCount] = {};
    for (int w = 0; w < kCount; ++w) {
      cls[w] = labels.Class(label[w]);
      own[w] = x[(cls[w] < 0 ? 0 : cls[w]) * columns.inner + w];
    }
    for (std::int64_t c = 0; c < columns.channels; ++c)
      for (int w = 0; w < kCount; ++w) rank[w] += x[c * columns.inner + w] >= own[w] ? 1 : 0;
    for (int w = 0; w < kCount; ++w) verdict[w] = Verdict<T>(cls[w], rank[w], top_k);
  }
};

/// The share of predictions whose label is among the top_k classes. A class as likely as the label's counts
/// as one before it. Predictions with ignore_label do not count.
///
/// Parameters: accuracy_param { top_k: 1, axis: 1, ignore_label: none }.
/// Bottoms: predictions, with an axis of classes; labels, one for each prediction.
/// Tops: the share, a scalar, 0 if no prediction counts; if there is a second top, the share for each class,
/// 0 for a class without a label.
/// Gradient: none. A label without a class is an error. On a GPU it makes the share not-a-number; if
/// the net's loss is not-a-number, too, the pass throws, unless activations are shared.
template <class T>
class AccuracyLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Accuracy"; }
  int ExactNumBottomBlobs() const override { return 2; }
  int MinTopBlobs() const override { return 1; }
  int MaxTopBlobs() const override { return 2; }

  void LayerSetUp(const Blobs& /*bottom*/, const Blobs& /*top*/) override {
    Device& device = this->place().device();
    verdicts_ = Blob<T>(device);
    of_class_ = Blob<std::int32_t>(device);
    sum_ = TermSum<T>(device);
  }
  void Reshape(const Blobs& bottom, const Blobs& top) override {
    const AccuracyParameter& param = this->layer_param().accuracy_param();
    columns_ = Columns::Of(*bottom[0], param.axis());
    if (bottom[1]->count() != columns_.count())
      this->Fail("bottom 1 has " + std::to_string(bottom[1]->count()) + " labels, of shape " +
                 bottom[1]->shape_string() + ", for " + std::to_string(columns_.count()) +
                 " predictions; it takes one for each");
    if (param.top_k() > columns_.channels)
      this->Fail("accuracy_param { top_k: " + std::to_string(param.top_k()) + " }, and there are " +
                 std::to_string(columns_.channels) + " classes; top_k can be no more");
    verdicts_.Reshape({columns_.count()});
    top[0]->Reshape(Shape());
    if (top.size() < 2) return;
    top[1]->Reshape({columns_.channels});
    of_class_.Reshape({columns_.channels, 2});
  }

  void CheckValues(const Blobs& bottom) const override {
    const std::string wrong = WrongLabel(*bottom[1], TakenLabels());
    if (!wrong.empty()) this->Fail(wrong);
  }
  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    const Labels labels = TakenLabels();
    Judge(place, labels, *bottom[0], *bottom[1]);
    sum_.Compute(
        place, columns_.count(), {true, 1}, *top[0],
        KOKKOS_LAMBDA(std::int64_t i, Tally & tally, const T* verdict) {
          if (verdict[i] == T(kIgnoredPrediction)) return;
          tally.sum += static_cast<double>(verdict[i]);
          tally.count += 1;
        },
        Read(verdicts_));
    if (top.size() > 1) EachClass(place, labels, *bottom[1], *top[1]);
  }

  void BackwardAt(const Place& /*place*/, const Blobs& /*top*/, const std::vector<bool>& propagate_down,
                  const Blobs& /*bottom*/) override {
    for (const bool asked : propagate_down)
      if (asked) this->Fail("its bottoms are to get a gradient, and have none");
  }

  /// Counts integers, so that the order in which threads add them does not matter.
  void EachClass(const Place& place, const Labels& labels, const Blob<T>& label, Blob<T>& shares) {
    Set(place, 0, of_class_);
    ParallelFor(
        place, columns_.count(), Read(label), Read(verdicts_), ReadWrite(of_class_),
        KOKKOS_LAMBDA(std::int64_t i, const T* of, const T* verdict, std::int32_t* counts) {
          const std::int64_t cls = labels.Class(of[i]);
          if (cls < 0) return;
          Kokkos::atomic_add(&counts[2 * cls], 1);
          if (verdict[i] == T(1)) Kokkos::atomic_add(&counts[2 * cls + 1], 1);
        });
    ParallelFor(
        place, columns_.channels, Read(of_class_), Overwrite(shares),
        KOKKOS_LAMBDA(std::int64_t c, const std::int32_t* counts, T* share) {
          share[c] =
              counts[2 * c] == 0 ? T(0) : static_cast<T>(counts[2 * c + 1]) / static_cast<T>(counts[2 * c]);
        });
  }

 private:
  Labels TakenLabels() const {
    const AccuracyParameter& param = this->layer_param().accuracy_param();
    return {columns_.channels, param.has_ignore_label(), param.ignore_label()};
  }
  void Judge(const Place& place, const Labels& labels, const Blob<T>& x, const Blob<T>& label) {
    const std::int64_t top_k = this->layer_param().accuracy_param().top_k();
    if (OnGpuThreads(place)) {
      ParallelFor(place, columns_.count(), Read(x), Read(label), Overwrite(verdicts_),
                  AccuracyTile<T, 1>{columns_, labels, top_k});
    } else if (columns_.inner == 1) {
      ParallelFor(place, columns_.outer, Read(x), Read(label), Overwrite(verdicts_),
                  AccuracyRow<T>{columns_.channels, labels, top_k});
    } else {
      const AccuracyTile<T, kTile> tile{columns_, labels, top_k};
      ParallelFor(place, columns_.outer * tile.PerOuter(), Read(x), Read(label), Overwrite(verdicts_), tile);
    }
  }

  Columns columns_{};
  Blob<T> verdicts_;             ///< 1 and 0 for predictions right and wrong, -1 for those ignored
  Blob<std::int32_t> of_class_;  ///< how many predictions, and how many right ones
  TermSum<T> sum_;
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Accuracy);

}  // namespace ferry::detail
