// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/gpu/simulated.hpp"
#include "tests/nets/plain_convolution.hpp"

/// What the functions of a vendor's library of convolutions that Ferry calls are made of: plain loops on the
/// simulated GPU.
namespace ferry::testing {

/// For the device that was current when it was made.
struct DnnHandle {
  int device = sim::CurrentDevice();
  const void* stream = nullptr;

  void Check(const char* call) const { simulated::Expect(sim::CurrentDevice() == device, call); }
};

/// Handles and descriptors of a library whose functions return `kSuccess`.
template <auto kSuccess>
struct DnnObjects {
  template <class Object>
  static auto Create(Object** object) {
    return *object = new Object{}, kSuccess;
  }
  template <class Object>
  static auto Destroy(Object* object) {
    return delete object, kSuccess;
  }
};

struct DnnTensor {
  int n, c, h, w;

  std::int64_t Count() const { return std::int64_t{n} * c * h * w; }
  std::size_t ChannelOf(std::int64_t element) const {
    return static_cast<std::size_t>(element / (h * w) % c);
  }
};

struct DnnWindow {
  std::int64_t pad[2], stride[2], dilation[2];
  int groups = 1;
};

inline detail::ConvolutionSizes DnnSizes(const DnnTensor& images, const DnnTensor& weights,
                                         const DnnWindow& by, const DnnTensor& maps) {
  detail::ConvolutionSizes sizes;
  sizes.images = images.n, sizes.in_channels = images.c, sizes.out_channels = maps.c;
  sizes.groups = by.groups;
  sizes.window.axes = 2;
  for (int axis = 0; axis < 2; ++axis) {
    sizes.window.kernel[axis] = axis == 0 ? weights.h : weights.w;
    sizes.window.stride[axis] = by.stride[axis], sizes.window.pad[axis] = by.pad[axis];
    sizes.window.dilation[axis] = by.dilation[axis];
  }
  const std::int64_t image[] = {images.h, images.w};
  simulated::Expect(sizes.window.SetImage(image).empty() && sizes.MapCount() * images.n == maps.Count() &&
                        maps.n == images.n && weights.n == maps.c &&
                        sizes.out_channels * sizes.KernelCount() == weights.Count(),
                    __func__);
  return sizes;
}

/// Whether it was queued.
inline bool DnnQueue(const DnnHandle& handle, std::vector<Touch> touches, std::function<void()> work) {
  handle.Check(__func__);
  const auto error = simulated::Attempt([&] {
    sim::LaunchHostCode(handle.device, simulated::Handle(handle.stream), std::move(touches), std::move(work));
  });
  return error == sim::SimRuntime::kSuccess;
}

template <class T>
struct DnnInput {
  const T* elements;
  std::int64_t count;

  DnnInput(const void* its, const DnnTensor& tensor)
      : elements(static_cast<const T*>(its)), count(tensor.Count()) {}
};
/// What is added up, times alpha, is added to these, times beta. They are not read for a beta of 0. The
/// factors are those of when it is made.
template <class T>
struct DnnOutput {
  T* elements;
  std::int64_t count;
  T alpha, beta;

  DnnOutput(void* its, const DnnTensor& tensor, const void* a, const void* b)
      : elements(static_cast<T*>(its)),
        count(tensor.Count()),
        alpha(*static_cast<const T*>(a)),
        beta(*static_cast<const T*>(b)) {}

  void Blend(std::size_t i, double sum) const {
    T& to = elements[i];
    to = static_cast<T>(static_cast<double>(alpha) * sum + (beta == 0 ? 0 : static_cast<double>(beta * to)));
  }
};

/// To result[k], the sum of x[i] * y[j] over the i, j and k that each() says for each product. All of the
/// workspace is written, first and last.
template <class T, class Each>
bool DnnMultiply(const DnnHandle& handle, const detail::ConvolutionSizes& sizes, DnnInput<T> x, DnnInput<T> y,
                 DnnOutput<T> result, void* workspace, std::size_t bytes, Each each) {
  T* const mine = static_cast<T*>(workspace);
  const auto mine_count = static_cast<std::int64_t>(bytes / sizeof(T));
  const auto use_workspace = [=] {
    for (std::int64_t i = 0; i < mine_count; ++i) mine[i] = T(i);
  };
  const auto multiply = [=] {
    use_workspace();
    std::vector<double> sums(static_cast<std::size_t>(result.count));
    nets_test::ForEachProduct(sizes, [&](std::size_t image, std::size_t weight, std::size_t map) {
      const auto [i, j, k] = each(image, weight, map);
      sums[k] += static_cast<double>(x.elements[i]) * static_cast<double>(y.elements[j]);
    });
    for (std::size_t k = 0; k < sums.size(); ++k) result.Blend(k, sums[k]);
    use_workspace();
  };
  return DnnQueue(
      handle,
      {{x.elements, x.count}, {y.elements, y.count}, {result.elements, result.count}, {mine, mine_count}},
      multiply);
}

/// What each() of DnnMultiply says, for each of the three maps.
inline constexpr auto kToMaps = [](auto image, auto weight, auto map) {
  return std::tuple(image, weight, map);
};
inline constexpr auto kToImages = [](auto image, auto weight, auto map) {
  return std::tuple(weight, map, image);
};
inline constexpr auto kToWeights = [](auto image, auto weight, auto map) {
  return std::tuple(image, map, weight);
};

/// The sums of each channel.
template <class T>
bool DnnSumChannels(const DnnHandle& handle, const DnnTensor& tensor, DnnInput<T> from, DnnOutput<T> result) {
  return DnnQueue(handle, {{from.elements, from.count}, {result.elements, result.count}}, [=] {
    std::vector<double> sums(static_cast<std::size_t>(result.count));
    for (std::int64_t i = 0; i < from.count; ++i) sums[tensor.ChannelOf(i)] += from.elements[i];
    for (std::size_t k = 0; k < sums.size(); ++k) result.Blend(k, sums[k]);
  });
}

/// `from`, which has the shape of the result or an element for each of its channels.
template <class T>
bool DnnAdd(const DnnHandle& handle, DnnInput<T> from, const DnnTensor& tensor, DnnOutput<T> result) {
  const bool channels = from.count != result.count;
  simulated::Expect(!channels || from.count == tensor.c, __func__);
  return DnnQueue(handle, {{from.elements, from.count}, {result.elements, result.count}}, [=] {
    for (std::int64_t i = 0; i < result.count; ++i) {
      const auto element = static_cast<std::size_t>(i);
      result.Blend(element, from.elements[channels ? tensor.ChannelOf(i) : element]);
    }
  });
}

}  // namespace ferry::testing
