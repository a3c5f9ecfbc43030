// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/convolution.hpp"

#include <type_traits>

#include "core/nets/vision/chunk.hpp"
#include "core/nets/vision/device_convolution.hpp"
#include "core/nets/vision/sum.hpp"
#ifdef FERRY_ONEDNN
#include "core/nets/vision/onednn/convolution.hpp"
#endif

namespace ferry::detail {
namespace {

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
std::unique_ptr<ConvolutionMaps<T>> MakeConvolution(const ConvolutionSizes& sizes, Device& device) {
  return OnDevice(sizes, device, MakeHostConvolution<T>(sizes, device));
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
  template void AddBias(const At&, std::int64_t, std::int64_t, const Operand<const T>&, const Operand<T>&); \
  template void AddSumsToBias(const At&, std::int64_t, std::int64_t, const Operand<const T>&, Blob<T>&,     \
                              const Operand<T>&)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry::detail
