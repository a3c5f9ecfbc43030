// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "tests/gpu/simulated.hpp"

/// What the functions of a vendor's BLAS that Ferry calls are made of: plain loops on the simulated GPU.
namespace ferry::testing {

struct SimulatedBlas {
  int handles = 0;
  bool refuses_stream = false, refuses_gemm = false;
};
inline SimulatedBlas blas;

/// For the device that was current when it was made.
struct BlasHandle {
  int device;
  const void* stream;
};

inline BlasHandle* MakeBlasHandle() {
  ++blas.handles;
  return new BlasHandle{sim::CurrentDevice(), nullptr};
}
inline void DestroyBlasHandle(const BlasHandle* handle) {
  simulated::Expect(sim::CurrentDevice() == handle->device, __func__);
  --blas.handles;
  delete handle;
}

/// Matrices lie column by column. Whether it was queued.
template <class T>
bool BlasGemm(const BlasHandle& handle, bool transpose_a, bool transpose_b, int m, int n, int k,
              const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc) {
  using simulated::Expect;
  Expect(sim::CurrentDevice() == handle.device, __func__);
  Expect(lda >= (transpose_a ? k : m) && ldb >= (transpose_b ? n : k) && ldc >= m, __func__);
  if (blas.refuses_gemm) return false;
  const auto error = simulated::Attempt([&] {
    sim::LaunchHostCode(handle.device, simulated::Handle(handle.stream), {a, b, c},
                        [=, alpha = *alpha, beta = *beta] {
                          for (int row = 0; row < m; ++row)
                            for (int column = 0; column < n; ++column) {
                              T sum = 0;
                              for (int l = 0; l < k; ++l)
                                sum += a[transpose_a ? l + row * lda : row + l * lda] *
                                       b[transpose_b ? column + l * ldb : l + column * ldb];
                              T& to = c[row + column * ldc];
                              to = alpha * sum + (beta == 0 ? 0 : beta * to);
                            }
                        });
  });
  return error == sim::SimRuntime::kSuccess;
}

}  // namespace ferry::testing
