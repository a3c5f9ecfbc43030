// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ferry/blob.hpp"
#include "ferry/kernels.hpp"
#include "ferry/kokkos.hpp"

/// Loops and sums over a blob by its channels, at every place.
namespace ferry::detail {

/// A blob as a row-major array of three dims, where the middle one counts channels.
struct Channels {
  std::int64_t outer = 1, channels = 1, inner = 1;

  std::int64_t count() const { return outer * channels * inner; }
};

/// A body of (element, channel, pointers...) in the loops of ForChannels.
template <class Body>
struct ChannelBody {
  Body body;
  std::int64_t channels, inner;

  template <class... Flat>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t o, std::int64_t c, std::int64_t i,
                                              Flat... x) const {
    body((o * channels + c) * inner + i, c, x.data()...);
  }
};
/// The same where a channel has one element in a row.
template <class Body>
struct RowBody {
  Body body;
  std::int64_t channels;

  template <class... Flat>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t o, std::int64_t c, Flat... x) const {
    body(o * channels + c, c, x.data()...);
  }
};

template <class T>
Operand<T, 1> Flat(const Operand<T>& x) {
  const std::int64_t dims[] = {x.count()};
  return {x.part(), x.access(), std::span(dims)};
}

/// body(i, c, pointers...) for each element i, which is of channel c. The operands are Read(x) and the like,
/// of any counts.
template <class Body, class... Operands>
void ForChannels(const Place& place, const Channels& dims, const Body& body, const Operands&... operands) {
  if (dims.inner == 1)
    ParallelFor(place, {dims.outer, dims.channels}, Flat(operands)..., RowBody<Body>{body, dims.channels});
  else
    ParallelFor(place, {dims.outer, dims.channels, dims.inner}, Flat(operands)...,
                ChannelBody<Body>{body, dims.channels, dims.inner});
}

/// What is to be added to kSums sums.
template <int kSums>
struct Terms {
  double value[kSums];
};

/// Sums side by side, so that a processor's vectors hold them. They are joined in a fixed order.
template <int kSums>
class LaneSums {
 public:
  static constexpr int kLanes = 8;

  KOKKOS_FORCEINLINE_FUNCTION void Add(int lane, const Terms<kSums>& terms) {
    for (int k = 0; k < kSums; ++k) sum_[k][lane] += terms.value[k];
  }
  KOKKOS_FORCEINLINE_FUNCTION double Of(int k, int lane) const { return sum_[k][lane]; }
  /// By halves, as a processor does it fast. Once: the lanes change.
  KOKKOS_FORCEINLINE_FUNCTION double Total(int k) {
    for (int width = kLanes / 2; width > 0; width /= 2)
      for (int lane = 0; lane < width; ++lane) sum_[k][lane] += sum_[k][lane + width];
    return sum_[k][0];
  }

 private:
  double sum_[kSums][kLanes] = {};
};

/// Sums of pieces of the rows of one channel: index (outer, channel and piece), so that a CPU reads on. The
/// sums are at (outer, piece, channel).
template <int kSums, class Term>
struct SumPieces {
  static constexpr std::int64_t kPiece = 1024;  ///< short, so that a GPU has many threads

  Term term;
  std::int64_t channels, inner, pieces;

  template <class... X>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t o, std::int64_t number,
                                              const View<double, 1>& sums, const X&... x) const {
    constexpr int kLanes = LaneSums<kSums>::kLanes;
    const std::int64_t c = number / pieces, piece = number % pieces;
    const std::int64_t first = (o * channels + c) * inner;
    std::int64_t i = first + piece * kPiece;
    const std::int64_t end = i + kPiece < first + inner ? i + kPiece : first + inner;
    LaneSums<kSums> lanes;
    for (; i + kLanes <= end; i += kLanes)
      for (int lane = 0; lane < kLanes; ++lane) lanes.Add(lane, term(i + lane, c, x.data()...));
    for (int lane = 0; i + lane < end; ++lane) lanes.Add(lane, term(i + lane, c, x.data()...));
    double* const to = sums.data() + (o * pieces + piece) * kSums * channels + c;
    for (int k = 0; k < kSums; ++k) to[k * channels] = lanes.Total(k);
  }
};

/// Sums of the columns of up to kRows rows: index (rows / kRows, columns / kLanes).
template <int kSums, class Term>
struct SumColumns {
  static constexpr std::int64_t kRows = 32;

  Term term;
  std::int64_t rows, columns;

