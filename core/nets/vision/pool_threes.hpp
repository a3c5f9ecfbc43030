// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "core/nets/vision/lanes.hpp"
#include "core/nets/vision/pooling.hpp"

namespace ferry::detail {

/// Windows of 3 x 3 that move by one, on the host: each index is a strip of columns of a plane. Three
/// windows have the same three elements of a row. These are reduced once, and a window is what came of three
/// rows.
/// The Reduction is that of pool_windows.hpp, which here must have these as well:
///
///     T Nothing() const;          // a window before it takes an element
///     T Element(T element) const; // what it takes of one
///     void Take(T& value, Position& at, T element, Position position, bool takes) const;
///     T Result(T value, T size) const;  // size with padding
///
/// Loops also read a few elements beside a row, which are in other rows. They change no window.
template <class T, class Reduction>
class PoolThrees {
 public:
  PoolThrees(const PoolSizes& sizes, const Reduction& reduction)
      : sizes_(sizes),
        reduction_(reduction),
        strips_((sizes.w.pooled + kStrip - 1) / kStrip),
        strip_((sizes.w.pooled + strips_ - 1) / strips_) {}

  static bool Are(const PoolSizes& sizes) {
    const auto is = [](const PoolAxis& axis) { return axis.kernel == 3 && axis.stride == 1; };
    return is(sizes.h) && is(sizes.w);
  }
  std::int64_t Count() const { return sizes_.planes * strips_; }

  template <class... Index>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t index, const T* x, T* y, Index*... mask) const {
    const std::int64_t plane = index / strips_, first = (index - plane * strips_) * strip_;
    const std::int64_t left = sizes_.w.pooled - first, count = left < strip_ ? left : strip_;
    const std::int64_t lanes = (count + kLanes - 1) / kLanes * kLanes;
    Work work;
    LookAtColumns(first, lanes, work);
    std::int64_t next = 0;
    for (std::int64_t i = 0; i < sizes_.h.pooled; ++i) {
      for (; next < i + 3; ++next)
        ReduceRow(x, plane, next - sizes_.h.pad, first, lanes, work, work.rows[next % 3]);
      const Parts &a = work.rows[i % 3], &b = work.rows[(i + 1) % 3], &c = work.rows[(i + 2) % 3];
      for (std::int64_t j = 0; j < lanes; ++j) {
        T value = a.value[j];
        Position at = a.at[j];
        reduction_.Take(value, at, b.value[j], b.at[j], true);
        reduction_.Take(value, at, c.value[j], c.at[j], true);
        work.windows.value[j] = reduction_.Result(value, 9);
        work.windows.at[j] = at;
      }
      const std::int64_t to = (plane * sizes_.h.pooled + i) * sizes_.w.pooled + first;
      __builtin_memcpy(y + to, work.windows.value, static_cast<std::size_t>(count) * sizeof(T));
      (Store(work.windows.at, count, mask + to), ...);
    }
  }

 private:
  using Position = PositionOf<T>;
  /// A strip has at most kStrip windows beside each other. Loops go over a multiple of kLanes.
  static constexpr std::int64_t kStrip = 64, kLanes = 8;
  /// What windows have of a row, or have in all.
  struct Parts {
    T value[kStrip];
    Position at[kStrip];
  };
  struct Work {
    Position inside[3][kStrip];  ///< whether a column of a window lies on the image
    T line[kStrip + 2];
    Parts rows[3], windows;
  };

  KOKKOS_FORCEINLINE_FUNCTION void LookAtColumns(std::int64_t first, std::int64_t lanes, Work& work) const {
    for (int k = 0; k < 3; ++k)
      for (std::int64_t j = 0; j < lanes; ++j) {
        const std::int64_t w = first - sizes_.w.pad + j + k;
        work.inside[k][j] = w >= 0 && w < sizes_.w.size ? 1 : 0;
      }
  }

  KOKKOS_FORCEINLINE_FUNCTION void ReduceRow(const T* x, std::int64_t plane, std::int64_t h,
                                             std::int64_t first, std::int64_t lanes, Work& work,
                                             Parts& row) const {
    if (h < 0 || h >= sizes_.h.size) {
      for (std::int64_t j = 0; j < lanes; ++j) {
        row.value[j] = reduction_.Nothing();
        row.at[j] = -1;
      }
      return;
    }
    const std::int64_t in_plane = h * sizes_.w.size + first - sizes_.w.pad;
    const std::int64_t begin = plane * sizes_.Plane() + in_plane, end = sizes_.planes * sizes_.Plane();
    const T* line = work.line;
    if (begin >= 0 && begin + lanes + 2 <= end)
      line = x + begin;
    else  // of the first row of all, or the last one
      for (std::int64_t i = begin; i < begin + lanes + 2; ++i)
        work.line[i - begin] = i >= 0 && i < end ? x[i] : T(0);
    const auto position = static_cast<Position>(in_plane);
    for (std::int64_t j = 0; j < lanes; ++j) {
      T value = reduction_.Nothing();
      Position at = -1;
      for (int k = 0; k < 3; ++k)
        reduction_.Take(value, at, reduction_.Element(line[j + k]), position + static_cast<Position>(j) + k,
                        work.inside[k][j] != 0);
      row.value[j] = value;
      row.at[j] = at;
    }
  }

  template <class Index>
  KOKKOS_FORCEINLINE_FUNCTION static void Store(const Position* at, std::int64_t count, Index* mask) {
    for (std::int64_t j = 0; j < count; ++j) mask[j] = static_cast<Index>(at[j]);
  }

  PoolSizes sizes_;
  Reduction reduction_;
  std::int64_t strips_, strip_;
};

}  // namespace ferry::detail
