// SPDX-License-Identifier: BSD-2-Clause
#include <cstdint>
#include <memory>

#include "core/nets/vision/chunk.hpp"
#include "core/nets/vision/convolution.hpp"
#include "core/nets/vision/im2col.hpp"
#include "core/nets/vision/scratch.hpp"
#include "core/nets/vision/slice.hpp"
#include "ferry/detail/kernel_place.hpp"
#include "ferry/detail/strided_gemm.hpp"

namespace ferry::detail {
namespace {

/// Brings all of a part to where kernels run, in one copy, before they take it piece by piece.
template <class T>
void Bring(const At& at, const Part& part, Access access) {
  if (part.count == 0) return;
  const KernelPlace place(at.place());
  Reach(part, access, place->side() == Side::kCpu ? nullptr : &place->stream(), at.site().file(),
        at.site().function(), at.site().line());
}

/// A column matrix in slices, one for each place in the kernel along the first axis. Where the window moves
/// there by one, each slice is the first one shifted by lines. So only that one is made, for all lines of the
/// image and its padding, and the others are views of it.
struct Slices {
  Slices(const ConvolutionSizes& sizes, const Place& place)
      : window(sizes.window), rows(sizes.KernelCount()) {
    // A product of few rows takes longer to add to the maps than is saved. On a GPU each takes a launch.
    constexpr std::int64_t kFewRows = 32;
    if (OnGpuThreads(place) || window.axes == 0 || window.stride[0] != 1 ||
        rows / window.kernel[0] < kFewRows)
      return;
    count = window.kernel[0];
    rows /= count;
    window.kernel[0] = 1;
    window.steps[0] = window.image[0] + 2 * window.pad[0];
    shift = window.dilation[0];
    for (int axis = 1; axis < window.axes; ++axis) shift *= window.steps[axis];
  }

  Window window;           ///< of the matrix that is made
  std::int64_t rows;       ///< of a slice, in one group
  std::int64_t count = 1;  ///< of slices
  std::int64_t shift = 0;  ///< from one to the next, in elements of a row
};

/// Moves the weights of an output channel to slices, which have a row for each of their rows of columns and a
/// column for each of `outputs` channels; or with kAdd adds what is there to the weights.
template <class T, bool kAdd>
struct MoveWeights {
  std::int64_t outputs, rows, slices, channels, kernel;  ///< of one group; kernel: of a channel in a slice

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t output, const T* from, T* to) const {
    const std::int64_t group = output / outputs;
    std::int64_t weight = output * slices * rows;
    for (std::int64_t channel = 0; channel < channels; ++channel)
      for (std::int64_t slice = 0; slice < slices; ++slice)
        for (std::int64_t k = 0; k < kernel; ++k, ++weight) {
          const std::int64_t row = (group * slices + slice) * rows + channel * kernel + k;
          const std::int64_t moved = row * outputs + output - group * outputs;
          if constexpr (kAdd)
            to[weight] += from[moved];
          else
            to[moved] = from[weight];
        }
  }
};

/// A position of the window each: the elements of all maps of an image there.
template <class T>
struct TransposeMaps {
  std::int64_t outputs, positions;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t position, const T* maps, T* to) const {
    for (std::int64_t output = 0; output < outputs; ++output)
      to[position * outputs + output] = maps[output * positions + position];
  }
};

template <Real T>
class GemmConvolution final : public ConvolutionMaps<T> {
 public:
  GemmConvolution(const ConvolutionSizes& sizes, Device& device)
      : sizes_(sizes), scratch_(device), sums_(device) {}

  void ToMaps(const At& at, const Part& images, const Part& weights, const Part* bias,
              const Part& maps) override {
    Bring<T>(at, images, Access::kRead);
    Bring<T>(at, maps, Access::kOverwrite);
    const Call call(*this, at);
    const Part sliced = call.Sliced(weights);
    for (std::int64_t n = 0; n < sizes_.images; ++n) {
      const Part columns = call.MakeColumns(Image(images, n));
      call.ForEachSlice([&](std::int64_t group, std::int64_t slice) {
        Multiply(at, {call.TransposeTo(Transpose::kNo), Transpose::kNo, rows_, positions_, call.slices.rows},
                 {call.weights_row, call.row, positions_}, call.WeightsOf(sliced, group, slice),
                 call.ColumnsOf(columns, group, slice), T(slice == 0 ? 0 : 1), MapsOf(maps, n, group));
      });
    }
    if (bias != nullptr)
      AddBias(at, sizes_.images, sizes_.out_channels, Operand<const T>(*bias, Access::kRead),
              Operand<T>(maps, Access::kReadWrite));
  }

