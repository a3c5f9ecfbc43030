// SPDX-License-Identifier: BSD-2-Clause
// Convolutions by cuDNN.
#include <algorithm>
#include <array>
#include <tuple>
#include <type_traits>

#include "backends/cuda/cuda_runtime.hpp"
#include "backends/cuda/dnn.hpp"
#include "backends/gpu/library_handle.hpp"
#include "ferry/detail/device_convolution.hpp"

namespace ferry::cuda {
namespace {

using detail::DeviceConvolutionArrays;
using detail::DeviceConvolutionSizes;
using Dnn = gpu::LibraryHandle<DnnNames>;

/// Whether cuDNN has what it was asked for. Throws DeviceError where that is not what the status says.
bool Has(const char* call, cudnnStatus_t status) {
  const int category = CUDNN_STATUS_CATEGORY(status);
  if (category == CUDNN_STATUS_BAD_PARAM || category == CUDNN_STATUS_NOT_SUPPORTED) return false;
  Dnn::Check(call, status);
  return true;
}

/// One of cuDNN's descriptors.
template <class Type, auto kCreate, auto kDestroy>
class Descriptor {
 public:
  Descriptor() { Dnn::Check("CreateDescriptor", kCreate(&its_)); }
  ~Descriptor() { (void)kDestroy(its_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  Type get() const noexcept { return its_; }

 private:
  Type its_{};
};
using Tensor = Descriptor<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>;
using Filter = Descriptor<cudnnFilterDescriptor_t, cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor>;
using Window = Descriptor<cudnnConvolutionDescriptor_t, cudnnCreateConvolutionDescriptor,
                          cudnnDestroyConvolutionDescriptor>;

/// The arrays of a convolution, and how they belong together.
struct Descriptors {
  Tensor images, maps, bias;
  Filter weights;
  Window window;

  /// False where cuDNN has no such convolution.
  bool Set(cudnnDataType_t type, const DeviceConvolutionSizes& sizes) {
    const auto& [h, w] = sizes.axes;
    const auto tensor = [&](const Tensor& its, int n, int channels, int height, int width) {
      return Has("SetTensor4dDescriptor",
                 cudnnSetTensor4dDescriptor(its.get(), CUDNN_TENSOR_NCHW, type, n, channels, height, width));
    };
    return tensor(images, sizes.images, sizes.in_channels, h.image, w.image) &&
           tensor(maps, sizes.images, sizes.out_channels, h.map, w.map) &&
           tensor(bias, 1, sizes.out_channels, 1, 1) &&
           Has("SetFilter4dDescriptor",
               cudnnSetFilter4dDescriptor(weights.get(), type, CUDNN_TENSOR_NCHW, sizes.out_channels,
                                          sizes.in_channels / sizes.groups, h.kernel, w.kernel)) &&
           Has("SetConvolution2dDescriptor",
               cudnnSetConvolution2dDescriptor(window.get(), h.pad, w.pad, h.stride, w.stride, h.dilation,
                                               w.dilation, CUDNN_CROSS_CORRELATION, type)) &&
           Has("SetConvolutionGroupCount", cudnnSetConvolutionGroupCount(window.get(), sizes.groups)) &&
           // By default floats lose 13 bits before they are multiplied.
           (type != CUDNN_DATA_FLOAT ||
            Has("SetConvolutionMathType", cudnnSetConvolutionMathType(window.get(), CUDNN_FMA_MATH)));
  }
};

/// What cuDNN calls a map: its functions, and in which order they take what is read and what is written.
struct ToMaps {
  using Found = cudnnConvolutionFwdAlgoPerf_t;
  static constexpr const char* kName = "ConvolutionForward";
  static constexpr auto kFind = &cudnnGetConvolutionForwardAlgorithm_v7;
  static constexpr auto kWorkspace = &cudnnGetConvolutionForwardWorkspaceSize;
  static constexpr auto kRun = &cudnnConvolutionForward;
  static constexpr bool kAdds = false;
  static auto Order(auto images, auto weights, auto maps) { return std::tuple(images, weights, maps); }
};
struct ToImages {
  using Found = cudnnConvolutionBwdDataAlgoPerf_t;
  static constexpr const char* kName = "ConvolutionBackwardData";
  static constexpr auto kFind = &cudnnGetConvolutionBackwardDataAlgorithm_v7;
  static constexpr auto kWorkspace = &cudnnGetConvolutionBackwardDataWorkspaceSize;
  static constexpr auto kRun = &cudnnConvolutionBackwardData;
  static constexpr bool kAdds = false;
  static auto Order(auto images, auto weights, auto maps) { return std::tuple(weights, maps, images); }
};
struct ToWeights {
  using Found = cudnnConvolutionBwdFilterAlgoPerf_t;
  static constexpr const char* kName = "ConvolutionBackwardFilter";
  static constexpr auto kFind = &cudnnGetConvolutionBackwardFilterAlgorithm_v7;
  static constexpr auto kWorkspace = &cudnnGetConvolutionBackwardFilterWorkspaceSize;
  static constexpr auto kRun = &cudnnConvolutionBackwardFilter;
  static constexpr bool kAdds = true;
  static auto Order(auto images, auto weights, auto maps) { return std::tuple(images, maps, weights); }
};

/// As much as images and maps have, and always what Caffe gives.
template <class T>
std::size_t MostWorkspace(const DeviceConvolutionSizes& sizes) {
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

template <class T, class Map>
class Convolution final : public detail::DeviceConvolution<T> {
 public:
  /// False where cuDNN has no such convolution. The device is the current one.
  bool Set(Dnn& dnn, const DeviceConvolutionSizes& sizes) {
    constexpr auto kType = std::is_same_v<T, float> ? CUDNN_DATA_FLOAT : CUDNN_DATA_DOUBLE;
    return its_.Set(kType, sizes) && Choose(dnn, MostWorkspace<T>(sizes));
  }

  std::int64_t workspace() const noexcept override {
    return static_cast<std::int64_t>((workspace_ + sizeof(T) - 1) / sizeof(T));
  }

  void Run(const Stream& on, const DeviceConvolutionArrays<T>& arrays) const override {
    const gpu::CurrentDevice current(on);
    const auto dnn = Dnn::For(on);
    const T one = 1, beta = Map::kAdds ? 1 : 0;
    const auto [first, second, result] = Order();
    const auto [x, y, z] = Map::Order(arrays.images, arrays.weights, arrays.maps);
    dnn->Call(Map::kName, Map::kRun, &one, first, x, second, y, its_.window.get(), algorithm_,
              arrays.workspace, workspace_, &beta, result, z);
    if (arrays.bias == nullptr) return;
    if constexpr (Map::kAdds)
      dnn->Call("ConvolutionBackwardBias", cudnnConvolutionBackwardBias, &one, its_.maps.get(), arrays.maps,
                &one, its_.bias.get(), arrays.bias);
    else
      dnn->Call("AddTensor", cudnnAddTensor, &one, its_.bias.get(), arrays.bias, &one, its_.maps.get(),
                arrays.maps);
  }

 private:
  auto Order() const { return Map::Order(its_.images.get(), its_.weights.get(), its_.maps.get()); }

  /// The fastest, as cuDNN guesses: what is measured would be another one on another run.
  bool Choose(Dnn& dnn, std::size_t most) {
    std::array<typename Map::Found, 16> found;
    int count = 0;
    const auto [first, second, result] = Order();
    if (!Has("GetConvolutionAlgorithm", dnn.Ask(Map::kFind, first, second, its_.window.get(), result,
                                                static_cast<int>(found.size()), &count, found.data())))
      return false;
    for (int i = 0; i < count; ++i) {
      const auto& candidate = found[static_cast<std::size_t>(i)];
      if (candidate.status != CUDNN_STATUS_SUCCESS || candidate.determinism != CUDNN_DETERMINISTIC) continue;
      algorithm_ = candidate.algo;
      if (Has("GetConvolutionWorkspaceSize",
              dnn.Ask(Map::kWorkspace, first, second, its_.window.get(), result, algorithm_, &workspace_)) &&
          workspace_ <= most)
        return true;
    }
    return false;
  }

  Descriptors its_;
  decltype(Map::Found::algo) algorithm_{};
  std::size_t workspace_ = 0;
};

template <class T, class Map>
std::unique_ptr<detail::DeviceConvolution<T>> Make(const Stream& on, const DeviceConvolutionSizes& sizes) {
  const gpu::CurrentDevice current(on);
  auto made = std::make_unique<Convolution<T, Map>>();
  if (!made->Set(*Dnn::For(on), sizes)) made.reset();
  return made;
}

}  // namespace
}  // namespace ferry::cuda

namespace ferry::detail {

bool HasDeviceConvolution(const DeviceProperties& device) noexcept {
  return device.backend == cuda::CudaRuntime::kName;
}

template <Real T>
std::unique_ptr<DeviceConvolution<T>> MakeDeviceConvolution(const Stream& on, ConvolutionMap map,
                                                            const DeviceConvolutionSizes& sizes) {
  switch (map) {
    case ConvolutionMap::kToMaps:
      return cuda::Make<T, cuda::ToMaps>(on, sizes);
    case ConvolutionMap::kToImages:
      return cuda::Make<T, cuda::ToImages>(on, sizes);
    case ConvolutionMap::kToWeights:
      break;
  }
  return cuda::Make<T, cuda::ToWeights>(on, sizes);
}

template std::unique_ptr<DeviceConvolution<float>> MakeDeviceConvolution(const Stream&, ConvolutionMap,
                                                                         const DeviceConvolutionSizes&);
template std::unique_ptr<DeviceConvolution<double>> MakeDeviceConvolution(const Stream&, ConvolutionMap,
                                                                          const DeviceConvolutionSizes&);

}  // namespace ferry::detail
