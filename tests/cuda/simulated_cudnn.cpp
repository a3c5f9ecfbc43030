// SPDX-License-Identifier: BSD-2-Clause
// cuDNN's functions that Ferry calls, made of plain loops on the simulated GPU. Of the algorithms that it
// offers for a convolution one alone is right: the others have other bits on each run, cannot be run, or need
// more memory than there is. It has none for three groups.
#include <cudnn.h>

#include <functional>
#include <tuple>
#include <type_traits>
#include <vector>

#include "tests/gpu/simulated.hpp"
#include "tests/nets/plain_convolution.hpp"

using ferry::Touch;
using ferry::simulated::Expect;

struct cudnnContext {
  int device;
  cudaStream_t stream;
};
struct cudnnTensorStruct {
  cudnnDataType_t type;
  int n, c, h, w;

  std::int64_t Count() const { return std::int64_t{n} * c * h * w; }
  std::size_t ChannelOf(std::int64_t element) const {
    return static_cast<std::size_t>(element / (h * w) % c);
  }
};
struct cudnnFilterStruct : cudnnTensorStruct {};
struct cudnnConvolutionStruct {
  std::int64_t pad[2], stride[2], dilation[2];
  cudnnDataType_t type;
  int groups = 1;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};

namespace {

constexpr int kRight = 1, kTooLarge = 3;
constexpr std::size_t kWorkspace = 1000;

/// A library's handle is for the device that was current when it was made.
void CheckHandle(cudnnHandle_t handle, const char* call) {
  Expect(ferry::sim::CurrentDevice() == handle->device, call);
}

ferry::detail::ConvolutionSizes SizesOf(cudnnTensorDescriptor_t images, cudnnFilterDescriptor_t weights,
                                        cudnnConvolutionDescriptor_t by, cudnnTensorDescriptor_t maps) {
  Expect(images->type == maps->type && images->type == weights->type && images->type == by->type, __func__);
  Expect(images->type == CUDNN_DATA_DOUBLE || by->math == CUDNN_FMA_MATH, __func__);
  ferry::detail::ConvolutionSizes sizes;
  sizes.images = images->n, sizes.in_channels = images->c, sizes.out_channels = maps->c;
  sizes.groups = by->groups;
  sizes.window.axes = 2;
  for (int axis = 0; axis < 2; ++axis) {
    sizes.window.kernel[axis] = axis == 0 ? weights->h : weights->w;
    sizes.window.stride[axis] = by->stride[axis], sizes.window.pad[axis] = by->pad[axis];
    sizes.window.dilation[axis] = by->dilation[axis];
  }
  const std::int64_t image[] = {images->h, images->w};
  Expect(sizes.window.SetImage(image).empty() && sizes.MapCount() * images->n == maps->Count() &&
             maps->n == images->n && weights->n == maps->c &&
             sizes.out_channels * sizes.KernelCount() == weights->Count(),
         __func__);
  return sizes;
}

template <class Found>
cudnnStatus_t Offer(cudnnHandle_t handle, const ferry::detail::ConvolutionSizes& sizes, int most, int* count,
                    Found* found) {
  CheckHandle(handle, __func__);
  if (sizes.groups == 3) return CUDNN_STATUS_NOT_SUPPORTED_SHAPE;
  const auto offer = [&](int algorithm, cudnnStatus_t status, cudnnDeterminism_t determinism) {
    Expect(*count < most, "cudnnGetConvolutionAlgorithm_v7");
    Found its{};
    its.algo = static_cast<decltype(its.algo)>(algorithm);
    its.status = status;
    its.determinism = determinism;
    found[(*count)++] = its;
  };
  *count = 0;
  offer(0, CUDNN_STATUS_SUCCESS, CUDNN_NON_DETERMINISTIC);
  offer(2, CUDNN_STATUS_NOT_SUPPORTED, CUDNN_DETERMINISTIC);
  offer(kTooLarge, CUDNN_STATUS_SUCCESS, CUDNN_DETERMINISTIC);
  offer(kRight, CUDNN_STATUS_SUCCESS, CUDNN_DETERMINISTIC);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t Measure(cudnnHandle_t handle, int algorithm, std::size_t* bytes) {
  CheckHandle(handle, __func__);
  *bytes = algorithm == kTooLarge ? std::size_t{1} << 40 : kWorkspace;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t Queue(cudnnHandle_t handle, std::vector<Touch> touches, std::function<void()> work) {
  CheckHandle(handle, __func__);
  const auto error = ferry::simulated::Attempt([&] {
    ferry::sim::LaunchHostCode(handle->device, ferry::simulated::Handle(handle->stream), std::move(touches),
                               std::move(work));
  });
  return error == ferry::sim::SimRuntime::kSuccess ? CUDNN_STATUS_SUCCESS
                                                   : CUDNN_STATUS_EXECUTION_FAILED_CUDART;
}

/// Calls use(T()) for the type of elements.
template <class Use>
cudnnStatus_t WithType(cudnnDataType_t type, const Use& use) {
  return type == CUDNN_DATA_FLOAT ? use(float{}) : use(double{});
}

struct Input {
  const void* elements;
  std::int64_t count;
};
/// What is added up, times alpha, is added to these, times beta. They are not read for a beta of 0.
struct Output {
  void* elements;
  std::int64_t count;
  const void *alpha, *beta;

  /// For elements of type T, with the factors as they are now.
  template <class T>
  auto Blend() const {
    return [to = static_cast<T*>(elements), a = *static_cast<const T*>(alpha),
            b = *static_cast<const T*>(beta)](std::size_t i, double sum) {
      to[i] = static_cast<T>(static_cast<double>(a) * sum + (b == 0 ? 0 : static_cast<double>(b * to[i])));
    };
  }
};

/// To result[k], the sum of x[i] * y[j] over the i, j and k that each() says for each product.
template <class Each>
cudnnStatus_t Multiply(cudnnHandle_t handle, const ferry::detail::ConvolutionSizes& sizes,
                       cudnnDataType_t type, Input x, Input y, Output result, int algorithm, void* workspace,
                       std::size_t bytes, Each each) {
  Expect(algorithm == kRight && bytes == kWorkspace, __func__);
  return WithType(type, [&](auto zero) {
    using T = decltype(zero);
    const auto *const a = static_cast<const T*>(x.elements), *const b = static_cast<const T*>(y.elements);
    auto *const to = static_cast<T*>(result.elements), *const mine = static_cast<T*>(workspace);
    const std::int64_t mine_count = kWorkspace / sizeof(T);
    return Queue(handle, {{a, x.count}, {b, y.count}, {to, result.count}, {mine, mine_count}},
                 [=, n = static_cast<std::size_t>(result.count), blend = result.Blend<T>()] {
                   for (std::int64_t i = 0; i < mine_count; ++i) mine[i] = T(i);
                   std::vector<double> sums(n);
                   ferry::nets_test::ForEachProduct(
                       sizes, [&](std::size_t image, std::size_t weight, std::size_t map) {
                         const auto [i, j, k] = each(image, weight, map);
                         sums[k] += static_cast<double>(a[i]) * static_cast<double>(b[j]);
                       });
                   for (std::size_t k = 0; k < n; ++k) blend(k, sums[k]);
                 });
  });
}

template <class Descriptor>
cudnnStatus_t Create(Descriptor** descriptor) {
  return *descriptor = new Descriptor{}, CUDNN_STATUS_SUCCESS;
}
template <class Descriptor>
cudnnStatus_t Destroy(Descriptor* descriptor) {
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

const char* cudnnGetErrorString(cudnnStatus_t) { return "an error of the simulated cuDNN"; }
cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  return *handle = new cudnnContext{ferry::sim::CurrentDevice(), nullptr}, CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) { return Destroy(handle); }
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  return handle->stream = stream, CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* its) { return Create(its); }
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t its) { return Destroy(its); }
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t its, cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int n, int c, int h, int w) {
  Expect(format == CUDNN_TENSOR_NCHW, __func__);
  return *its = {type, n, c, h, w}, CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* its) { return Create(its); }
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t its) { return Destroy(its); }
cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t its, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int k, int c, int h, int w) {
  Expect(format == CUDNN_TENSOR_NCHW, __func__);
  return *its = {{type, k, c, h, w}}, CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* its) { return Create(its); }
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t its) { return Destroy(its); }
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t its, int pad_h, int pad_w,
                                              int stride_h, int stride_w, int dilation_h, int dilation_w,
                                              cudnnConvolutionMode_t mode, cudnnDataType_t type) {
  Expect(mode == CUDNN_CROSS_CORRELATION, __func__);
  *its = {{pad_h, pad_w}, {stride_h, stride_w}, {dilation_h, dilation_w}, type};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t its, int groups) {
  return its->groups = groups, CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t its, cudnnMathType_t math) {
  return its->math = math, CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t handle, cudnnTensorDescriptor_t x,
                                                     cudnnFilterDescriptor_t w,
                                                     cudnnConvolutionDescriptor_t by,
                                                     cudnnTensorDescriptor_t y, int most, int* count,
                                                     cudnnConvolutionFwdAlgoPerf_t* found) {
  return Offer(handle, SizesOf(x, w, by, y), most, count, found);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnnHandle_t handle, cudnnFilterDescriptor_t w,
                                                          cudnnTensorDescriptor_t dy,
                                                          cudnnConvolutionDescriptor_t by,
                                                          cudnnTensorDescriptor_t dx, int most, int* count,
                                                          cudnnConvolutionBwdDataAlgoPerf_t* found) {
  return Offer(handle, SizesOf(dx, w, by, dy), most, count, found);
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(cudnnHandle_t handle, cudnnTensorDescriptor_t x,
                                                            cudnnTensorDescriptor_t dy,
                                                            cudnnConvolutionDescriptor_t by,
                                                            cudnnFilterDescriptor_t dw, int most, int* count,
                                                            cudnnConvolutionBwdFilterAlgoPerf_t* found) {
  return Offer(handle, SizesOf(x, dw, by, dy), most, count, found);
}

cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t handle, cudnnTensorDescriptor_t,
                                                      cudnnFilterDescriptor_t, cudnnConvolutionDescriptor_t,
                                                      cudnnTensorDescriptor_t,
                                                      cudnnConvolutionFwdAlgo_t algorithm,
                                                      std::size_t* bytes) {
  return Measure(handle, algorithm, bytes);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t handle, cudnnFilterDescriptor_t, cudnnTensorDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnTensorDescriptor_t, cudnnConvolutionBwdDataAlgo_t algorithm, std::size_t* bytes) {
  return Measure(handle, algorithm, bytes);
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t handle, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnFilterDescriptor_t, cudnnConvolutionBwdFilterAlgo_t algorithm, std::size_t* bytes) {
  return Measure(handle, algorithm, bytes);
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void* alpha, cudnnTensorDescriptor_t x_desc,
                                      const void* x, cudnnFilterDescriptor_t w_desc, const void* w,
                                      cudnnConvolutionDescriptor_t by, cudnnConvolutionFwdAlgo_t algorithm,
                                      void* workspace, std::size_t bytes, const void* beta,
                                      cudnnTensorDescriptor_t y_desc, void* y) {
  return Multiply(handle, SizesOf(x_desc, w_desc, by, y_desc), by->type, {x, x_desc->Count()},
                  {w, w_desc->Count()}, {y, y_desc->Count(), alpha, beta}, algorithm, workspace, bytes,
                  [](auto image, auto weight, auto map) { return std::tuple(image, weight, map); });
}
cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void* alpha,
                                           cudnnFilterDescriptor_t w_desc, const void* w,
                                           cudnnTensorDescriptor_t dy_desc, const void* dy,
                                           cudnnConvolutionDescriptor_t by,
                                           cudnnConvolutionBwdDataAlgo_t algorithm, void* workspace,
                                           std::size_t bytes, const void* beta,
                                           cudnnTensorDescriptor_t dx_desc, void* dx) {
  return Multiply(handle, SizesOf(dx_desc, w_desc, by, dy_desc), by->type, {w, w_desc->Count()},
                  {dy, dy_desc->Count()}, {dx, dx_desc->Count(), alpha, beta}, algorithm, workspace, bytes,
                  [](auto image, auto weight, auto map) { return std::tuple(weight, map, image); });
}
cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void* alpha,
                                             cudnnTensorDescriptor_t x_desc, const void* x,
                                             cudnnTensorDescriptor_t dy_desc, const void* dy,
                                             cudnnConvolutionDescriptor_t by,
                                             cudnnConvolutionBwdFilterAlgo_t algorithm, void* workspace,
                                             std::size_t bytes, const void* beta,
                                             cudnnFilterDescriptor_t dw_desc, void* dw) {
  return Multiply(handle, SizesOf(x_desc, dw_desc, by, dy_desc), by->type, {x, x_desc->Count()},
                  {dy, dy_desc->Count()}, {dw, dw_desc->Count(), alpha, beta}, algorithm, workspace, bytes,
                  [](auto image, auto weight, auto map) { return std::tuple(image, map, weight); });
}

