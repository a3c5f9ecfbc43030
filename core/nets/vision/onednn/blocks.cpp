// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/onednn/blocks.hpp"

#include <array>

namespace ferry::detail::onednn {
namespace {

/// As many floats as a vector of every processor has.
constexpr int kFour = 4;
// NOLINTNEXTLINE(modernize-use-using): the attribute is for a typedef
typedef float Four __attribute__((vector_size(kFour * sizeof(float))));
using Square = std::array<Four, kFour>;

Four Load(const float* from) {
  Four four;
  __builtin_memcpy(&four, from, sizeof four);
  return four;
}
void Store(const Four& four, float* to) { __builtin_memcpy(to, &four, sizeof four); }

Square Transposed(const Square& rows) {
  const Four a = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
  const Four b = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
  const Four c = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
  const Four d = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
  return {__builtin_shufflevector(a, b, 0, 1, 4, 5), __builtin_shufflevector(a, b, 2, 3, 6, 7),
          __builtin_shufflevector(c, d, 0, 1, 4, 5), __builtin_shufflevector(c, d, 2, 3, 6, 7)};
}

/// What vectors of a block have of the order of blobs: a matrix of `length` rows, a column for each vector.
struct Matrix {
  std::int64_t row_step, columns;
  std::int64_t plain, blocks;  ///< where it begins in each order
  bool next_to_another;        ///< whether the next one has its rows where this one's end
};

/// Where the vectors of a matrix are in a block, one after the other.
class VectorsOf {
 public:
  VectorsOf(const WeightBlocks& weights, const Matrix& matrix)
      : length_(weights.length), elements_(weights.elements), at_(matrix.blocks) {}

  std::int64_t Next() {
    const std::int64_t at = at_ + (element_ * length_ + line_) * length_;
    if (++element_ == elements_) {
      element_ = 0;
      ++line_;
    }
    return at;
  }

 private:
  std::int64_t length_, elements_, at_, element_ = 0, line_ = 0;
};

/// In the order in which blobs have them.
template <class Do>
void ForMatrices(const WeightBlocks& weights, const Do& matrix) {
  const std::int64_t length = weights.length, elements = weights.elements;
  const std::int64_t block = length * length * elements, of_row = weights.inputs / length * block;
  if (weights.vectors == WeightBlocks::Vectors::kOfOutputs) {
    for (std::int64_t o = 0; o < weights.outputs; o += length)
      for (std::int64_t i = 0; i < weights.inputs; i += length)
        matrix(Matrix{weights.step, length * elements, o * weights.step + i * elements,
                      o / length * of_row + i / length * block, i + length < weights.inputs});
  } else {
    for (std::int64_t o = 0; o < weights.outputs; ++o)
      for (std::int64_t i = 0; i < weights.inputs; i += length)
        matrix(Matrix{elements, elements, o * weights.step + i * elements,
                      o / length * of_row + i / length * block + o % length * length, false});
  }
}

/// The processor itself reads ahead in few rows at once.
void ReadAhead(const WeightBlocks& weights, const Matrix& matrix, std::int64_t row, const float* plain) {
  if (!matrix.next_to_another) return;
  constexpr std::int64_t kLine = 64 / sizeof(float);
  for (std::int64_t r = row; r < row + kFour && r < weights.length; ++r)
    for (std::int64_t j = 0; j < matrix.columns; j += kLine)
      __builtin_prefetch(plain + matrix.plain + r * matrix.row_step + matrix.columns + j);
}

}  // namespace

void ToBlocks(const WeightBlocks& weights, const float* plain, float* blocks) {
  ForMatrices(weights, [&](const Matrix& matrix) {
    const std::int64_t step = matrix.row_step, whole = matrix.columns / kFour * kFour;
    for (std::int64_t row = 0; row < weights.length; row += kFour) {
      ReadAhead(weights, matrix, row, plain);
      const float* const from = plain + matrix.plain + row * step;
      VectorsOf vectors(weights, matrix);
      for (std::int64_t j = 0; j < whole; j += kFour) {
        const float* const x = from + j;
        for (const Four& four : Transposed({Load(x), Load(x + step), Load(x + 2 * step), Load(x + 3 * step)}))
          Store(four, blocks + vectors.Next() + row);
      }
      for (std::int64_t j = whole; j < matrix.columns; ++j) {
        float* const to = blocks + vectors.Next() + row;
        for (int r = 0; r < kFour; ++r) to[r] = from[r * step + j];
      }
    }
  });
}

void AddBlocks(const WeightBlocks& weights, const float* blocks, float* plain) {
  ForMatrices(weights, [&](const Matrix& matrix) {
    const std::int64_t step = matrix.row_step, whole = matrix.columns / kFour * kFour;
    for (std::int64_t row = 0; row < weights.length; row += kFour) {
      ReadAhead(weights, matrix, row, plain);
      float* const to = plain + matrix.plain + row * step;
      VectorsOf vectors(weights, matrix);
      for (std::int64_t j = 0; j < whole; j += kFour) {
        Square columns;
        for (Four& column : columns) column = Load(blocks + vectors.Next() + row);
        float* x = to + j;
        for (const Four& four : Transposed(columns)) {
          Store(Load(x) + four, x);
          x += step;
        }
      }
      for (std::int64_t j = whole; j < matrix.columns; ++j) {
        const float* const from = blocks + vectors.Next() + row;
        for (int r = 0; r < kFour; ++r) to[r * step + j] += from[r];
      }
    }
  });
}

}  // namespace ferry::detail::onednn
