// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>

#include "backends/gpu/library_handle.hpp"
#include "ferry/detail/device_convolution.hpp"

/// What convolutions by vendors' libraries have in common. Names is the library as a struct: what
/// LibraryHandle needs, and Lacks(status), which is true where the library says that it has no such thing.
namespace ferry::gpu {

/// Whether the library has what it was asked for. Throws DeviceError where that is not what the status says.
template <class Names>
bool Has(const char* call, typename Names::Status status) {
  if (Names::Lacks(status)) return false;
  LibraryHandle<Names>::Check(call, status);
  return true;
}

/// One of the library's descriptors.
template <class Names, class Type, auto kCreate, auto kDestroy>
class Descriptor {
 public:
  Descriptor() { LibraryHandle<Names>::Check("CreateDescriptor", kCreate(&its_)); }
  ~Descriptor() { (void)kDestroy(its_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  Type get() const noexcept { return its_; }

 private:
  Type its_{};
};

/// The maps. Order has what a map reads, and then what it writes.
struct ToMaps {
  static constexpr bool kAdds = false;
  static auto Order(auto images, auto weights, auto maps) { return std::tuple(images, weights, maps); }
};
struct ToImages {
  static constexpr bool kAdds = false;
  static auto Order(auto images, auto weights, auto maps) { return std::tuple(weights, maps, images); }
};
struct ToWeights {
  static constexpr bool kAdds = true;
  static auto Order(auto images, auto weights, auto maps) { return std::tuple(images, maps, weights); }
};

/// The bytes that an algorithm may need: as much as images and maps have, and always what Caffe gives.
template <class T>
std::size_t MostWorkspace(const detail::DeviceConvolutionSizes& sizes) {
  constexpr std::size_t kCaffes = std::size_t{8} << 20;
  std::size_t image = sizeof(T), map = sizeof(T);
  for (const auto& axis : sizes.axes) {
    image *= static_cast<std::size_t>(axis.image);
    map *= static_cast<std::size_t>(axis.map);
  }
  const auto images = static_cast<std::size_t>(sizes.images);
  return std::max(kCaffes, images * (image * static_cast<std::size_t>(sizes.in_channels) +
                                     map * static_cast<std::size_t>(sizes.out_channels)));
}

/// `bytes` in elements.
template <class T>
std::int64_t Elements(std::size_t bytes) {
  return static_cast<std::int64_t>((bytes + sizeof(T) - 1) / sizeof(T));
}

/// What detail::MakeDeviceConvolution is, by the library's Convolution<T, Map>. Its Set(on, sizes) is false
/// where the library has no such convolution; the stream's device is the current one.
template <template <class, class> class Convolution, Real T>
std::unique_ptr<detail::DeviceConvolution<T>> MakeConvolution(const Stream& on, detail::ConvolutionMap map,
                                                              const detail::DeviceConvolutionSizes& sizes) {
  const auto make = [&]<class Map>(Map) -> std::unique_ptr<detail::DeviceConvolution<T>> {
    const CurrentDevice current(on);
    auto made = std::make_unique<Convolution<T, Map>>();
    if (!made->Set(on, sizes)) made.reset();
    return made;
  };
  switch (map) {
    case detail::ConvolutionMap::kToMaps:
      return make(ToMaps());
    case detail::ConvolutionMap::kToImages:
      return make(ToImages());
    case detail::ConvolutionMap::kToWeights:
      break;
  }
  return make(ToWeights());
}

}  // namespace ferry::gpu