  template <class... X>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t block, std::int64_t part,
                                              const View<double, 1>& sums, const X&... x) const {
    constexpr int kLanes = LaneSums<kSums>::kLanes;
    const std::int64_t first = part * kLanes;
    const std::int64_t end = (block + 1) * kRows < rows ? (block + 1) * kRows : rows;
    const int width = static_cast<int>(first + kLanes <= columns ? kLanes : columns - first);
    LaneSums<kSums> lanes;
    for (std::int64_t row = block * kRows; row < end; ++row) {
      const std::int64_t i = row * columns + first;
      if (width == kLanes)
        for (int lane = 0; lane < kLanes; ++lane) lanes.Add(lane, term(i + lane, first + lane, x.data()...));
      else
        for (int lane = 0; lane < width; ++lane) lanes.Add(lane, term(i + lane, first + lane, x.data()...));
    }
    for (int k = 0; k < kSums; ++k)
      for (int lane = 0; lane < width; ++lane)
        sums((block * kSums + k) * columns + first + lane) = lanes.Of(k, lane);
  }
};

struct PlainTerm {
  KOKKOS_FORCEINLINE_FUNCTION Terms<1> operator()(std::int64_t i, std::int64_t /*column*/,
                                                  const double* x) const {
    return {{x[i]}};
  }
};

template <class T>
struct AddTo {
  std::int64_t first;
  double factor;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, const double* sums, T* y) const {
    y[i] += static_cast<T>(factor * sums[first + i]);
  }
};
template <class T>
struct StoreIn {
  std::int64_t first;
  double factor;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, const double* sums, T* y) const {
    y[i] = static_cast<T>(factor * sums[first + i]);
  }
};

/// What becomes of the elements that sums are stored in.
enum class Old : std::uint8_t { kOverwritten, kAdded };

/// kSums sums for each channel, in double, in an order that the dims alone decide: the same bits in each run.
/// They stay at the place. Steps of a tree of sums follow each other; each has a blob.
template <int kSums>
class ChannelSums {
 public:
  ChannelSums() = default;
  explicit ChannelSums(Device& device) : device_(&device) {}

  void Reshape(const Channels& dims) {
    dims_ = dims;
    std::int64_t rows = FirstRows();
    std::size_t level = 0;
    for (;; ++level, rows = Blocks(rows, kColumnRows)) {
      if (level == levels_.size()) levels_.push_back(Blob<double>(*device_));
      levels_[level].Reshape({rows, kSums, dims.channels});
      if (rows <= 1) break;
    }
    last_ = level;
  }

  /// term(i, c, pointers...) returns what element i adds to the sums of channel c.
  template <class Term, class... Operands>
  void Sum(const Place& place, const Term& term, const Operands&... operands) {
    const auto [outer, channels, inner] = dims_;
    if (dims_.count() == 0) {
      Set(place, 0.0, levels_[0]);
    } else if (inner == 1) {
      const SumColumns<kSums, Term> columns{term, outer, channels};
      ParallelFor(place, {FirstRows(), Blocks(channels, LaneSums<kSums>::kLanes)},
                  Flat(Overwrite(levels_[0])), Flat(operands)..., columns);
    } else {
      const SumPieces<kSums, Term> pieces{term, channels, inner, Blocks(inner, kPiece)};
      ParallelFor(place, {outer, channels * pieces.pieces}, Flat(Overwrite(levels_[0])), Flat(operands)...,
                  pieces);
    }
    for (std::size_t level = 0; level < last_; ++level) {
      const SumColumns<1, PlainTerm> columns{{}, levels_[level].shape(0), kSums * channels};
      ParallelFor(place, {levels_[level + 1].shape(0), Blocks(kSums * channels, LaneSums<1>::kLanes)},
                  Flat(Overwrite(levels_[level + 1])), Flat(Read(levels_[level])), columns);
    }
  }

  /// Moves the sums of number k, times a factor, to `to`, an element for each channel.
  template <class Y>
  void Store(const Place& place, int k, Y&& to, Old old = Old::kOverwritten, double factor = 1) {
    using T = ElementOf<Y>;
    const std::int64_t first = k * dims_.channels;
    if (old == Old::kAdded)
      ParallelFor(place, dims_.channels, Read(sums()), ReadWrite(to), AddTo<T>{first, factor});
    else
      ParallelFor(place, dims_.channels, Read(sums()), Overwrite(to), StoreIn<T>{first, factor});
  }

  /// Number k of channel c at k * channels + c.
  const Blob<double>& sums() const { return levels_[last_]; }

 private:
  static constexpr std::int64_t kPiece = SumPieces<kSums, PlainTerm>::kPiece;
  static constexpr std::int64_t kColumnRows = SumColumns<kSums, PlainTerm>::kRows;
  static std::int64_t Blocks(std::int64_t n, std::int64_t size) { return (n + size - 1) / size; }
  std::int64_t FirstRows() const {
    if (dims_.count() == 0) return 1;
    return dims_.inner == 1 ? Blocks(dims_.outer, kColumnRows) : dims_.outer * Blocks(dims_.inner, kPiece);
  }

  Device* device_ = nullptr;
  Channels dims_;
  std::vector<Blob<double>> levels_;
  std::size_t last_ = 0;
};

}  // namespace ferry::detail
