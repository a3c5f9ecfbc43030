// SPDX-License-Identifier: BSD-2-Clause
#include <cstdint>
#include <memory>

#include "core/nets/vision/chunk.hpp"
#include "core/nets/vision/convolution.hpp"
#include "core/nets/vision/im2col.hpp"
#include "core/nets/vision/scratch.hpp"
#include "ferry/detail/kokkos/series.hpp"

namespace ferry::detail {
namespace {

/// A column matrix in slices, one for each place in the kernel along the first axis. Where the window moves
/// there by one, each slice is the first one shifted by lines. So only that one is made, for all lines of the
/// image and its padding, and the others are views of it.
struct Slices {
  Slices(const ConvolutionSizes& sizes, Grain grain) : window(sizes.window), rows(sizes.KernelCount()) {
    // A product of few rows takes longer to add to the maps than is saved. On a GPU each takes a launch. A
    // window that reaches far leaves slices more lines than the whole matrix has.
    constexpr std::int64_t kFewRows = 32;
    if (grain == Grain::kElement || window.axes == 0 || window.stride[0] != 1 ||
        window.image[0] + 2 * window.pad[0] > window.kernel[0] * window.steps[0] ||
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

/// A row each: zeros behind its first `begin` elements.
template <class T>
struct ClearEnd {
  std::int64_t begin, row_size;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, T* x) const {
    for (std::int64_t i = begin; i < row_size; ++i) x[row * row_size + i] = 0;
  }
};

/// The maps as kernels on pointers, one image after the other. Where there are slices, BLAS has the weights
/// in rows of columns.
template <class T>
class Steps {
 public:
  Steps(const ConvolutionSizes& sizes, Grain grain) : its_(sizes), grain_(grain), slices_(sizes, grain) {}

  /// Elements that the kernels need while they run.
  std::int64_t scratch() const {
    return columns_at_ + (images_are_columns_ ? 0 : its_.groups * slices_.rows * row_);
  }

  void ToMaps(const Series& series, const T* images, const T* weights, T* maps, T* scratch) const {
    const T* const sliced = Sliced(series, weights, scratch);
    for (std::int64_t n = 0; n < its_.images; ++n) {
      const T* const columns = MakeColumns(series, images + n * its_.ImageCount(), scratch);
      ForEachSlice([&](std::int64_t group, std::int64_t slice) {
        series.Gemm(to_maps_, T(1), sliced + WeightsAt(group, slice), columns + ColumnsAt(group, slice),
                    T(slice == 0 ? 0 : 1), maps + MapsAt(n, group));
      });
    }
  }

  void ToImages(const Series& series, const T* maps, const T* weights, T* images, T* scratch) const {
    const T* const sliced = Sliced(series, weights, scratch);
    for (std::int64_t n = 0; n < its_.images; ++n) {
      T* const image = images + n * its_.ImageCount();
      T* const columns = images_are_columns_ ? image : scratch + columns_at_;
      if (sliced_) series.For(its_.groups * slices_.rows, ClearEnd<T>{positions_, row_}, columns);
      ForEachSlice([&](std::int64_t group, std::int64_t slice) {
        series.Gemm(to_images_, T(1), sliced + WeightsAt(group, slice), maps + MapsAt(n, group),
                    T(slice == 0 ? 0 : 1), columns + ColumnsAt(group, slice));
      });
      if (!images_are_columns_) Col2im(series, slices_.window, grain_, its_.in_channels, columns, image);
    }
  }

  void AddToWeights(const Series& series, const T* images, const T* maps, T* weights, T* scratch) const {
    T* const transposed = scratch + maps_at_;
    for (std::int64_t n = 0; n < its_.images; ++n) {
      const T* const columns = MakeColumns(series, images + n * its_.ImageCount(), scratch);
      if (sliced_)
        series.For(positions_, TransposeMaps<T>{its_.out_channels, positions_}, maps + MapsAt(n, 0),
                   transposed);
      ForEachSlice([&](std::int64_t group, std::int64_t slice) {
        const T* const its_columns = columns + ColumnsAt(group, slice);
        if (sliced_)
          series.Gemm(to_weights_, T(1), its_columns, transposed + group * rows_, T(n == 0 ? 0 : 1),
                      scratch + WeightsAt(group, slice));
        else
          series.Gemm(to_weights_, T(1), maps + MapsAt(n, group), its_columns, T(1),
                      weights + WeightsAt(group, slice));
      });
    }
    if (sliced_) Move<true>(series, scratch, weights);
  }

 private:
  /// The column matrix of an image: the image itself where that is one.
  const T* MakeColumns(const Series& series, const T* image, T* scratch) const {
    if (images_are_columns_) return image;
    Im2col(series, slices_.window, grain_, its_.in_channels, image, scratch + columns_at_);
    return scratch + columns_at_;
  }
  /// All weights: as they are where there are no slices.
  const T* Sliced(const Series& series, const T* weights, T* scratch) const {
    if (!sliced_) return weights;
    Move<false>(series, weights, scratch);
    return scratch;
  }
  template <bool kAdd>
  void Move(const Series& series, const T* from, T* to) const {
    const std::int64_t kernel = slices_.window.KernelCount();
    series.For(its_.out_channels,
               MoveWeights<T, kAdd>{rows_, slices_.rows, slices_.count, slices_.rows / kernel, kernel}, from,
               to);
  }
  template <class Use>
  void ForEachSlice(const Use& use) const {
    for (std::int64_t group = 0; group < its_.groups; ++group)
      for (std::int64_t slice = 0; slice < slices_.count; ++slice) use(group, slice);
  }
  std::int64_t ColumnsAt(std::int64_t group, std::int64_t slice) const {
    return group * slices_.rows * row_ + slice * slices_.shift;
  }
  std::int64_t WeightsAt(std::int64_t group, std::int64_t slice) const {
    return (group * slices_.count + slice) * rows_ * slices_.rows;
  }
  std::int64_t MapsAt(std::int64_t n, std::int64_t group) const {
    return n * its_.MapCount() + group * rows_ * positions_;
  }

  const ConvolutionSizes its_;
  const Grain grain_;
  const Slices slices_;
  const bool sliced_ = slices_.count > 1, images_are_columns_ = slices_.window.IsIdentity();
  const std::int64_t rows_ = its_.out_channels / its_.groups;  ///< of maps in a group
  const std::int64_t positions_ = its_.window.StepCount();
  const std::int64_t row_ = slices_.window.StepCount();  ///< of columns
  /// In the scratch, behind the weights of all slices.
  const std::int64_t maps_at_ = sliced_ ? its_.out_channels * its_.KernelCount() : 0;
  const std::int64_t columns_at_ = maps_at_ + (sliced_ ? its_.MapCount() : 0);
  const Transpose as_is_ = sliced_ ? Transpose::kYes : Transpose::kNo;
  const Transpose transposed_ = sliced_ ? Transpose::kNo : Transpose::kYes;
  const std::int64_t weights_row_ = sliced_ ? rows_ : slices_.rows;
  const IntGemmSizes to_maps_ = IntGemmSizesOf({as_is_, Transpose::kNo, rows_, positions_, slices_.rows},
                                               {weights_row_, row_, positions_});
  const IntGemmSizes to_images_ = IntGemmSizesOf(
      {transposed_, Transpose::kNo, slices_.rows, positions_, rows_}, {weights_row_, positions_, row_});
  const IntGemmSizes to_weights_ =
      sliced_ ? IntGemmSizesOf({Transpose::kNo, Transpose::kNo, slices_.rows, rows_, positions_},
                               {row_, its_.out_channels, rows_})
              : IntGemmSizesOf({Transpose::kNo, Transpose::kYes, rows_, slices_.rows, positions_},
                               {positions_, positions_, slices_.rows});
};

template <Real T>
class GemmConvolution final : public ConvolutionMaps<T> {
 public:
  GemmConvolution(const ConvolutionSizes& sizes, Device& device)
      : sizes_(sizes), scratch_(device), sums_(device) {}

  void ToMaps(const At& at, const Part& images, const Part& weights, const Part* bias,
              const Part& maps) override {
    Run(at, &Steps<T>::ToMaps, images, weights, {maps, Access::kOverwrite});
    if (bias != nullptr)
      AddBias(at, sizes_.images, sizes_.out_channels, Operand<const T>(*bias, Access::kRead),
              Operand<T>(maps, Access::kReadWrite));
  }
  void ToImages(const At& at, const Part& maps, const Part& weights, const Part& images) override {
    Run(at, &Steps<T>::ToImages, maps, weights, {images, Access::kOverwrite});
  }
  void AddToWeights(const At& at, const Part& images, const Part& maps, const Part& weights,
                    const Part* bias) override {
    Run(at, &Steps<T>::AddToWeights, images, maps, {weights, Access::kReadWrite});
    if (bias != nullptr)
      AddSumsToBias(at, sizes_.images, sizes_.out_channels, Operand<const T>(maps, Access::kRead), sums_,
                    Operand<T>(*bias, Access::kReadWrite));
  }

 private:
  using Way = void (Steps<T>::*)(const Series&, const T*, const T*, T*, T*) const;

  void Run(const At& at, Way way, const Part& x, const Part& y, const Operand<T>& to) {
    if (sizes_.images == 0) return;
    const Steps<T> steps(sizes_, GrainAt(at.place()));
    RunSeries(
        at,
        [steps, way](const Series& series, const T* a, const T* b, T* result, T* scratch) {
          (steps.*way)(series, a, b, result, scratch);
        },
        Operand<const T>(x, Access::kRead), Operand<const T>(y, Access::kRead), to,
        Operand<T>(scratch_.Take(steps.scratch()), Access::kOverwrite));
  }

  const ConvolutionSizes sizes_;
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