cudnnStatus_t cudnnConvolutionBackwardBias(cudnnHandle_t handle, const void* alpha,
                                           cudnnTensorDescriptor_t dy_desc, const void* dy, const void* beta,
                                           cudnnTensorDescriptor_t db_desc, void* db) {
  return WithType(dy_desc->type, [&, y = *dy_desc](auto zero) {
    using T = decltype(zero);
    const Output result{db, db_desc->Count(), alpha, beta};
    const auto* const from = static_cast<const T*>(dy);
    return Queue(handle, {{from, y.Count()}, {static_cast<T*>(db), result.count}},
                 [=, n = static_cast<std::size_t>(result.count), blend = result.Blend<T>()] {
                   std::vector<double> sums(n);
                   for (std::int64_t i = 0; i < y.Count(); ++i) sums[y.ChannelOf(i)] += from[i];
                   for (std::size_t k = 0; k < n; ++k) blend(k, sums[k]);
                 });
  });
}
cudnnStatus_t cudnnAddTensor(cudnnHandle_t handle, const void* alpha, cudnnTensorDescriptor_t b_desc,
                             const void* b, const void* beta, cudnnTensorDescriptor_t y_desc, void* y) {
  return WithType(b_desc->type, [&, to = *y_desc](auto zero) {
    using T = decltype(zero);
    const Output result{y, to.Count(), alpha, beta};
    const auto* const from = static_cast<const T*>(b);
    return Queue(handle, {{from, b_desc->Count()}, {static_cast<T*>(y), result.count}},
                 [=, blend = result.Blend<T>()] {
                   for (std::int64_t i = 0; i < to.Count(); ++i)
                     blend(static_cast<std::size_t>(i), from[to.ChannelOf(i)]);
                 });
  });
}

}  // extern "C"
