// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "backends/gpu/library_handle.hpp"
#include "ferry/kernels.hpp"

namespace ferry::gpu {

/// What detail::DeviceGemm is, by a vendor's BLAS. BLAS is column-major: it sees each matrix transposed, and
/// computes C' = op(B)' op(A)'.
template <class Names, Real T>
void Gemm(const Stream& on, Transpose transpose_a, Transpose transpose_b, int m, int n, int k, T alpha,
          const T* a, const T* b, T beta, T* c) {
  const CurrentDevice current(on);
  const auto blas = LibraryHandle<Names>::For(on);
  const auto operation = [](Transpose t) {
    return t == Transpose::kNo ? Names::kAsItIs : Names::kTransposed;
  };
  const int lda = transpose_a == Transpose::kNo ? k : m;
  const int ldb = transpose_b == Transpose::kNo ? n : k;
  blas->Call("Gemm", Names::template kGemm<T>, operation(transpose_b), operation(transpose_a), n, m, k,
             &alpha, b, ldb, a, lda, &beta, c, n);
}

}  // namespace ferry::gpu
