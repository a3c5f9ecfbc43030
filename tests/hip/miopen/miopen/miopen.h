// SPDX-License-Identifier: BSD-2-Clause
// What Ferry calls of the library of this name.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>

extern "C" {

using miopenHandle_t = struct miopenHandle*;
using miopenTensorDescriptor_t = struct miopenTensorDescriptor*;
using miopenConvolutionDescriptor_t = struct miopenConvolutionDescriptor*;

enum miopenStatus_t {
  miopenStatusSuccess = 0,
  miopenStatusInvalidValue = 2,
  miopenStatusBadParm = 3,
  miopenStatusNotImplemented = 6,
  miopenStatusUnknownError = 7
};
enum miopenDataType_t { miopenFloat = 1 };
enum miopenTensorOp_t { miopenTensorOpAdd = 0 };
enum miopenConvolutionMode_t { miopenConvolution = 0 };
enum miopenConvolutionAttrib_t { MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC = 1 };
enum miopenConvAlgorithm_t {
  miopenConvolutionAlgoGEMM = 0,
  miopenConvolutionAlgoDirect = 1,
  miopenConvolutionAlgoWinograd = 3,
  miopenConvolutionAlgoImplicitGEMM = 5
};
struct miopenConvSolution_t {
  float time;
  std::size_t workspace_size;
  std::uint64_t solution_id;
  miopenConvAlgorithm_t algorithm;
};

const char* miopenGetErrorString(miopenStatus_t status);
miopenStatus_t miopenCreate(miopenHandle_t* handle);
miopenStatus_t miopenDestroy(miopenHandle_t handle);
miopenStatus_t miopenSetStream(miopenHandle_t handle, hipStream_t stream);

miopenStatus_t miopenCreateTensorDescriptor(miopenTensorDescriptor_t* its);
miopenStatus_t miopenDestroyTensorDescriptor(miopenTensorDescriptor_t its);
miopenStatus_t miopenSet4dTensorDescriptor(miopenTensorDescriptor_t its, miopenDataType_t type, int n, int c,
                                           int h, int w);
miopenStatus_t miopenCreateConvolutionDescriptor(miopenConvolutionDescriptor_t* its);
miopenStatus_t miopenDestroyConvolutionDescriptor(miopenConvolutionDescriptor_t its);
miopenStatus_t miopenInitConvolutionDescriptor(miopenConvolutionDescriptor_t its,
                                               miopenConvolutionMode_t mode, int pad_h, int pad_w,
                                               int stride_h, int stride_w, int dilation_h, int dilation_w);
miopenStatus_t miopenSetConvolutionGroupCount(miopenConvolutionDescriptor_t its, int groups);
miopenStatus_t miopenSetConvolutionAttribute(miopenConvolutionDescriptor_t its,
                                             miopenConvolutionAttrib_t attribute, int value);

miopenStatus_t miopenConvolutionForwardGetSolution(miopenHandle_t handle, miopenTensorDescriptor_t w_desc,
                                                   miopenTensorDescriptor_t x_desc,
                                                   miopenConvolutionDescriptor_t by,
                                                   miopenTensorDescriptor_t y_desc, std::size_t most,
                                                   std::size_t* count, miopenConvSolution_t* solutions);
miopenStatus_t miopenConvolutionForwardCompileSolution(miopenHandle_t handle, miopenTensorDescriptor_t w_desc,
                                                       miopenTensorDescriptor_t x_desc,
                                                       miopenConvolutionDescriptor_t by,
                                                       miopenTensorDescriptor_t y_desc,
                                                       std::uint64_t solution);
miopenStatus_t miopenConvolutionForwardImmediate(miopenHandle_t handle, miopenTensorDescriptor_t w_desc,
                                                 const void* w, miopenTensorDescriptor_t x_desc,
                                                 const void* x, miopenConvolutionDescriptor_t by,
                                                 miopenTensorDescriptor_t y_desc, void* y, void* workspace,
                                                 std::size_t bytes, std::uint64_t solution);

miopenStatus_t miopenConvolutionBackwardDataGetSolution(miopenHandle_t handle,
                                                        miopenTensorDescriptor_t dy_desc,
                                                        miopenTensorDescriptor_t w_desc,
                                                        miopenConvolutionDescriptor_t by,
                                                        miopenTensorDescriptor_t dx_desc, std::size_t most,
                                                        std::size_t* count, miopenConvSolution_t* solutions);
miopenStatus_t miopenConvolutionBackwardDataCompileSolution(
    miopenHandle_t handle, miopenTensorDescriptor_t dy_desc, miopenTensorDescriptor_t w_desc,
    miopenConvolutionDescriptor_t by, miopenTensorDescriptor_t dx_desc, std::uint64_t solution);
miopenStatus_t miopenConvolutionBackwardDataImmediate(miopenHandle_t handle, miopenTensorDescriptor_t dy_desc,
                                                      const void* dy, miopenTensorDescriptor_t w_desc,
                                                      const void* w, miopenConvolutionDescriptor_t by,
                                                      miopenTensorDescriptor_t dx_desc, void* dx,
                                                      void* workspace, std::size_t bytes,
                                                      std::uint64_t solution);

miopenStatus_t miopenConvolutionBackwardWeightsGetSolution(
    miopenHandle_t handle, miopenTensorDescriptor_t dy_desc, miopenTensorDescriptor_t x_desc,
    miopenConvolutionDescriptor_t by, miopenTensorDescriptor_t dw_desc, std::size_t most, std::size_t* count,
    miopenConvSolution_t* solutions);
miopenStatus_t miopenConvolutionBackwardWeightsCompileSolution(
    miopenHandle_t handle, miopenTensorDescriptor_t dy_desc, miopenTensorDescriptor_t x_desc,
    miopenConvolutionDescriptor_t by, miopenTensorDescriptor_t dw_desc, std::uint64_t solution);
miopenStatus_t miopenConvolutionBackwardWeightsImmediate(
    miopenHandle_t handle, miopenTensorDescriptor_t dy_desc, const void* dy, miopenTensorDescriptor_t x_desc,
    const void* x, miopenConvolutionDescriptor_t by, miopenTensorDescriptor_t dw_desc, void* dw,
    void* workspace, std::size_t bytes, std::uint64_t solution);

miopenStatus_t miopenConvolutionBackwardBias(miopenHandle_t handle, const void* alpha,
                                             miopenTensorDescriptor_t dy_desc, const void* dy,
                                             const void* beta, miopenTensorDescriptor_t db_desc, void* db);
miopenStatus_t miopenOpTensor(miopenHandle_t handle, miopenTensorOp_t operation, const void* alpha1,
                              miopenTensorDescriptor_t a_desc, const void* a, const void* alpha2,
                              miopenTensorDescriptor_t b_desc, const void* b, const void* beta,
                              miopenTensorDescriptor_t c_desc, void* c);

}  // extern "C"
