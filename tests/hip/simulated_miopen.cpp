// SPDX-License-Identifier: BSD-2-Clause
// MIOpen's functions that Ferry calls, made of plain loops on the simulated GPU. Of the solutions that it
// offers for a convolution one alone is right: the others add in any order whatever they are asked for, or
// need more memory than there is. It has none for three groups, and none of a dilated convolution in groups.
#include <miopen/miopen.h>

#include "tests/gpu/simulated_dnn.hpp"

using ferry::simulated::Expect;
using ferry::testing::DnnHandle;
using ferry::testing::DnnInput;
using ferry::testing::DnnOutput;
using ferry::testing::DnnTensor;
using ferry::testing::DnnWindow;

struct miopenHandle : DnnHandle {};
struct miopenTensorDescriptor : DnnTensor {};
struct miopenConvolutionDescriptor : DnnWindow {
  bool deterministic = false, compiled = false;
};

namespace {

using Sizes = ferry::detail::ConvolutionSizes;

constexpr std::uint64_t kRight = 71;

Sizes SizesOf(miopenTensorDescriptor_t images, miopenTensorDescriptor_t weights,
              miopenConvolutionDescriptor_t by, miopenTensorDescriptor_t maps) {
  Expect(by->groups == 1 || (by->dilation[0] == 1 && by->dilation[1] == 1), __func__);
  return ferry::testing::DnnSizes(*images, *weights, *by, *maps);
}

std::size_t WorkspaceOf(const Sizes& sizes) { return sizes.in_channels == 1 ? 0 : 1000; }

miopenStatus_t Offer(miopenHandle_t handle, const Sizes& sizes, miopenConvolutionDescriptor_t by,
                     std::size_t most, std::size_t* count, miopenConvSolution_t* found) {
  handle->Check(__func__);
  if (sizes.groups == 3) return miopenStatusNotImplemented;
  *count = 0;
  const auto offer = [&](std::uint64_t solution, std::size_t bytes, miopenConvAlgorithm_t algorithm) {
    Expect(*count < most, "miopenConvolutionGetSolution");
    found[*count] = {static_cast<float>(*count), bytes, solution, algorithm};
    ++*count;
  };
  if (!by->deterministic) offer(0, 0, miopenConvolutionAlgoDirect);
  offer(1, 0, miopenConvolutionAlgoImplicitGEMM);
  offer(2, std::size_t{1} << 40, miopenConvolutionAlgoWinograd);
  offer(kRight, WorkspaceOf(sizes), miopenConvolutionAlgoGEMM);
  return miopenStatusSuccess;
}
miopenStatus_t Compile(miopenHandle_t handle, miopenConvolutionDescriptor_t by, std::uint64_t solution) {
  handle->Check(__func__);
  by->compiled = solution == kRight;
  return miopenStatusSuccess;
}

miopenStatus_t StatusOf(bool queued) { return queued ? miopenStatusSuccess : miopenStatusUnknownError; }

template <class Each>
miopenStatus_t Multiply(miopenHandle_t handle, const Sizes& sizes, miopenConvolutionDescriptor_t by,
                        DnnInput<float> x, DnnInput<float> y, void* z, miopenTensorDescriptor_t z_desc,
                        void* workspace, std::size_t bytes, std::uint64_t solution, Each each) {
  Expect(solution == kRight && by->compiled, __func__);
  Expect(bytes == WorkspaceOf(sizes) && (workspace == nullptr) == (bytes == 0), __func__);
  const float one = 1, zero = 0;
  return StatusOf(ferry::testing::DnnMultiply(*handle, sizes, x, y, DnnOutput<float>(z, *z_desc, &one, &zero),
                                              workspace, bytes, each));
}

using Objects = ferry::testing::DnnObjects<miopenStatusSuccess>;

}  // namespace

