// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/nets/vision/chunk.hpp"
#include "core/nets/vision/pooling.hpp"
#include "core/nets/vision/strips/strips.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {

/// The rows of all planes in parts, each of which is one index of a loop: bands of a plane; or whole planes,
/// where there are many.
class PoolParts {
 public:
  PoolParts(std::int64_t planes, std::int64_t rows)
      : planes_(planes),
        rows_(rows),
        bands_(std::min(rows, (kEnough + planes - 1) / std::max<std::int64_t>(planes, 1))),
        groups_(std::min(planes, kEnough)) {}

  std::int64_t Count() const { return groups_ * bands_; }
  KOKKOS_FORCEINLINE_FUNCTION strips::Part operator[](std::int64_t index) const {
    const std::int64_t group = index / bands_, band = index - group * bands_;
    return {group * planes_ / groups_, (group + 1) * planes_ / groups_, band * rows_ / bands_,
            (band + 1) * rows_ / bands_};
  }

 private:
  /// As many parts as threads may want.
  static constexpr std::int64_t kEnough = 64;

  std::int64_t planes_, rows_, bands_, groups_;
};

/// Parts that are done by strips.
template <class... Elements>
class StripPool {
 public:
  StripPool(const PoolSizes& sizes, std::int64_t rows, strips::Run<Elements...> run)
      : sizes_{sizes.planes, Strips(sizes.h), Strips(sizes.w)}, parts_(sizes.planes, rows), run_(run) {}

  std::int64_t Count() const { return parts_.Count(); }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t index, Elements*... arrays) const {
    run_(sizes_, parts_[index], arrays...);
  }

 private:
  static strips::Axis Strips(const PoolAxis& axis) { return {axis.size, axis.pad, axis.pooled}; }

  strips::Sizes sizes_;
  PoolParts parts_;
  strips::Run<Elements...> run_;
};

/// Pools by `run`, unless it is null or the place is a GPU, whose threads should each do little. Returns
/// whether it did. Each plane that is written has `rows` rows.
template <class... Elements>
bool ByStrips(const At& at, const PoolSizes& sizes, std::int64_t rows, strips::Run<Elements...> run,
              const Operand<Elements>&... arrays) {
  if (run == nullptr || OnGpuThreads(at.place())) return false;
  const StripPool<Elements...> parts(sizes, rows, run);
  ParallelFor(at, parts.Count(), arrays..., parts);
  return true;
}

/// What strips ask about windows: their kernel is 0 where they are no squares, or where a plane has more
/// elements than strips count.
inline strips::Windows WindowsOf(const PoolSizes& sizes, std::int64_t columns) {
  const bool square = sizes.h.kernel == sizes.w.kernel && sizes.h.stride == sizes.w.stride;
  const bool counted = std::max(sizes.Plane(), sizes.PooledPlane()) <= strips::kMostElements;
  return {square && counted ? sizes.w.kernel : 0, sizes.w.stride, columns};
}

}  // namespace ferry::detail
