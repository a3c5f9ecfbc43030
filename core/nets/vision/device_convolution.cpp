// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/device_convolution.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "core/memory/told_call.hpp"
#include "core/nets/vision/scratch.hpp"
#include "ferry/detail/device_convolution.hpp"

namespace ferry::detail {
namespace {

/// None where an int is too small.
std::optional<DeviceConvolutionSizes> InInts(const ConvolutionSizes& sizes) {
  const Window& window = sizes.window;
  std::int64_t largest = std::max({sizes.images * sizes.ImageCount(), sizes.images * sizes.MapCount(),
                                   sizes.out_channels * sizes.KernelCount()});
  for (int axis = 0; axis < 2; ++axis)
    largest = std::max({largest, window.stride[axis], window.pad[axis], window.dilation[axis]});
  if (largest > std::numeric_limits<int>::max()) return std::nullopt;
  const auto in_int = [](std::int64_t number) { return static_cast<int>(number); };
  const auto axis = [&](int number) {
    return DeviceConvolutionSizes::Axis{in_int(window.image[number]),  in_int(window.steps[number]),
                                        in_int(window.kernel[number]), in_int(window.stride[number]),
                                        in_int(window.pad[number]),    in_int(window.dilation[number])};
  };
  return DeviceConvolutionSizes{in_int(sizes.images),
                                in_int(sizes.in_channels),
                                in_int(sizes.out_channels),
                                in_int(sizes.groups),
                                {axis(0), axis(1)}};
}

template <Real T>
class OnDeviceConvolution final : public ConvolutionMaps<T> {
 public:
  OnDeviceConvolution(const DeviceConvolutionSizes& sizes, Device& device,
                      std::unique_ptr<ConvolutionMaps<T>> otherwise)
      : sizes_(sizes), otherwise_(std::move(otherwise)), scratch_(device) {}

  void ToMaps(const At& at, const Part& images, const Part& weights, const Part* bias,
              const Part& maps) override {
    if (!Run(at, ConvolutionMap::kToMaps, {images, Access::kRead}, {weights, Access::kRead}, bias,
             Access::kRead, {maps, Access::kOverwrite}))
      otherwise_->ToMaps(at, images, weights, bias, maps);
  }
  void ToImages(const At& at, const Part& maps, const Part& weights, const Part& images) override {
    if (!Run(at, ConvolutionMap::kToImages, {images, Access::kOverwrite}, {weights, Access::kRead}, nullptr,
             Access::kRead, {maps, Access::kRead}))
      otherwise_->ToImages(at, maps, weights, images);
  }
  void AddToWeights(const At& at, const Part& images, const Part& maps, const Part& weights,
                    const Part* bias) override {
    if (!Run(at, ConvolutionMap::kToWeights, {images, Access::kRead}, {weights, Access::kReadWrite}, bias,
             Access::kReadWrite, {maps, Access::kRead}))
      otherwise_->AddToWeights(at, images, maps, weights, bias);
  }

 private:
  struct Made {
    bool tried = false;
    std::unique_ptr<DeviceConvolution<T>> map;  ///< null where the library has none
  };

  const DeviceConvolution<T>* MapFor(const Stream& on, ConvolutionMap map) {
    Made& made = made_[static_cast<std::size_t>(map)];
    if (!made.tried) made = {true, MakeDeviceConvolution<T>(on, map, sizes_)};
    return made.map.get();
  }

  /// Also where Kokkos has no kernels for the GPU. False where the library has no part in it.
  bool Run(const At& at, ConvolutionMap map, const Operand<T>& images, const Operand<T>& weights,
           const Part* bias, Access bias_access, const Operand<T>& maps) {
    const Place& place = at.place();
    if (place.side() != Side::kGpu) return false;
    const DeviceConvolution<T>* const its = MapFor(place.stream(), map);
    if (its == nullptr) return false;
    const Part none{nullptr, {0, 0}, 0, {}};
    const Operand<T> biases(bias != nullptr ? *bias : none, bias_access);
    const Operand<T> workspace(scratch_.Take(its->workspace()), Access::kOverwrite);
    const std::array<Request, 5> requests{images.request(), weights.request(), biases.request(),
                                          maps.request(), workspace.request()};
    std::array<void*, 5> ptrs{};
    ToldCall told(ToldCall::Kind::kKernel, &place.stream(), requests, at.site());
    TakeAt(at, requests, ptrs);
    told.Start();
    const auto at_number = [&](std::size_t number) { return static_cast<T*>(ptrs[number]); };
    its->Run(place.stream(), {at_number(0), at_number(1), at_number(2), at_number(3), at_number(4)});
    return true;
  }

  const DeviceConvolutionSizes sizes_;
  std::unique_ptr<ConvolutionMaps<T>> otherwise_;
  Scratch<T> scratch_;
  std::array<Made, 3> made_;
};

}  // namespace

template <Real T>
std::unique_ptr<ConvolutionMaps<T>> OnDevice(const ConvolutionSizes& sizes, Device& device,
                                             std::unique_ptr<ConvolutionMaps<T>> otherwise) {
  if (!sizes.IsUsual() || !HasDeviceConvolution(device.properties())) return otherwise;
  const std::optional<DeviceConvolutionSizes> in_ints = InInts(sizes);
  if (!in_ints) return otherwise;
  return std::make_unique<OnDeviceConvolution<T>>(*in_ints, device, std::move(otherwise));
}

template std::unique_ptr<ConvolutionMaps<float>> OnDevice(const ConvolutionSizes&, Device&,
                                                          std::unique_ptr<ConvolutionMaps<float>>);
template std::unique_ptr<ConvolutionMaps<double>> OnDevice(const ConvolutionSizes&, Device&,
                                                           std::unique_ptr<ConvolutionMaps<double>>);

}  // namespace ferry::detail
