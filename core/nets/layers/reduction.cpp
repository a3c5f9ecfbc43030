// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>

#include "core/nets/layers/layers.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

using Operation = ReductionParameter::ReductionOp;

/// What an operation adds up.
template <Operation kOperation, class T>
KOKKOS_INLINE_FUNCTION T TermOf(T x) {
  if constexpr (kOperation == ReductionParameter::ASUM)
    return x < 0 ? -x : x;
  else if constexpr (kOperation == ReductionParameter::SUMSQ)
    return x * x;
  else
    return x;
}
/// Its derivative.
template <Operation kOperation, class T>
KOKKOS_INLINE_FUNCTION T SlopeOf(T x) {
  if constexpr (kOperation == ReductionParameter::ASUM)
    return static_cast<T>((x > 0) - (x < 0));
  else
    return 2 * x;
}

/// In lanes, which a compiler makes one register of.
template <Operation kOperation, class T>
KOKKOS_INLINE_FUNCTION T SumOf(const T* x, std::int64_t n) {
  constexpr int kLanes = 16;
  T lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += TermOf<kOperation>(x[i + lane]);
  for (int lane = 0; i < n; ++i, ++lane) lanes[lane] += TermOf<kOperation>(x[i]);
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  return lanes[0];
}

/// Long rows are summed in parts of this many elements, so that one row keeps many workers busy.
constexpr std::int64_t kPart = 1024;

/// to(row, part) = factor * the sum of the part.
template <Operation kOperation, class T>
void SumParts(const Place& place, std::int64_t rows, std::int64_t length, const Operand<const T>& from,
              T factor, const Operand<T>& to) {
  const std::int64_t parts = std::max<std::int64_t>(1, (length + kPart - 1) / kPart);
  const std::int64_t part_length = parts == 1 ? length : kPart;
  ParallelFor(
      place, rows * parts, from, to, KOKKOS_LAMBDA(std::int64_t i, const T* x, T* y) {
        const std::int64_t first = i % parts * part_length;
        const std::int64_t rest = length - first;
        y[i] = factor *
               SumOf<kOperation>(x + i / parts * length + first, rest < part_length ? rest : part_length);
      });
}

/// y = factor * the sum of the row's parts.
template <class T>
void AddUp(const Place& place, std::int64_t parts, T factor, const Blob<T>& sums, Blob<T>* top) {
  ParallelFor(
      place, top->count(), Read(sums), Overwrite(*top), KOKKOS_LAMBDA(std::int64_t i, const T* x, T* y) {
        y[i] = factor * SumOf<ReductionParameter::SUM>(x + i * parts, parts);
      });
}

template <Operation kOperation, class T>
void Slopes(const Place& place, std::int64_t rows, std::int64_t length, T factor, const Blob<T>& top,
            Blob<T>* bottom) {
  ParallelFor(
      place, {rows, length}, Read(Diff(top), {rows}), Read(*bottom, {rows, length}),
      Overwrite(Diff(*bottom), {rows, length}),
      KOKKOS_LAMBDA(std::int64_t row, std::int64_t i, View<const T, 1> dy, View<const T, 2> x,
                    View<T, 2> dx) { dx(row, i) = dy(row) * factor * SlopeOf<kOperation>(x(row, i)); });
}
template <class T>
void Spread(const Place& place, std::int64_t rows, std::int64_t length, T factor, const Blob<T>& top,
            Blob<T>* bottom) {
  ParallelFor(
      place, {rows, length}, Read(Diff(top), {rows}), Overwrite(Diff(*bottom), {rows, length}),
      KOKKOS_LAMBDA(std::int64_t row, std::int64_t i, View<const T, 1> dy, View<T, 2> dx) {
        dx(row, i) = dy(row) * factor;
      });
}

/// coeff times the sum, the sum of magnitudes, the sum of squares or the mean, over the axes from `axis` on.
///
/// Parameters: reduction_param { operation: SUM axis: 0 coeff: 1 }; the other operations are ASUM, SUMSQ and
/// MEAN.
/// Bottoms: 1.
/// Tops: 1, of the shape before axis.
/// Gradient: of ASUM, 0 where x is 0.
/// Caffe: its BLAS decides what coeff: 0 makes of infinity and not-a-number; here both become not-a-number.
template <class T>
class ReductionLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Reduction"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }

  void LayerSetUp(const Blobs& /*bottom*/, const Blobs& /*top*/) override {
    sums_ = Blob<T>(this->place().device());
  }
  void Reshape(const Blobs& bottom, const Blobs& top) override {
    this->RequireApart(bottom, top);
    const int axis = bottom[0]->CanonicalAxisIndex(Param().axis());
    const Shape& shape = bottom[0]->shape();
    top[0]->Reshape(std::vector<std::int64_t>(shape.begin(), shape.begin() + axis));
    rows_ = bottom[0]->count(0, axis);
    length_ = bottom[0]->count(axis);
    if (length_ > kPart) sums_.Reshape({rows_, (length_ + kPart - 1) / kPart});
  }

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    switch (Param().operation()) {
      case ReductionParameter::ASUM:
        return Sum<ReductionParameter::ASUM>(place, *bottom[0], top[0]);
      case ReductionParameter::SUMSQ:
        return Sum<ReductionParameter::SUMSQ>(place, *bottom[0], top[0]);
      default:
        return Sum<ReductionParameter::SUM>(place, *bottom[0], top[0]);
    }
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    if (!propagate_down[0]) return;
    switch (Param().operation()) {
      case ReductionParameter::ASUM:
        return Slopes<ReductionParameter::ASUM>(place, rows_, length_, Factor(), *top[0], bottom[0]);
      case ReductionParameter::SUMSQ:
        return Slopes<ReductionParameter::SUMSQ>(place, rows_, length_, Factor(), *top[0], bottom[0]);
      default:
        return Spread(place, rows_, length_, Factor(), *top[0], bottom[0]);
    }
  }

 private:
  const ReductionParameter& Param() const { return this->layer_param().reduction_param(); }
  T Factor() const {
    const T factor = static_cast<T>(Param().coeff());
    return Param().operation() == ReductionParameter::MEAN ? factor / static_cast<T>(length_) : factor;
  }
  template <Operation kOperation>
  void Sum(const Place& place, const Blob<T>& bottom, Blob<T>* top) {
    if (length_ <= kPart)
      return SumParts<kOperation, T>(place, rows_, length_, Read(bottom), Factor(), Overwrite(*top));
    SumParts<kOperation, T>(place, rows_, length_, Read(bottom), T(1), Overwrite(sums_));
    AddUp(place, sums_.shape(1), Factor(), sums_, top);
  }

  Blob<T> sums_;  ///< of the parts of long rows
  std::int64_t rows_ = 0;
  std::int64_t length_ = 0;
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Reduction);

}  // namespace ferry::detail
