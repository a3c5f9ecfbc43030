// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>

#include "core/nets/vision/chunk.hpp"
#include "ferry/blob.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {

/// What a loss adds up: its terms, and how many of them count.
struct Tally {
  double sum;
  double count;
};

/// Sums that stay where they were computed, with the same bits at every place: terms are added in an order
/// that depends on their number alone. 1024 terms make a block, and each of 32 lanes adds every 32nd of them,
/// so that a GPU's threads read neighbours and a block stays in a CPU's cache.
namespace tally {

inline constexpr std::int64_t kLanes = 32;
inline constexpr std::int64_t kBlock = 1024;

/// An index has `kAtOnce` neighbouring lanes of one block.
template <class Term, int kAtOnce>
struct AddLanes {
  Term term;
  std::int64_t n;

  template <class... X>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t index, double* lanes, X*... x) const {
    const std::int64_t lane = index * kAtOnce, block = lane / kLanes * kBlock;
    const std::int64_t end = block + kBlock < n ? block + kBlock : n;
    double sum[kAtOnce] = {}, count[kAtOnce] = {};
    const auto add = [&](std::int64_t i, int l) {
      Tally tally{sum[l], count[l]};
      term(i, tally, x...);
      sum[l] = tally.sum;
      count[l] = tally.count;
    };
    std::int64_t i = block + lane % kLanes;
    for (; i + kAtOnce <= end; i += kLanes)
      for (int l = 0; l < kAtOnce; ++l) add(i + l, l);
    for (int l = 0; i + l < end; ++l) add(i + l, l);
    for (int l = 0; l < kAtOnce; ++l) {
      lanes[2 * (lane + l)] = sum[l];
      lanes[2 * (lane + l) + 1] = count[l];
    }
  }
};

/// Adds `count` tallies from `first` on.
KOKKOS_INLINE_FUNCTION Tally Add(const double* tallies, std::int64_t first, std::int64_t count) {
  Tally total{0, 0};
  for (std::int64_t i = first; i < first + count; ++i) {
    total.sum += tallies[2 * i];
    total.count += tallies[2 * i + 1];
  }
  return total;
}

}  // namespace tally

/// What a sum is divided by: how many terms count, at least 1; or a number.
struct Divisor {
  bool counted;
  double number;
};

/// A sum over terms, divided by something. Buffers are kept from one pass to the next.
template <class T>
class TermSum {
 public:
  TermSum() = default;
  /// With buffers of that device.
  explicit TermSum(Device& device) : lanes_(device), blocks_(device), scale_({2}, device) {}

  /// Queues result[0] = (the sum of what term(i, tally, ...) adds for i from 0 to n - 1) / divisor. The term
  /// gets a pointer for each operand, as the body of ParallelFor does, and may write to its own elements.
  template <class Term, class... Operands>
  void Compute(const Place& place, std::int64_t n, const Divisor& divisor, Blob<T>& result, const Term& term,
               const Operands&... operands) {
    const std::int64_t blocks = (n + tally::kBlock - 1) / tally::kBlock;
    lanes_.Reshape({2 * blocks * tally::kLanes});
    constexpr int kAtOnce = 8;  // so that a CPU adds them as vectors, unless that leaves few to its threads
    if (OnGpuThreads(place) || blocks < kAtOnce)
      ParallelFor(place, blocks * tally::kLanes, Overwrite(lanes_), operands...,
                  tally::AddLanes<Term, 1>{term, n});
    else
      ParallelFor(place, blocks * tally::kLanes / kAtOnce, Overwrite(lanes_), operands...,
                  tally::AddLanes<Term, kAtOnce>{term, n});
    Finish(place, blocks, divisor, result);
  }
  /// Queues the computation of what a gradient is multiplied by, the diff of `top` over the same divisor,
  /// and returns where it will be: element 0.
  const Blob<T>& Scale(const Place& place, const Blob<T>& top) {
    ParallelFor(
        place, 1, Read(Diff(top)), ReadWrite(scale_),
        KOKKOS_LAMBDA(std::int64_t, const T* diff, T* scale) { scale[0] = diff[0] / scale[1]; });
    return scale_;
  }

  // Public, since nvcc takes no kernel in a private function.
  void Finish(const Place& place, std::int64_t blocks, const Divisor& divisor, Blob<T>& result) {
    const Blob<double>* tallies = &lanes_;
    std::int64_t count = blocks * tally::kLanes;
    if (blocks > 1) {
      blocks_.Reshape({2 * blocks});
      ParallelFor(
          place, blocks, Read(lanes_), Overwrite(blocks_),
          KOKKOS_LAMBDA(std::int64_t block, const double* lanes, double* sums) {
            const Tally total = tally::Add(lanes, block * tally::kLanes, tally::kLanes);
            sums[2 * block] = total.sum;
            sums[2 * block + 1] = total.count;
          });
      tallies = &blocks_;
      count = blocks;
    }
    const Divisor by = divisor;
    ParallelFor(
        place, 1, Read(*tallies), Overwrite(result), Overwrite(scale_),
        KOKKOS_LAMBDA(std::int64_t, const double* all, T* sum, T* scale) {
          const Tally total = tally::Add(all, 0, count);
          const double number = !by.counted ? by.number : total.count > 1 ? total.count : 1;
          sum[0] = static_cast<T>(total.sum / number);
          scale[0] = T(0);
          scale[1] = static_cast<T>(number);
        });
  }

 private:
  Blob<double> lanes_, blocks_;
  Blob<T> scale_;  ///< the gradient's factor, and the divisor
};

}  // namespace ferry::detail
