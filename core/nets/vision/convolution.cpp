// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/convolution.hpp"

#include <type_traits>
#include <utility>

#include "core/nets/vision/chunk.hpp"
#include "core/nets/vision/im2col.hpp"
#include "core/nets/vision/scratch.hpp"
#include "core/nets/vision/slice.hpp"
#include "core/nets/vision/sum.hpp"
#ifdef FERRY_CUDNN
#include "core/nets/vision/device_convolution.hpp"
#endif
#ifdef FERRY_ONEDNN
#include "core/nets/vision/onednn/convolution.hpp"
#endif
#include "ferry/detail/kernel_place.hpp"

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

template <Real T>
class GemmConvolution final : public ConvolutionMaps<T> {
 public:
  GemmConvolution(const ConvolutionSizes& sizes, Device& device)
      : sizes_(sizes), identity_(sizes.window.IsIdentity()), scratch_(device), sums_(device) {}

  void ToMaps(const At& at, const Part& images, const Part& weights, const Part* bias,
              const Part& maps) override {
    Bring<T>(at, images, Access::kRead);
    Bring<T>(at, maps, Access::kOverwrite);
    for (std::int64_t n = 0; n < sizes_.images; ++n) {
      const Part columns = Columns(at, Image(images, n));
      for (std::int64_t g = 0; g < sizes_.groups; ++g)
        Multiply(at, {Transpose::kNo, Transpose::kNo, rows_, positions_, kernel_}, WeightsOf(weights, g),
                 ColumnsOf(columns, g), T(0), MapsOf(maps, n, g));
    }
    if (bias != nullptr)
      AddBias(at, sizes_.images, sizes_.out_channels, Operand<const T>(*bias, Access::kRead),
              Operand<T>(maps, Access::kReadWrite));
  }

  void ToImages(const At& at, const Part& maps, const Part& weights, const Part& images) override {
    Bring<T>(at, maps, Access::kRead);
    Bring<T>(at, images, Access::kOverwrite);
    for (std::int64_t n = 0; n < sizes_.images; ++n) {
      const Part image = Image(images, n);
      const Part columns = identity_ ? image : TakeColumns();
      for (std::int64_t g = 0; g < sizes_.groups; ++g)
        Multiply(at, {Transpose::kYes, Transpose::kNo, kernel_, positions_, rows_}, WeightsOf(weights, g),
                 MapsOf(maps, n, g), T(0), ColumnsOf(columns, g));
      if (!identity_)
        Col2im(at, sizes_.window, GrainAt(at.place()), sizes_.in_channels,
               Operand<const T>(columns, Access::kRead), Operand<T>(image, Access::kOverwrite));
    }
  }

  void AddToWeights(const At& at, const Part& images, const Part& maps, const Part& weights,
                    const Part* bias) override {
    Bring<T>(at, images, Access::kRead);
    Bring<T>(at, maps, Access::kRead);
    for (std::int64_t n = 0; n < sizes_.images; ++n) {
      const Part columns = Columns(at, Image(images, n));
      for (std::int64_t g = 0; g < sizes_.groups; ++g)
        Multiply(at, {Transpose::kNo, Transpose::kYes, rows_, kernel_, positions_}, MapsOf(maps, n, g),
                 ColumnsOf(columns, g), T(1), WeightsOf(weights, g));
    }
    if (bias != nullptr)
      AddSumsToBias(at, sizes_.images, sizes_.out_channels, Operand<const T>(maps, Access::kRead), sums_,
                    Operand<T>(*bias, Access::kReadWrite));
  }

 private:
  static void Multiply(const At& at, const GemmSizes& sizes, const Part& a, const Part& b, T beta,
                       const Part& c) {
    detail::Gemm(at, sizes, T(1), Operand<const T>(a, Access::kRead), Operand<const T>(b, Access::kRead),
                 beta, c);
  }
  /// The column matrix of an image: the image itself where that is one.
  Part Columns(const At& at, const Part& image) {
    if (identity_) return image;
    const Part columns = TakeColumns();
    Im2col(at, sizes_.window, GrainAt(at.place()), sizes_.in_channels, Operand<const T>(image, Access::kRead),
           Operand<T>(columns, Access::kOverwrite));
    return columns;
  }