extern "C" {

const char* miopenGetErrorString(miopenStatus_t) { return "an error of the simulated MIOpen"; }
miopenStatus_t miopenCreate(miopenHandle_t* handle) { return Objects::Create(handle); }
miopenStatus_t miopenDestroy(miopenHandle_t handle) { return Objects::Destroy(handle); }
miopenStatus_t miopenSetStream(miopenHandle_t handle, hipStream_t stream) {
  return handle->stream = stream, miopenStatusSuccess;
}

miopenStatus_t miopenCreateTensorDescriptor(miopenTensorDescriptor_t* its) { return Objects::Create(its); }
miopenStatus_t miopenDestroyTensorDescriptor(miopenTensorDescriptor_t its) { return Objects::Destroy(its); }
miopenStatus_t miopenSet4dTensorDescriptor(miopenTensorDescriptor_t its, miopenDataType_t type, int n, int c,
                                           int h, int w) {
  Expect(type == miopenFloat, __func__);
  return *its = {{n, c, h, w}}, miopenStatusSuccess;
}
miopenStatus_t miopenCreateConvolutionDescriptor(miopenConvolutionDescriptor_t* its) {
  return Objects::Create(its);
}
miopenStatus_t miopenDestroyConvolutionDescriptor(miopenConvolutionDescriptor_t its) {
  return Objects::Destroy(its);
}
miopenStatus_t miopenInitConvolutionDescriptor(miopenConvolutionDescriptor_t its,
                                               miopenConvolutionMode_t mode, int pad_h, int pad_w,
                                               int stride_h, int stride_w, int dilation_h, int dilation_w) {
  Expect(mode == miopenConvolution, __func__);
  *its = {{{pad_h, pad_w}, {stride_h, stride_w}, {dilation_h, dilation_w}}};
  return miopenStatusSuccess;
}
miopenStatus_t miopenSetConvolutionGroupCount(miopenConvolutionDescriptor_t its, int groups) {
  return its->groups = groups, miopenStatusSuccess;
}
miopenStatus_t miopenSetConvolutionAttribute(miopenConvolutionDescriptor_t its,
                                             miopenConvolutionAttrib_t attribute, int value) {
  Expect(attribute == MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC, __func__);
  return its->deterministic = value == 1, miopenStatusSuccess;
}

miopenStatus_t miopenConvolutionForwardGetSolution(miopenHandle_t handle, miopenTensorDescriptor_t w_desc,
                                                   miopenTensorDescriptor_t x_desc,
                                                   miopenConvolutionDescriptor_t by,
                                                   miopenTensorDescriptor_t y_desc, std::size_t most,
                                                   std::size_t* count, miopenConvSolution_t* solutions) {
  return Offer(handle, SizesOf(x_desc, w_desc, by, y_desc), by, most, count, solutions);
}
miopenStatus_t miopenConvolutionForwardCompileSolution(miopenHandle_t handle, miopenTensorDescriptor_t,
                                                       miopenTensorDescriptor_t,
                                                       miopenConvolutionDescriptor_t by,
                                                       miopenTensorDescriptor_t, std::uint64_t solution) {
  return Compile(handle, by, solution);
}
miopenStatus_t miopenConvolutionForwardImmediate(miopenHandle_t handle, miopenTensorDescriptor_t w_desc,
                                                 const void* w, miopenTensorDescriptor_t x_desc,
                                                 const void* x, miopenConvolutionDescriptor_t by,
                                                 miopenTensorDescriptor_t y_desc, void* y, void* workspace,
                                                 std::size_t bytes, std::uint64_t solution) {
  return Multiply(handle, SizesOf(x_desc, w_desc, by, y_desc), by, {x, *x_desc}, {w, *w_desc}, y, y_desc,
                  workspace, bytes, solution, ferry::testing::kToMaps);
}

miopenStatus_t miopenConvolutionBackwardDataGetSolution(miopenHandle_t handle,
                                                        miopenTensorDescriptor_t dy_desc,
                                                        miopenTensorDescriptor_t w_desc,
                                                        miopenConvolutionDescriptor_t by,
                                                        miopenTensorDescriptor_t dx_desc, std::size_t most,
                                                        std::size_t* count, miopenConvSolution_t* solutions) {
  return Offer(handle, SizesOf(dx_desc, w_desc, by, dy_desc), by, most, count, solutions);
}
miopenStatus_t miopenConvolutionBackwardDataCompileSolution(miopenHandle_t handle, miopenTensorDescriptor_t,
                                                            miopenTensorDescriptor_t,
                                                            miopenConvolutionDescriptor_t by,
                                                            miopenTensorDescriptor_t,
                                                            std::uint64_t solution) {
  return Compile(handle, by, solution);
}
miopenStatus_t miopenConvolutionBackwardDataImmediate(miopenHandle_t handle, miopenTensorDescriptor_t dy_desc,
                                                      const void* dy, miopenTensorDescriptor_t w_desc,
                                                      const void* w, miopenConvolutionDescriptor_t by,
                                                      miopenTensorDescriptor_t dx_desc, void* dx,
                                                      void* workspace, std::size_t bytes,
                                                      std::uint64_t solution) {
  return Multiply(handle, SizesOf(dx_desc, w_desc, by, dy_desc), by, {w, *w_desc}, {dy, *dy_desc}, dx,
                  dx_desc, workspace, bytes, solution, ferry::testing::kToImages);
}

miopenStatus_t miopenConvolutionBackwardWeightsGetSolution(
    miopenHandle_t handle, miopenTensorDescriptor_t dy_desc, miopenTensorDescriptor_t x_desc,
    miopenConvolutionDescriptor_t by, miopenTensorDescriptor_t dw_desc, std::size_t most, std::size_t* count,
    miopenConvSolution_t* solutions) {
  return Offer(handle, SizesOf(x_desc, dw_desc, by, dy_desc), by, most, count, solutions);
}
miopenStatus_t miopenConvolutionBackwardWeightsCompileSolution(
    miopenHandle_t handle, miopenTensorDescriptor_t, miopenTensorDescriptor_t,
    miopenConvolutionDescriptor_t by, miopenTensorDescriptor_t, std::uint64_t solution) {
  return Compile(handle, by, solution);
}
miopenStatus_t miopenConvolutionBackwardWeightsImmediate(
    miopenHandle_t handle, miopenTensorDescriptor_t dy_desc, const void* dy, miopenTensorDescriptor_t x_desc,
    const void* x, miopenConvolutionDescriptor_t by, miopenTensorDescriptor_t dw_desc, void* dw,
    void* workspace, std::size_t bytes, std::uint64_t solution) {
  return Multiply(handle, SizesOf(x_desc, dw_desc, by, dy_desc), by, {x, *x_desc}, {dy, *dy_desc}, dw,
                  dw_desc, workspace, bytes, solution, ferry::testing::kToWeights);
}

miopenStatus_t miopenConvolutionBackwardBias(miopenHandle_t handle, const void* alpha,
                                             miopenTensorDescriptor_t dy_desc, const void* dy,
                                             const void* beta, miopenTensorDescriptor_t db_desc, void* db) {
  const DnnOutput<float> result(db, *db_desc, alpha, beta);
  Expect(result.alpha == 1 && result.beta == 0, __func__);
  return StatusOf(ferry::testing::DnnSumChannels(*handle, *dy_desc, DnnInput<float>(dy, *dy_desc), result));
}
miopenStatus_t miopenOpTensor(miopenHandle_t handle, miopenTensorOp_t operation, const void* alpha1,
                              miopenTensorDescriptor_t a_desc, const void* a, const void* alpha2,
                              miopenTensorDescriptor_t b_desc, const void* b, const void* beta,
                              miopenTensorDescriptor_t c_desc, void* c) {
  Expect(operation == miopenTensorOpAdd && a == c && a_desc == c_desc, __func__);
  Expect(*static_cast<const float*>(beta) == 0, __func__);
  return StatusOf(ferry::testing::DnnAdd(*handle, DnnInput<float>(b, *b_desc), *c_desc,
                                         DnnOutput<float>(c, *c_desc, alpha2, alpha1)));
}

}  // extern "C"
