// SPDX-License-Identifier: BSD-2-Clause
// Convolutions by MIOpen, in its immediate mode: nothing is measured.
#include "backends/gpu/convolution.hpp"

#include <array>
#include <type_traits>

#include "backends/hip/dnn.hpp"
#include "backends/hip/hip_runtime.hpp"
#include "ferry/detail/device_convolution.hpp"

namespace ferry::hip {
namespace {

using detail::DeviceConvolutionSizes;
using Dnn = gpu::LibraryHandle<DnnNames>;

bool Has(const char* call, miopenStatus_t status) { return gpu::Has<DnnNames>(call, status); }

using Tensor = gpu::Descriptor<DnnNames, miopenTensorDescriptor_t, miopenCreateTensorDescriptor,
                               miopenDestroyTensorDescriptor>;
using Window = gpu::Descriptor<DnnNames, miopenConvolutionDescriptor_t, miopenCreateConvolutionDescriptor,
                               miopenDestroyConvolutionDescriptor>;

/// The arrays of a convolution of floats, and how they belong together.
struct Descriptors {
  Tensor images, maps, bias, weights;
  Window window;

  /// False where MIOpen has no such convolution.
  bool Set(const DeviceConvolutionSizes& sizes) {
    const auto& [h, w] = sizes.axes;
    // As miopen.h says of groups.
    if (sizes.groups > 1 && (h.dilation > 1 || w.dilation > 1)) return false;
    const auto tensor = [](const Tensor& its, int n, int channels, int height, int width) {
      return Has("Set4dTensorDescriptor",
                 miopenSet4dTensorDescriptor(its.get(), miopenFloat, n, channels, height, width));
    };
    return tensor(images, sizes.images, sizes.in_channels, h.image, w.image) &&
           tensor(maps, sizes.images, sizes.out_channels, h.map, w.map) &&
           tensor(bias, 1, sizes.out_channels, 1, 1) &&
           tensor(weights, sizes.out_channels, sizes.in_channels / sizes.groups, h.kernel, w.kernel) &&
           Has("InitConvolutionDescriptor",
               miopenInitConvolutionDescriptor(window.get(), miopenConvolution, h.pad, w.pad, h.stride,
                                               w.stride, h.dilation, w.dilation)) &&
           Has("SetConvolutionGroupCount", miopenSetConvolutionGroupCount(window.get(), sizes.groups)) &&
           Has("SetConvolutionAttribute",
               miopenSetConvolutionAttribute(window.get(), MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC, 1));
  }
};

/// MIOpen's functions for a map.
template <class Map>
struct Functions;
template <>
struct Functions<gpu::ToMaps> {
  static constexpr const char* kName = "ConvolutionForwardImmediate";
  static constexpr auto kFind = &miopenConvolutionForwardGetSolution;
  static constexpr auto kCompile = &miopenConvolutionForwardCompileSolution;
  static constexpr auto kRun = &miopenConvolutionForwardImmediate;
};
template <>
struct Functions<gpu::ToImages> {
  static constexpr const char* kName = "ConvolutionBackwardDataImmediate";
  static constexpr auto kFind = &miopenConvolutionBackwardDataGetSolution;
  static constexpr auto kCompile = &miopenConvolutionBackwardDataCompileSolution;
  static constexpr auto kRun = &miopenConvolutionBackwardDataImmediate;
};
template <>
struct Functions<gpu::ToWeights> {
  static constexpr const char* kName = "ConvolutionBackwardWeightsImmediate";
  static constexpr auto kFind = &miopenConvolutionBackwardWeightsGetSolution;
  static constexpr auto kCompile = &miopenConvolutionBackwardWeightsCompileSolution;
  static constexpr auto kRun = &miopenConvolutionBackwardWeightsImmediate;
};

/// T is float. MIOpen's maps overwrite: gradients of weights and of the bias, one after the other, lie behind
/// MIOpen's workspace before they are added. Of what a map reads MIOpen takes the second first.
template <class T, class Map>
class Convolution final : public detail::DeviceConvolution<T> {
  using Calls = Functions<Map>;

 public:
  bool Set(const Stream& on, const DeviceConvolutionSizes& sizes) {
    if (!its_.Set(sizes) || !Choose(*Dnn::For(on), gpu::MostWorkspace<T>(sizes))) return false;
    const auto& [h, w] = sizes.axes;
    if (Map::kAdds)
      gradient_ = std::int64_t{sizes.out_channels} * (sizes.in_channels / sizes.groups) * h.kernel * w.kernel;
    return true;
  }

