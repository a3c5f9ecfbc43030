// SPDX-License-Identifier: BSD-2-Clause
// cuDNN's functions that Ferry calls, made of plain loops on the simulated GPU. Of the algorithms that it
// offers for a convolution one alone is right: the others have other bits on each run, cannot be run, or need
// more memory than there is. It has none for three groups.
#include <cudnn.h>

#include <type_traits>

#include "tests/gpu/simulated_dnn.hpp"

using ferry::simulated::Expect;
using ferry::testing::DnnHandle;
using ferry::testing::DnnInput;
using ferry::testing::DnnOutput;
using ferry::testing::DnnTensor;
using ferry::testing::DnnWindow;

struct cudnnContext : DnnHandle {};
struct cudnnTensorStruct : DnnTensor {
  cudnnDataType_t type;
};
struct cudnnFilterStruct : cudnnTensorStruct {};
struct cudnnConvolutionStruct : DnnWindow {
  cudnnDataType_t type;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};

namespace {

constexpr int kRight = 1, kTooLarge = 3;
constexpr std::size_t kWorkspace = 1000;

ferry::detail::ConvolutionSizes SizesOf(cudnnTensorDescriptor_t images, cudnnFilterDescriptor_t weights,
                                        cudnnConvolutionDescriptor_t by, cudnnTensorDescriptor_t maps) {
  Expect(images->type == maps->type && images->type == weights->type && images->type == by->type, __func__);
  Expect(images->type == CUDNN_DATA_DOUBLE || by->math == CUDNN_FMA_MATH, __func__);
  return ferry::testing::DnnSizes(*images, *weights, *by, *maps);
}

template <class Found>
cudnnStatus_t Offer(cudnnHandle_t handle, const ferry::detail::ConvolutionSizes& sizes, int most, int* count,
                    Found* found) {
  handle->Check(__func__);
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
  handle->Check(__func__);
  *bytes = algorithm == kTooLarge ? std::size_t{1} << 40 : kWorkspace;
  return CUDNN_STATUS_SUCCESS;
}

/// Of queue(T()), which is called for the type of elements, and says whether it was queued.
template <class Queue>
cudnnStatus_t WithType(cudnnDataType_t type, const Queue& queue) {
  const bool queued = type == CUDNN_DATA_FLOAT ? queue(float{}) : queue(double{});
  return queued ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED_CUDART;
}

template <class Each>
cudnnStatus_t Multiply(cudnnHandle_t handle, const ferry::detail::ConvolutionSizes& sizes,
                       cudnnDataType_t type, const void* x, const DnnTensor& x_tensor, const void* y,
                       const DnnTensor& y_tensor, void* z, const DnnTensor& z_tensor, const void* alpha,
                       const void* beta, int algorithm, void* workspace, std::size_t bytes, Each each) {
  Expect(algorithm == kRight && bytes == kWorkspace, __func__);
  return WithType(type, [&](auto zero) {
    using T = decltype(zero);
    return ferry::testing::DnnMultiply(*handle, sizes, DnnInput<T>(x, x_tensor), DnnInput<T>(y, y_tensor),
                                       DnnOutput<T>(z, z_tensor, alpha, beta), workspace, bytes, each);
  });
}

using Objects = ferry::testing::DnnObjects<CUDNN_STATUS_SUCCESS>;

}  // namespace

extern "C" {

const char* cudnnGetErrorString(cudnnStatus_t) { return "an error of the simulated cuDNN"; }
cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) { return Objects::Create(handle); }
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) { return Objects::Destroy(handle); }
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  return handle->stream = stream, CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* its) { return Objects::Create(its); }
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t its) { return Objects::Destroy(its); }
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t its, cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int n, int c, int h, int w) {
  Expect(format == CUDNN_TENSOR_NCHW, __func__);
  return *its = {{n, c, h, w}, type}, CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* its) { return Objects::Create(its); }
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t its) { return Objects::Destroy(its); }
cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t its, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int k, int c, int h, int w) {
  Expect(format == CUDNN_TENSOR_NCHW, __func__);
  return *its = {{{k, c, h, w}, type}}, CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* its) {
  return Objects::Create(its);
}
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t its) {
  return Objects::Destroy(its);
}
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t its, int pad_h, int pad_w,
                                              int stride_h, int stride_w, int dilation_h, int dilation_w,
                                              cudnnConvolutionMode_t mode, cudnnDataType_t type) {
  Expect(mode == CUDNN_CROSS_CORRELATION, __func__);
  *its = {{{pad_h, pad_w}, {stride_h, stride_w}, {dilation_h, dilation_w}}, type};
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
  return Multiply(handle, SizesOf(x_desc, w_desc, by, y_desc), by->type, x, *x_desc, w, *w_desc, y, *y_desc,
                  alpha, beta, algorithm, workspace, bytes, ferry::testing::kToMaps);
}
cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void* alpha,
                                           cudnnFilterDescriptor_t w_desc, const void* w,
                                           cudnnTensorDescriptor_t dy_desc, const void* dy,
                                           cudnnConvolutionDescriptor_t by,
                                           cudnnConvolutionBwdDataAlgo_t algorithm, void* workspace,
                                           std::size_t bytes, const void* beta,
                                           cudnnTensorDescriptor_t dx_desc, void* dx) {
  return Multiply(handle, SizesOf(dx_desc, w_desc, by, dy_desc), by->type, w, *w_desc, dy, *dy_desc, dx,
                  *dx_desc, alpha, beta, algorithm, workspace, bytes, ferry::testing::kToImages);
}
cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void* alpha,
                                             cudnnTensorDescriptor_t x_desc, const void* x,
                                             cudnnTensorDescriptor_t dy_desc, const void* dy,
                                             cudnnConvolutionDescriptor_t by,
                                             cudnnConvolutionBwdFilterAlgo_t algorithm, void* workspace,
                                             std::size_t bytes, const void* beta,
                                             cudnnFilterDescriptor_t dw_desc, void* dw) {
  return Multiply(handle, SizesOf(x_desc, dw_desc, by, dy_desc), by->type, x, *x_desc, dy, *dy_desc, dw,
                  *dw_desc, alpha, beta, algorithm, workspace, bytes, ferry::testing::kToWeights);
}

cudnnStatus_t cudnnConvolutionBackwardBias(cudnnHandle_t handle, const void* alpha,
                                           cudnnTensorDescriptor_t dy_desc, const void* dy, const void* beta,
                                           cudnnTensorDescriptor_t db_desc, void* db) {
  return WithType(dy_desc->type, [&](auto zero) {
    using T = decltype(zero);
    return ferry::testing::DnnSumChannels(*handle, *dy_desc, DnnInput<T>(dy, *dy_desc),
                                          DnnOutput<T>(db, *db_desc, alpha, beta));
  });
}
cudnnStatus_t cudnnAddTensor(cudnnHandle_t handle, const void* alpha, cudnnTensorDescriptor_t b_desc,
                             const void* b, const void* beta, cudnnTensorDescriptor_t y_desc, void* y) {
  return WithType(b_desc->type, [&](auto zero) {
    using T = decltype(zero);
    return ferry::testing::DnnAdd(*handle, DnnInput<T>(b, *b_desc), *y_desc,
                                  DnnOutput<T>(y, *y_desc, alpha, beta));
  });
}

}  // extern "C"