  void ToImages(const At& at, const Part& maps, const Part& weights, const Part& images) override {
    Bring<T>(at, maps, Access::kRead);
    Bring<T>(at, images, Access::kOverwrite);
    const Call call(*this, at);
    const Part sliced = call.Sliced(weights);
    for (std::int64_t n = 0; n < sizes_.images; ++n) {
      const Part image = Image(images, n), columns = call.identity ? image : call.columns;
      if (call.sliced) detail::Set(at, T(0), Operand<T>(columns, Access::kOverwrite));
      call.ForEachSlice([&](std::int64_t group, std::int64_t slice) {
        Multiply(at, {call.TransposeTo(Transpose::kYes), Transpose::kNo, call.slices.rows, positions_, rows_},
                 {call.weights_row, positions_, call.row}, call.WeightsOf(sliced, group, slice),
                 MapsOf(maps, n, group), T(call.sliced ? 1 : 0), call.ColumnsOf(columns, group, slice));
      });
      if (!call.identity)
        Col2im(at, call.slices.window, GrainAt(at.place()), sizes_.in_channels,
               Operand<const T>(columns, Access::kRead), Operand<T>(image, Access::kOverwrite));
    }
  }

  void AddToWeights(const At& at, const Part& images, const Part& maps, const Part& weights,
                    const Part* bias) override {
    Bring<T>(at, images, Access::kRead);
    Bring<T>(at, maps, Access::kRead);
    const Call call(*this, at);
    for (std::int64_t n = 0; n < sizes_.images; ++n) {
      const Part columns = call.MakeColumns(Image(images, n));
      if (call.sliced) call.Transposed(Slice<T>(maps, n * sizes_.MapCount(), sizes_.MapCount()));
      call.ForEachSlice([&](std::int64_t group, std::int64_t slice) {
        const Part its_columns = call.ColumnsOf(columns, group, slice);
        if (call.sliced)
          Multiply(at, {Transpose::kNo, Transpose::kNo, call.slices.rows, rows_, positions_},
                   {call.row, sizes_.out_channels, rows_}, its_columns, call.TransposedMapsOf(group),
                   T(n == 0 ? 0 : 1), call.WeightsOf(call.weights, group, slice));
        else
          Multiply(at, {Transpose::kNo, Transpose::kYes, rows_, kernel_, positions_},
                   {positions_, positions_, kernel_}, MapsOf(maps, n, group), its_columns, T(1),
                   call.WeightsOf(weights, group, slice));
      });
    }
    if (call.sliced && sizes_.images > 0) call.AddSlicesTo(weights);
    if (bias != nullptr)
      AddSumsToBias(at, sizes_.images, sizes_.out_channels, Operand<const T>(maps, Access::kRead), sums_,
                    Operand<T>(*bias, Access::kReadWrite));
  }

 private:
  /// What one call of a map has. Where there are slices, BLAS has the weights in rows of columns.
  struct Call {
    Call(GemmConvolution& map, const At& where)
        : its(map.sizes_), at(where), slices(its, where.place()), rows(map.rows_) {
      const std::int64_t weight_count = sliced ? its.out_channels * its.KernelCount() : 0;
      const std::int64_t map_count = sliced ? its.MapCount() : 0;
      const std::int64_t column_count = identity ? 0 : its.groups * slices.rows * row;
      const Part all = map.scratch_.Take(weight_count + map_count + column_count);
      weights = Slice<T>(all, 0, weight_count);
      maps = Slice<T>(all, weight_count, map_count);
      columns = Slice<T>(all, weight_count + map_count, column_count);
    }