  Part TakeColumns() { return scratch_.Take(sizes_.groups * kernel_ * positions_); }
  Part Image(const Part& images, std::int64_t n) const {
    return Slice<T>(images, n * sizes_.ImageCount(), sizes_.ImageCount());
  }
  Part ColumnsOf(const Part& columns, std::int64_t group) const {
    return Slice<T>(columns, group * kernel_ * positions_, kernel_ * positions_);
  }
  Part WeightsOf(const Part& weights, std::int64_t group) const {
    return Slice<T>(weights, group * rows_ * kernel_, rows_ * kernel_);
  }
  Part MapsOf(const Part& maps, std::int64_t n, std::int64_t group) const {
    return Slice<T>(maps, n * sizes_.MapCount() + group * rows_ * positions_, rows_ * positions_);
  }

  const ConvolutionSizes sizes_;
  const std::int64_t rows_ = sizes_.out_channels / sizes_.groups;
  const std::int64_t kernel_ = sizes_.KernelCount();
  const std::int64_t positions_ = sizes_.window.StepCount();
  const bool identity_;
  Scratch<T> scratch_;
  Blob<T> sums_;
};

template <Real T>
std::unique_ptr<ConvolutionMaps<T>> MakeHostConvolution(const ConvolutionSizes& sizes, Device& device) {
#ifdef FERRY_ONEDNN
  if constexpr (std::is_same_v<T, float>)
    if (OneDnnIsFaster(sizes))
      if (auto made = MakeOneDnnConvolution(sizes, device)) return made;
#endif
  return MakeGemmConvolution<T>(sizes, device);
}

}  // namespace

bool ConvolutionSizes::IsUsual() const {
  if (window.axes != 2 || images == 0 || ImageCount() == 0 || MapCount() == 0) return false;
  for (int axis = 0; axis < 2; ++axis)
    if (window.Extent(axis) > window.image[axis] + 2 * window.pad[axis]) return false;
  return true;
}

template <Real T>
std::unique_ptr<ConvolutionMaps<T>> MakeGemmConvolution(const ConvolutionSizes& sizes, Device& device) {
  return std::make_unique<GemmConvolution<T>>(sizes, device);
}

template <Real T>
std::unique_ptr<ConvolutionMaps<T>> MakeConvolution(const ConvolutionSizes& sizes, Device& device) {
  auto made = MakeHostConvolution<T>(sizes, device);
#ifdef FERRY_CUDNN
  made = OnDevice(sizes, device, std::move(made));
#endif
  return made;
}

template <Real T>
void AddBias(const At& at, std::int64_t images, std::int64_t channels, const Operand<const T>& bias,
             const Operand<T>& y) {
  if (y.count() == 0) return;
  const std::int64_t pixels = y.count() / (images * channels);
  const Chunks chunks(at.place(), pixels, pixels);
  ParallelFor(
      at, images * channels * chunks.per_line, bias, y, KOKKOS_LAMBDA(std::int64_t index, const T* b, T* to) {
        const auto [line, first, last] = chunks[index];
        const T value = b[line % channels];
        T* const row = to + line * pixels;
        for (std::int64_t j = first; j < last; ++j) row[j] += value;
      });
}

template <Real T>
void AddSumsToBias(const At& at, std::int64_t images, std::int64_t channels, const Operand<const T>& y,
                   Blob<T>& sums, const Operand<T>& bias) {
  if (y.count() == 0) return;
  const std::int64_t pixels = y.count() / (images * channels);
  sums.Reshape({images, channels});
  ParallelFor(
      at, images * channels, y, Overwrite(sums), KOKKOS_LAMBDA(std::int64_t line, const T* from, T* to) {
        to[line] = Sum(from + line * pixels, pixels);
      });
  ParallelFor(
      at, channels, Read(sums), bias, KOKKOS_LAMBDA(std::int64_t channel, const T* from, T* to) {
        T sum = 0;
        for (std::int64_t n = 0; n < images; ++n) sum += from[n * channels + channel];
        to[channel] += sum;
      });
}

#define FERRY_INSTANTIATE(T)                                                                                \
  template std::unique_ptr<ConvolutionMaps<T>> MakeConvolution(const ConvolutionSizes&, Device&);           \
  template std::unique_ptr<ConvolutionMaps<T>> MakeGemmConvolution(const ConvolutionSizes&, Device&);       \
  template void AddBias(const At&, std::int64_t, std::int64_t, const Operand<const T>&, const Operand<T>&); \
  template void AddSumsToBias(const At&, std::int64_t, std::int64_t, const Operand<const T>&, Blob<T>&,     \
                              const Operand<T>&)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry::detail