  std::int64_t workspace() const noexcept override { return GradientAt() + gradient_; }

  void Run(const Stream& on, const detail::DeviceConvolutionArrays<T>& arrays) const override {
    const gpu::CurrentDevice current(on);
    const auto dnn = Dnn::For(on);
    T* const gradient = arrays.workspace + GradientAt();
    const auto [second, first, result] = Order();
    const auto [y, x, z] = Map::Order(arrays.images, arrays.weights, arrays.maps);
    dnn->Call(Calls::kName, Calls::kRun, first, x, second, y, its_.window.get(), result,
              Map::kAdds ? gradient : z, bytes_ == 0 ? nullptr : arrays.workspace, bytes_, solution_);
    if constexpr (Map::kAdds) Add(*dnn, its_.weights, gradient, its_.weights, z);
    if (arrays.bias == nullptr) return;
    if constexpr (Map::kAdds) {
      const T one = 1, zero = 0;
      dnn->Call("ConvolutionBackwardBias", miopenConvolutionBackwardBias, &one, its_.maps.get(), arrays.maps,
                &zero, its_.bias.get(), gradient);
      Add(*dnn, its_.bias, gradient, its_.bias, arrays.bias);
    } else {
      Add(*dnn, its_.bias, arrays.bias, its_.maps, z);
    }
  }

 private:
  auto Order() const { return Map::Order(its_.images.get(), its_.weights.get(), its_.maps.get()); }

  /// As device memory is aligned.
  std::int64_t GradientAt() const noexcept {
    constexpr std::size_t kAligned = 256;
    return gpu::Elements<T>((bytes_ + kAligned - 1) / kAligned * kAligned);
  }

  /// Adds to y.
  static void Add(Dnn& dnn, const Tensor& x_tensor, const T* x, const Tensor& y_tensor, T* y) {
    const T one = 1, zero = 0;
    dnn.Call("OpTensor", miopenOpTensor, miopenTensorOpAdd, &one, y_tensor.get(), y, &one, x_tensor.get(), x,
             &zero, y_tensor.get(), y);
  }

  /// The fastest, as MIOpen guesses. Implicit GEMM is left out: some of its solutions have added in any order
  /// in spite of the attribute. What is chosen is compiled now, so that no run on this stream has to wait for
  /// it.
  bool Choose(Dnn& dnn, std::size_t most) {
    std::array<miopenConvSolution_t, 64> found;
    std::size_t count = 0;
    const auto [second, first, result] = Order();
    if (!Has("ConvolutionGetSolution", dnn.Ask(Calls::kFind, first, second, its_.window.get(), result,
                                               found.size(), &count, found.data())))
      return false;
    for (std::size_t i = 0; i < count; ++i) {
      const miopenConvSolution_t& candidate = found[i];
      if (candidate.algorithm == miopenConvolutionAlgoImplicitGEMM || candidate.workspace_size > most)
        continue;
      solution_ = candidate.solution_id, bytes_ = candidate.workspace_size;
      dnn.Call("ConvolutionCompileSolution", Calls::kCompile, first, second, its_.window.get(), result,
               solution_);
      return true;
    }
    return false;
  }

  Descriptors its_;
  std::uint64_t solution_ = 0;
  std::size_t bytes_ = 0;      ///< of MIOpen's workspace
  std::int64_t gradient_ = 0;  ///< elements
};

}  // namespace
}  // namespace ferry::hip

namespace ferry::detail {

bool HasDeviceConvolution(const DeviceProperties& device) noexcept {
  return device.backend == hip::HipRuntime::kName;
}

template <Real T>
std::unique_ptr<DeviceConvolution<T>> MakeDeviceConvolution(
    [[maybe_unused]] const Stream& on, [[maybe_unused]] ConvolutionMap map,
    [[maybe_unused]] const DeviceConvolutionSizes& sizes) {
  if constexpr (std::is_same_v<T, float>)
    return gpu::MakeConvolution<hip::Convolution, T>(on, map, sizes);
  else
    return nullptr;  // MIOpen convolves no doubles
}

template std::unique_ptr<DeviceConvolution<float>> MakeDeviceConvolution(const Stream&, ConvolutionMap,
                                                                         const DeviceConvolutionSizes&);
template std::unique_ptr<DeviceConvolution<double>> MakeDeviceConvolution(const Stream&, ConvolutionMap,
                                                                          const DeviceConvolutionSizes&);

}  // namespace ferry::detail
