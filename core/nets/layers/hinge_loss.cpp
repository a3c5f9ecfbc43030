// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/layers/columns.hpp"
#include "core/nets/layers/layers.hpp"
#include "core/nets/layers/loss_layer.hpp"

namespace ferry::detail {
namespace {

/// For some classes of one item: 1 - x for its own, 1 + x for all others, at least 0; 0 for not-a-number.
template <class T>
struct Margins {
  int own;  ///< counted from the first of these; -1 if it is none of them
  T spoil;  ///< to add to what is found: 0, or not-a-number for a label without a class

  KOKKOS_FORCEINLINE_FUNCTION Margins(std::int64_t cls, std::int64_t first, int count)
      : own(cls >= first && cls < first + count ? static_cast<int>(cls - first) : -1),
        spoil(cls == Labels::kWrong ? kNan<T> : T(0)) {}
  KOKKOS_FORCEINLINE_FUNCTION static T Of(T x) { return 1 + x > 0 ? 1 + x : T(0); }
  /// others(from, to) for the classes before the item's own and for those behind it, so that its loop has no
  /// branch, and its(c) for the own one.
  template <class Others, class Own>
  KOKKOS_FORCEINLINE_FUNCTION void Each(int count, const Others& others, const Own& its) const {
    if (own < 0) return others(0, count);
    others(0, own);
    its(own);
    others(own + 1, count);
  }
};

/// An index is a part of an item's classes, whose margins are kept, and they or their squares are added.
template <class T, bool kSquared>
struct AddMargins {
  Labels labels;
  Parts parts;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t index, Tally& tally, const T* x, const T* label,
                                              T* kept) const {
    constexpr int kLanes = 8;
    const std::int64_t n = index / parts.count, part = index - n * parts.count, first = parts.First(part);
    const int count = static_cast<int>(parts.Last(part) - first);
    const Margins<T> margins(labels.Class(label[n]), first, count);
    x += n * parts.n + first;
    kept += n * parts.n + first;
    const auto term = [&](int c, T margin) {
      kept[c] = margin;
      const auto wide = static_cast<double>(margin);
      return kSquared ? wide * wide : wide;
    };
    double sums[kLanes] = {}, rest = static_cast<double>(margins.spoil);
    margins.Each(
        count,
        [&](int from, int to) {
          int c = from;
          for (; c + kLanes <= to; c += kLanes)
            for (int lane = 0; lane < kLanes; ++lane) sums[lane] += term(c + lane, margins.Of(x[c + lane]));
          for (; c < to; ++c) rest += term(c, margins.Of(x[c]));
        },
        [&](int c) { rest += term(c, margins.Of(-x[c])); });
    for (const double sum : sums) rest += sum;
    tally.sum += rest;
  }
};

/// The same parts of the gradient, of the margins.
template <class T, bool kSquared>
struct MarginSlopes {
  Labels labels;
  Parts parts;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t index, const T* kept, const T* label,
                                              const T* scale, T* dx) const {
    const std::int64_t n = index / parts.count, part = index - n * parts.count, first = parts.First(part);
    const int count = static_cast<int>(parts.Last(part) - first);
    const Margins<T> margins(labels.Class(label[n]), first, count);
    const T up = scale[0] + margins.spoil;
    kept += n * parts.n + first;
    dx += n * parts.n + first;
    const auto slope = [](T margin) { return kSquared ? 2 * margin : margin > 0 ? T(1) : T(0); };
    margins.Each(
        count,
        [&](int from, int to) {
          for (int c = from; c < to; ++c) dx[c] = up * slope(kept[c]);
        },
        [&](int c) { dx[c] = -up * slope(kept[c]); });
  }
};

/// The sum of max(0, 1 - t x), or of its square for L2, divided by the first dim; t is 1 for the class that
/// the label names, and -1 for the others.
///
/// Parameters: hinge_loss_param { norm: L1 (L2) }.
/// Bottoms: predictions, whose dims from axis 1 on are the classes; labels, one for each instance.
/// Tops: the loss, of weight 1 unless the layer says otherwise.
/// Gradient: 0 where the margin is 0 or less, or not-a-number, which counts as 0; the labels have none. A
/// label without a class is an error. On a GPU it makes the loss and the instance's gradient not-a-number; if
/// the net's loss becomes that, too, the pass throws.
/// Caffe: keeps the margins from Forward to Backward in the diff of bottom 0; Ferry has a place of its own
/// for them. Caffe refuses more than 4 axes, and takes labels with more elements than are used.
template <class T>
class HingeLossLayer : public LossLayer<T> {
 public:
  using LossLayer<T>::LossLayer;
  using typename LossLayer<T>::Blobs;

  const char* type() const override { return "HingeLoss"; }

  void LayerSetUp(const Blobs& bottom, const Blobs& top) override {
    LossLayer<T>::LayerSetUp(bottom, top);
    margins_ = Blob<T>(this->place().device());
  }
  void Reshape(const Blobs& bottom, const Blobs& top) override {
    LossLayer<T>::Reshape(bottom, top);
    margins_.ReshapeLike(*bottom[0]);
    this->RequireLabelCount(bottom[0]->shape(0), *bottom[1]);
  }

  void CheckValues(const Blobs& bottom) const override {
    this->RequireLabels(*bottom[1], {bottom[0]->count(1)});
  }
  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    const std::int64_t num = bottom[0]->shape(0), classes = bottom[0]->count(1);
    const auto add = [&](const auto& terms) {
      this->sum_.Compute(place, num * terms.parts.count, {false, static_cast<double>(num)}, *top[0], terms,
                         Read(*bottom[0]), Read(*bottom[1]), Overwrite(margins_));
    };
    const Parts parts = Parts::Of(place, classes);  // one element each on a GPU, which may round otherwise
    if (IsSquared())
      add(AddMargins<T, true>{{classes}, parts});
    else
      add(AddMargins<T, false>{{classes}, parts});
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    this->RefuseGradient(propagate_down, 1);
    if (!propagate_down[0]) return;
    const std::int64_t num = bottom[0]->shape(0), classes = bottom[0]->count(1);
    const Parts parts = Parts::Of(place, classes);
    const auto run = [&](const auto& slopes) {
      ParallelFor(place, num * parts.count, Read(margins_), Read(*bottom[1]),
                  Read(this->sum_.Scale(place, *top[0])), Overwrite(Diff(*bottom[0])), slopes);
    };
    if (IsSquared())
      run(MarginSlopes<T, true>{{classes}, parts});
    else
      run(MarginSlopes<T, false>{{classes}, parts});
  }

 private:
  bool IsSquared() const { return this->layer_param().hinge_loss_param().norm() == HingeLossParameter::L2; }

  Blob<T> margins_;
};

}  // namespace

FERRY_NETS_MAKE_LAYER(HingeLoss);

}  // namespace ferry::detail