    /// The column matrix of an image: the image itself where that is one.
    Part MakeColumns(const Part& image) const {
      if (identity) return image;
      Im2col(at, slices.window, GrainAt(at.place()), its.in_channels, Operand<const T>(image, Access::kRead),
             Operand<T>(columns, Access::kOverwrite));
      return columns;
    }
    /// All weights: as they are where there are no slices.
    Part Sliced(const Part& plain) const {
      if (!sliced) return plain;
      Move<false>(plain, Operand<T>(weights, Access::kOverwrite));
      return weights;
    }
    void AddSlicesTo(const Part& plain) const { Move<true>(weights, Operand<T>(plain, Access::kReadWrite)); }
    template <bool kAdd>
    void Move(const Part& from, const Operand<T>& to) const {
      const std::int64_t kernel = slices.window.KernelCount();
      ParallelFor(at, its.out_channels, Operand<const T>(from, Access::kRead), to,
                  MoveWeights<T, kAdd>{rows, slices.rows, slices.count, slices.rows / kernel, kernel});
    }
    /// How BLAS takes weights that are to be transposed or not.
    Transpose TransposeTo(Transpose transpose) const {
      return sliced == (transpose == Transpose::kNo) ? Transpose::kYes : Transpose::kNo;
    }
    void Transposed(const Part& plain) const {
      ParallelFor(at, its.window.StepCount(), Operand<const T>(plain, Access::kRead),
                  Operand<T>(maps, Access::kOverwrite),
                  TransposeMaps<T>{its.out_channels, its.window.StepCount()});
    }
    template <class Use>
    void ForEachSlice(const Use& use) const {
      for (std::int64_t group = 0; group < its.groups; ++group)
        for (std::int64_t slice = 0; slice < slices.count; ++slice) use(group, slice);
    }
    Part ColumnsOf(const Part& all, std::int64_t group, std::int64_t slice) const {
      return Rows(all, group * slices.rows * row + slice * slices.shift, slices.rows, row,
                  its.window.StepCount());
    }
    Part WeightsOf(const Part& all, std::int64_t group, std::int64_t slice) const {
      const std::int64_t count = rows * slices.rows;
      return Slice<T>(all, (group * slices.count + slice) * count, count);
    }
    Part TransposedMapsOf(std::int64_t group) const {
      return Rows(maps, group * rows, its.window.StepCount(), its.out_channels, rows);
    }
    /// Rows of `columns` elements within longer ones.
    static Part Rows(const Part& all, std::int64_t first, std::int64_t count, std::int64_t row,
                     std::int64_t columns) {
      return Slice<T>(all, first, count == 0 || columns == 0 ? 0 : (count - 1) * row + columns);
    }

    const ConvolutionSizes& its;
    const At& at;
    const Slices slices;
    const std::int64_t rows;  ///< of maps in a group
    const bool sliced = slices.count > 1;
    const bool identity = slices.window.IsIdentity();
    const std::int64_t row = slices.window.StepCount();            ///< of columns
    const std::int64_t weights_row = sliced ? rows : slices.rows;  ///< of weights
    Part weights{}, maps{}, columns{};                             ///< scratch
  };

  static void Multiply(const At& at, const GemmSizes& sizes, const GemmStrides& strides, const Part& a,
                       const Part& b, T beta, const Part& c) {
    detail::Gemm(at, sizes, strides, T(1), Operand<const T>(a, Access::kRead),
                 Operand<const T>(b, Access::kRead), beta, c);
  }
  Part Image(const Part& images, std::int64_t n) const {
    return Slice<T>(images, n * sizes_.ImageCount(), sizes_.ImageCount());
  }
  Part MapsOf(const Part& maps, std::int64_t n, std::int64_t group) const {
    return Slice<T>(maps, n * sizes_.MapCount() + group * rows_ * positions_, rows_ * positions_);
  }

  const ConvolutionSizes sizes_;
  const std::int64_t rows_ = sizes_.out_channels / sizes_.groups;
  const std::int64_t kernel_ = sizes_.KernelCount();
  const std::int64_t positions_ = sizes_.window.StepCount();
  Scratch<T> scratch_;
  Blob<T> sums_;
};

}  // namespace

template <Real T>
std::unique_ptr<ConvolutionMaps<T>> MakeGemmConvolution(const ConvolutionSizes& sizes, Device& device) {
  return std::make_unique<GemmConvolution<T>>(sizes, device);
}

template std::unique_ptr<ConvolutionMaps<float>> MakeGemmConvolution(const ConvolutionSizes&, Device&);
template std::unique_ptr<ConvolutionMaps<double>> MakeGemmConvolution(const ConvolutionSizes&, Device&);

}  // namespace ferry::detail
