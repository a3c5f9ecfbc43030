// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "ferry/detail/instruction_set.hpp"

/// Pooling of floats by vectors, on the host. Windows that lie beside each other are a lane each. Such a
/// strip goes down a plane. What its windows have of a row of the image, the largest elements or sums, stays
/// in registers until they have all of their rows.
namespace ferry::detail::strips {

/// One axis of windows that are pooled: what strips, which are compiled without Kokkos, need of a PoolAxis.
struct Axis {
  std::int64_t size = 0;  ///< of the image
  std::int64_t pad = 0;
  std::int64_t pooled = 0;  ///< the number of windows
};
struct Sizes {
  std::int64_t planes = 0;
  Axis h, w;
};
/// What is written at once: whole planes, or rows of one; from the first up to, not including, the last.
struct Part {
  std::int64_t first_plane, last_plane, first_row, last_row;
};

/// Does a part; the arrays are those of all planes.
template <class... Elements>
using Run = void (*)(const Sizes& sizes, const Part& part, Elements*... arrays);

/// Elements or windows that a plane may have: strips number them by ints, also those beyond its end.
constexpr std::int64_t kMostElements = 1 << 29;

/// Windows are squares.
struct Windows {
  std::int64_t kernel, stride;
  std::int64_t columns;  ///< that a row of what is written has
};

/// @name How to pool on a processor with this instruction set
/// Null where there are no strips: for windows other than 3 x 3 that move by one or two, and 2 x 2 that move
/// by two. Sizes are those of the images, and of the windows over them.
///@{
/// Images to their largest elements and, in row-major order, where these are in their plane. As MaxPool.
template <class Index>
Run<const float, float, Index> Largest(const Windows& windows, InstructionSet set = BestInstructionSet());
/// Images to means; sums are divided by the size of a window with padding.
Run<const float, float> Mean(const Windows& windows, InstructionSet set = BestInstructionSet());
/// Images of so many elements to the mean of each; never null.
Run<const float, float> MeanOfAll(std::int64_t elements, InstructionSet set = BestInstructionSet());
/// The gradient of means to that of images.
Run<const float, float> Shares(const Windows& windows, InstructionSet set = BestInstructionSet());
/// The gradient of the largest elements to that of images, for 3 x 3 that move by one. The mask names an
/// element of each window, or none.
template <class Index>
Run<const float, const Index, float> LargestGradient(const Windows& windows,
                                                     InstructionSet set = BestInstructionSet());
///@}

}  // namespace ferry::detail::strips
