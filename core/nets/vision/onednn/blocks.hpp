// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

namespace ferry::detail::onednn {

/// Weights in the order of blobs, and in oneDNN's: blocks of `length` outputs by `length` inputs. The blocks
/// of the same outputs lie beside each other. A block has a square of numbers for each element of the kernel,
/// in rows that are vectors of the processor.
struct WeightBlocks {
  enum class Vectors : std::uint8_t { kOfOutputs, kOfInputs };

  std::int64_t outputs = 0, inputs = 0, elements = 0;  ///< elements of a kernel
  std::int64_t length = 0;                             ///< 8 or 16; it divides outputs and inputs
  std::int64_t step = 0;                               ///< from one output to the next, in the order of blobs
  Vectors vectors = Vectors::kOfOutputs;
};

/// Copies from the order of blobs. The calling thread alone does so, two to three times as fast as one thread
/// of oneDNN 2.6, which moves the numbers one by one.
void ToBlocks(const WeightBlocks& weights, const float* plain, float* blocks);
/// plain += blocks
void AddBlocks(const WeightBlocks& weights, const float* blocks, float* plain);

}  // namespace ferry::detail::onednn
