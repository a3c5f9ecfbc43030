// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "backends/gpu/current_device.hpp"
#include "backends/gpu/per_stream.hpp"
#include "ferry/error.hpp"
#include "ferry/kernels.hpp"

/// Gemm by a vendor's BLAS. Names is that as a struct: what cuBLAS calls cublas<Name>.
namespace ferry::gpu {

/// One for each stream: its workspace may be in use until the stream has done its work. One thread at a time:
/// no vendor says that a handle is for several.
template <class Names>
class Blas {
 public:
  explicit Blas(const Stream& on) : device_(on.device().properties().index) {
    gpu::Upkeep([&] { Check("Create", Names::Create(&handle_)); });
    const auto status = Names::SetStream(handle_, Names::Native(on));
    if (status != Names::kSuccess) (void)Names::Destroy(handle_);
    Check("SetStream", status);
  }
  ~Blas() {
    try {
      const CurrentDevice current(device_);
      Upkeep([&] { (void)Names::Destroy(handle_); });
    } catch (const Error&) {  // the driver is gone, and the handle with it
    }
  }
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  template <class Function, class... Arguments>
  void Call(const char* call, Function function, Arguments... arguments) {
    const std::lock_guard lock(mutex_);
    Check(call, function(handle_, arguments...));
  }

 private:
  static void Check(const char* call, typename Names::Status status) {
    if (status != Names::kSuccess)
      throw DeviceError(std::string(Names::kName) + call, static_cast<int>(status),
                        Names::StatusString(status));
  }

  int device_;
  std::mutex mutex_;
  typename Names::Handle handle_{};
};

/// What detail::DeviceGemm is. BLAS is column-major: it sees each matrix transposed, and computes
/// C' = op(B)' op(A)'.
template <class Names, Real T>
void Gemm(const Stream& on, Transpose transpose_a, Transpose transpose_b, int m, int n, int k, T alpha,
          const T* a, const T* b, T beta, T* c) {
  const CurrentDevice current(on);
  const auto blas = PerStream<Blas<Names>>(on, [&] { return std::make_shared<Blas<Names>>(on); });
  const auto operation = [](Transpose t) {
    return t == Transpose::kNo ? Names::kAsItIs : Names::kTransposed;
  };
  const int lda = transpose_a == Transpose::kNo ? k : m;
  const int ldb = transpose_b == Transpose::kNo ? n : k;
  blas->Call("Gemm", Names::template kGemm<T>, operation(transpose_b), operation(transpose_a), n, m, k,
             &alpha, b, ldb, a, lda, &beta, c, n);
}

}  // namespace ferry::gpu
