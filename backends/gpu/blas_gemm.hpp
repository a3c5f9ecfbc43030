// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "backends/gpu/current_device.hpp"
#include "backends/gpu/per_stream.hpp"
#include "ferry/error.hpp"
#include "ferry/kernels.hpp"

namespace ferry::gpu {

/// A vendor's BLAS, `Names` being what cuBLAS calls cublas<Name>. One for each stream: its workspace may be
/// in use until the stream has done its work.
template <class Names>
class Blas {
 public:
  explicit Blas(const Stream& on) : device_(on.device().properties().index) {
    Check("Create", Names::Create(&handle_));
    const auto status = Names::SetStream(handle_, Names::Native(on));
    if (status != Names::kSuccess) (void)Names::Destroy(handle_);
    Check("SetStream", status);
  }
  ~Blas() {
    try {
      const CurrentDevice current(device_);
      (void)Names::Destroy(handle_);
    } catch (const Error&) {  // the driver is gone, and the handle with it
    }
  }
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  typename Names::Handle handle() const noexcept { return handle_; }

  static void Check(const char* call, typename Names::Status status) {
    if (status != Names::kSuccess)
      throw DeviceError(std::string(Names::kName) + call, static_cast<int>(status),
                        Names::StatusString(status));
  }

 private:
  int device_;
  typename Names::Handle handle_{};
};

/// detail::DeviceGemm. BLAS is column-major: it sees each matrix transposed, and computes C' = op(B)' op(A)'.
template <class Names, Real T>
void BlasGemm(const Stream& on, Transpose transpose_a, Transpose transpose_b, int m, int n, int k, T alpha,
              const T* a, const T* b, T beta, T* c) {
  const CurrentDevice current(on.device().properties().index);
  const auto blas = PerStream<Blas<Names>>(on, [&] { return std::make_shared<Blas<Names>>(on); });
  const auto operation = [](Transpose t) {
    return t == Transpose::kNo ? Names::kAsItIs : Names::kTransposed;
  };
  const int lda = transpose_a == Transpose::kNo ? k : m;
  const int ldb = transpose_b == Transpose::kNo ? n : k;
  Blas<Names>::Check(
      "Gemm", Names::template kGemm<T>(blas->handle(), operation(transpose_b), operation(transpose_a), n, m,
                                       k, &alpha, b, ldb, a, lda, &beta, c, n));
}

}  // namespace ferry::gpu
