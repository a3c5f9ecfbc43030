// SPDX-License-Identifier: BSD-2-Clause
// Convolutions by cuDNN.
#include "backends/gpu/convolution.hpp"

#include <array>
#include <type_traits>

#include "backends/cuda/cuda_runtime.hpp"
#include "backends/cuda/dnn.hpp"
#include "ferry/detail/device_convolution.hpp"

namespace ferry::cuda {
namespace {

using detail::DeviceConvolutionArrays;
using detail::DeviceConvolutionSizes;
using Dnn = gpu::LibraryHandle<DnnNames>;

bool Has(const char* call, cudnnStatus_t status) { return gpu::Has<DnnNames>(call, status); }

using Tensor = gpu::Descriptor<DnnNames, cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor,
                               cudnnDestroyTensorDescriptor>;
using Filter = gpu::Descriptor<DnnNames, cudnnFilterDescriptor_t, cudnnCreateFilterDescriptor,
                               cudnnDestroyFilterDescriptor>;
using Window = gpu::Descriptor<DnnNames, cudnnConvolutionDescriptor_t, cudnnCreateConvolutionDescriptor,
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

/// cuDNN's functions for a map.
template <class Map>
struct Functions;
template <>
struct Functions<gpu::ToMaps> {
  using Found = cudnnConvolutionFwdAlgoPerf_t;
  static constexpr const char* kName = "ConvolutionForward";
  static constexpr auto kFind = &cudnnGetConvolutionForwardAlgorithm_v7;
  static constexpr auto kWorkspace = &cudnnGetConvolutionForwardWorkspaceSize;
  static constexpr auto kRun = &cudnnConvolutionForward;
};
template <>
struct Functions<gpu::ToImages> {
  using Found = cudnnConvolutionBwdDataAlgoPerf_t;
  static constexpr const char* kName = "ConvolutionBackwardData";
  static constexpr auto kFind = &cudnnGetConvolutionBackwardDataAlgorithm_v7;
  static constexpr auto kWorkspace = &cudnnGetConvolutionBackwardDataWorkspaceSize;
  static constexpr auto kRun = &cudnnConvolutionBackwardData;
};
template <>
struct Functions<gpu::ToWeights> {
  using Found = cudnnConvolutionBwdFilterAlgoPerf_t;
  static constexpr const char* kName = "ConvolutionBackwardFilter";
  static constexpr auto kFind = &cudnnGetConvolutionBackwardFilterAlgorithm_v7;
  static constexpr auto kWorkspace = &cudnnGetConvolutionBackwardFilterWorkspaceSize;
  static constexpr auto kRun = &cudnnConvolutionBackwardFilter;
};

template <class T, class Map>
class Convolution final : public detail::DeviceConvolution<T> {
  using Calls = Functions<Map>;

 public:
  bool Set(const Stream& on, const DeviceConvolutionSizes& sizes) {
    constexpr auto kType = std::is_same_v<T, float> ? CUDNN_DATA_FLOAT : CUDNN_DATA_DOUBLE;
    return its_.Set(kType, sizes) && Choose(*Dnn::For(on), gpu::MostWorkspace<T>(sizes));
  }

  std::int64_t workspace() const noexcept override { return gpu::Elements<T>(workspace_); }

  void Run(const Stream& on, const DeviceConvolutionArrays<T>& arrays) const override {
    const gpu::CurrentDevice current(on);
    const auto dnn = Dnn::For(on);
    const T one = 1, beta = Map::kAdds ? 1 : 0;
    const auto [first, second, result] = Order();
    const auto [x, y, z] = Map::Order(arrays.images, arrays.weights, arrays.maps);
    dnn->Call(Calls::kName, Calls::kRun, &one, first, x, second, y, its_.window.get(), algorithm_,
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
    std::array<typename Calls::Found, 16> found;
    int count = 0;
    const auto [first, second, result] = Order();
    if (!Has("GetConvolutionAlgorithm", dnn.Ask(Calls::kFind, first, second, its_.window.get(), result,
                                                static_cast<int>(found.size()), &count, found.data())))
      return false;
    for (int i = 0; i < count; ++i) {
      const auto& candidate = found[static_cast<std::size_t>(i)];
      if (candidate.status != CUDNN_STATUS_SUCCESS || candidate.determinism != CUDNN_DETERMINISTIC) continue;
      algorithm_ = candidate.algo;
      if (Has("GetConvolutionWorkspaceSize", dnn.Ask(Calls::kWorkspace, first, second, its_.window.get(),
                                                     result, algorithm_, &workspace_)) &&
          workspace_ <= most)
        return true;
    }
    return false;
  }

  Descriptors its_;
  decltype(Calls::Found::algo) algorithm_{};
  std::size_t workspace_ = 0;
};

}  // namespace
}  // namespace ferry::cuda

namespace ferry::detail {

bool HasDeviceConvolution(const DeviceProperties& device) noexcept {
  return device.backend == cuda::CudaRuntime::kName;
}

template <Real T>
std::unique_ptr<DeviceConvolution<T>> MakeDeviceConvolution(const Stream& on, ConvolutionMap map,
                                                            const DeviceConvolutionSizes& sizes) {
  return gpu::MakeConvolution<cuda::Convolution, T>(on, map, sizes);
}

template std::unique_ptr<DeviceConvolution<float>> MakeDeviceConvolution(const Stream&, ConvolutionMap,
                                                                         const DeviceConvolutionSizes&);
template std::unique_ptr<DeviceConvolution<double>> MakeDeviceConvolution(const Stream&, ConvolutionMap,
                                                                          const DeviceConvolutionSizes&);

}  // namespace ferry::detail
