// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "ferry/kokkos.hpp"

namespace ferry::detail {

/// Whether loops at this place run on a GPU, by threads that should each do little; or as if they did.
inline bool OnGpuThreads(const Place& place) {
  const DeviceProperties& device = place.device().properties();
  return place.side() == Side::kGpu && (OnDeviceSpace(device) || device.fine_kernels);
}

/// How much one index of a loop does: an element, for a thread of a GPU; or the elements of a line or more.
enum class Grain : std::uint8_t { kElement, kLine };
inline Grain GrainAt(const Place& place) { return OnGpuThreads(place) ? Grain::kElement : Grain::kLine; }

/// Lines of elements, cut into chunks, each of which is one index of a loop. On the host a chunk is what an
/// inner loop goes through; on a GPU it is one element, so that neighbouring threads have neighbours.
struct Chunks {
  std::int64_t line, chunk, per_line;

  Chunks(const Place& place, std::int64_t elements, std::int64_t most)
      : line(elements),
        chunk(OnGpuThreads(place) ? 1 : std::max<std::int64_t>(1, std::min(elements, most))),
        per_line((elements + chunk - 1) / chunk) {}

  struct Range {
    std::int64_t line, first, last;
  };
  KOKKOS_FORCEINLINE_FUNCTION Range operator[](std::int64_t index) const {
    const std::int64_t of = index / per_line, first = (index - of * per_line) * chunk;
    return {of, first, first + chunk < line ? first + chunk : line};
  }
};

}  // namespace ferry::detail
