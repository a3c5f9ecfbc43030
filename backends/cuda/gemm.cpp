// SPDX-License-Identifier: BSD-2-Clause
#include "core/kernels/gemm.hpp"

#include <cublas_v2.h>

#include <memory>
#include <string>

#include "backends/gpu/current_device.hpp"
#include "backends/gpu/per_stream.hpp"
#include "ferry/cuda.hpp"
#include "ferry/error.hpp"

namespace ferry {
namespace {

void Check(const char* call, cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw DeviceError(call, status, cublasGetStatusString(status));
}

/// One for each stream: its workspace may be in use until the stream has done its work.
class Blas {
 public:
  explicit Blas(const Stream& on) : device_(on.device().properties().index) {
    Check("cublasCreate", cublasCreate(&handle_));
    const cublasStatus_t status = cublasSetStream(handle_, cuda::Native(on));
    if (status != CUBLAS_STATUS_SUCCESS) (void)cublasDestroy(handle_);
    Check("cublasSetStream", status);
  }
  ~Blas() {
    try {
      const gpu::CurrentDevice current(device_);
      (void)cublasDestroy(handle_);
    } catch (const Error&) {  // the driver is gone, and the handle with it
    }
  }
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  cublasHandle_t handle() const noexcept { return handle_; }

 private:
  int device_;
  cublasHandle_t handle_{};
};

cublasOperation_t Operation(Transpose transpose) {
  return transpose == Transpose::kNo ? CUBLAS_OP_N : CUBLAS_OP_T;
}

}  // namespace

namespace detail {

/// cuBLAS is column-major: it sees each matrix transposed, and computes C' = op(B)' * op(A)'.
template <Real T>
void DeviceGemm(const Stream& on, Transpose transpose_a, Transpose transpose_b, int m, int n, int k, T alpha,
                const T* a, const T* b, T beta, T* c) {
  const gpu::CurrentDevice current(on.device().properties().index);
  const auto blas = gpu::PerStream<Blas>(on, [&] { return std::make_shared<Blas>(on); });
  const int lda = transpose_a == Transpose::kNo ? k : m;
  const int ldb = transpose_b == Transpose::kNo ? n : k;
  constexpr auto gemm = [] {
    if constexpr (std::is_same_v<T, float>)
      return &cublasSgemm;
    else
      return &cublasDgemm;
  }();
  Check("cublasGemm", gemm(blas->handle(), Operation(transpose_b), Operation(transpose_a), n, m, k, &alpha, b,
                           ldb, a, lda, &beta, c, n));
}

template void DeviceGemm(const Stream&, Transpose, Transpose, int, int, int, float, const float*,
                         const float*, float, float*);
template void DeviceGemm(const Stream&, Transpose, Transpose, int, int, int, double, const double*,
                         const double*, double, double*);

}  // namespace detail
}  // namespace ferry
