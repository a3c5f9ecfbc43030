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
void ReadAhead(const Matrix& matrix, const float* rows) {
  if (!matrix.next_to_another) return;
  constexpr std::int64_t kLine = 64 / sizeof(float);
  for (int r = 0; r < kFour; ++r)
    for (std::int64_t j = 0; j < matrix.columns; j += kLine)
      __builtin_prefetch(rows + r * matrix.row_step + matrix.columns + j);
}

/// square(x, step, at) for each 4 x 4 numbers in the order of blobs, which begin at x and have rows `step`
/// apart: at[i] is where its column i is in blocks. column(x, step, at) for four rows of a column that is in
/// none.
template <class Number, class OfSquare, class OfColumn>
void ForSquares(const WeightBlocks& weights, Number* plain, const OfSquare& square, const OfColumn& column) {
  ForMatrices(weights, [&](const Matrix& matrix) {
    for (std::int64_t row = 0; row < weights.length; row += kFour) {
      Number* const rows = plain + matrix.plain + row * matrix.row_step;
      ReadAhead(matrix, rows);
      VectorsOf vectors(weights, matrix);
      std::int64_t j = 0;
      for (; j + kFour <= matrix.columns; j += kFour) {
        std::int64_t at[kFour];
        for (std::int64_t& vector : at) vector = vectors.Next() + row;
        square(rows + j, matrix.row_step, at);
      }
      for (; j < matrix.columns; ++j) column(rows + j, matrix.row_step, vectors.Next() + row);
    }
  });
}

}  // namespace

void ToBlocks(const WeightBlocks& weights, const float* plain, float* blocks) {
  ForSquares(
      weights, plain,
      [blocks](const float* x, std::int64_t step, const std::int64_t(&at)[kFour]) {
        const Square columns = Transposed({Load(x), Load(x + step), Load(x + 2 * step), Load(x + 3 * step)});
        for (std::size_t i = 0; i < kFour; ++i) Store(columns[i], blocks + at[i]);
      },
      [blocks](const float* x, std::int64_t step, std::int64_t at) {
        for (int r = 0; r < kFour; ++r) blocks[at + r] = x[r * step];
      });
}

void AddBlocks(const WeightBlocks& weights, const float* blocks, float* plain) {
  ForSquares(
      weights, plain,
      [blocks](float* x, std::int64_t step, const std::int64_t(&at)[kFour]) {
        const Square rows = Transposed(
            {Load(blocks + at[0]), Load(blocks + at[1]), Load(blocks + at[2]), Load(blocks + at[3])});
        for (const Four& row : rows) {
          Store(Load(x) + row, x);
          x += step;
        }
      },
      [blocks](float* x, std::int64_t step, std::int64_t at) {
        for (int r = 0; r < kFour; ++r) x[r * step] += blocks[at + r];
      });
}

}  // namespace ferry::detail::onednn
