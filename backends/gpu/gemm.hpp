// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "backends/gpu/library_handle.hpp"
#include "ferry/detail/device_gemm.hpp"

namespace ferry::gpu {

/// What detail::DeviceGemm is, by a vendor's BLAS. BLAS is column-major: it sees each matrix transposed, and
/// computes C' = op(B)' op(A)'.
template <class Names, Real T>
void Gemm(const Stream& on, const detail::IntGemmSizes& sizes, T alpha, const T* a, const T* b, T beta,
          T* c) {
  const CurrentDevice current(on);
  const auto blas = LibraryHandle<Names>::For(on);
  const auto operation = [](Transpose t) {
    return t == Transpose::kNo ? Names::kAsItIs : Names::kTransposed;
  };
  blas->Call("Gemm", Names::template kGemm<T>, operation(sizes.transpose_b), operation(sizes.transpose_a),
             sizes.n, sizes.m, sizes.k, &alpha, b, sizes.ldb, a, sizes.lda, &beta, c, sizes.ldc);
}

}  // namespace ferry::gpu
