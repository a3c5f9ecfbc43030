// SPDX-License-Identifier: BSD-2-Clause
// Gemm by the vendor's BLAS, over one that is made of the simulated GPU.
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <vector>

#include "ferry/detail/device_gemm.hpp"
#include "ferry/error.hpp"
#include "ferry/synced_memory.hpp"
#include "tests/gpu/gpus.hpp"
#include "tests/gpu/simulated_blas.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::ContainsSubstring;
using detail::IntGemmSizes;

/// A matrix of whole numbers, whose sums have no error.
template <class T>
struct Matrix {
  Matrix(int rows, int columns, T first, Device& device)
      : stride(columns + 2), memory(static_cast<std::size_t>(rows * stride) * sizeof(T), device) {
    T* const elements = static_cast<T*>(memory.overwrite_cpu_data());
    for (int i = 0; i < rows * stride; ++i) elements[i] = first + static_cast<T>(i % 7);
  }
  T At(int row, int column, Transpose transpose = Transpose::kNo) const {
    const auto* const elements = static_cast<const T*>(memory.cpu_data());
    return transpose == Transpose::kNo ? elements[row * stride + column] : elements[column * stride + row];
  }
  T* on(const Stream& stream) { return static_cast<T*>(memory.mutable_gpu_data(stream)); }

  int stride;
  SyncedMemory memory;
};

TEMPLATE_TEST_CASE("Gemm by the vendor's BLAS is that of plain loops, row by row, in order with its stream",
                   "", float, double) {
  using T = TestType;
  const auto first = MakeDevice(NameOf(0)), device = MakeDevice(NameOf(1));
  SyncedMemory(4, *first).mutable_gpu_data();
  REQUIRE(Runtime::SetDevice(0) == Runtime::kSuccess);
  constexpr int kM = 3, kN = 4, kK = 5;
  for (const Transpose ta : {Transpose::kNo, Transpose::kYes})
    for (const Transpose tb : {Transpose::kNo, Transpose::kYes})
      for (const T beta : {T(0), T(3)}) {
        const Stream on(*device);
        Matrix<T> a(ta == Transpose::kNo ? kM : kK, ta == Transpose::kNo ? kK : kM, 1, *device);
        Matrix<T> b(tb == Transpose::kNo ? kK : kN, tb == Transpose::kNo ? kN : kK, 2, *device);
        Matrix<T> c(kM, kN, beta == 0 ? std::numeric_limits<T>::quiet_NaN() : 3, *device);
        const Matrix<T> old(kM, kN, 3, *device);
        const IntGemmSizes sizes{ta, tb, kM, kN, kK, a.stride, b.stride, c.stride};
        detail::DeviceGemm<T>(on, sizes, 2, a.on(on), b.on(on), beta, c.on(on));
        bool right = true;
        for (int row = 0; row < kM; ++row)
          for (int column = 0; column < kN; ++column) {
            T sum = 0;
            for (int l = 0; l < kK; ++l) sum += a.At(row, l, ta) * b.At(l, column, tb);
            right &= c.At(row, column) == 2 * sum + beta * old.At(row, column);
          }
        CHECK(right);
        CHECK(blas.handles == 1);
      }
  CHECK(CurrentGpu() == 0);
}

TEST_CASE("A handle of BLAS is one stream's and the next one's, and goes with its device") {
  const auto device = MakeDevice(NameOf(0));
  Matrix<float> a(2, 2, 1, *device), b(2, 2, 1, *device), c(2, 2, 1, *device);
  const IntGemmSizes sizes{Transpose::kNo, Transpose::kNo, 2, 2, 2, a.stride, b.stride, c.stride};
  const auto multiply = [&](const Stream& on) {
    detail::DeviceGemm<float>(on, sizes, 1, a.on(on), b.on(on), 0, c.on(on));
  };
  const Stream main = Stream::Main(*device);
  for (int i = 0; i < 2; ++i) multiply(main);
  CHECK(blas.handles == 1);
  for (int i = 0; i < 2; ++i) {
    const Stream side(*device);
    multiply(side);
    CHECK(blas.handles == 2);
    side.Synchronize();  // an idle stream is used again
  }
}

TEST_CASE("What BLAS refuses is a DeviceError that names the call, and a handle that has no stream goes") {
  CHECK(blas.handles == 0);  // of the tests above
  const auto device = MakeDevice(NameOf(0));
  Matrix<float> a(2, 2, 1, *device);
  const IntGemmSizes sizes{Transpose::kNo, Transpose::kNo, 2, 2, 2, a.stride, a.stride, a.stride};
  const Stream on = Stream::Main(*device);
  const auto multiply = [&] { detail::DeviceGemm<float>(on, sizes, 1, a.on(on), a.on(on), 0, a.on(on)); };
  blas.refuses_stream = true;
  CHECK_THROWS_WITH(multiply(), ContainsSubstring("blasSetStream: an error of the simulated BLAS"));
  CHECK(blas.handles == 0);
  blas.refuses_stream = false;
  blas.refuses_gemm = true;
  CHECK_THROWS_AS(multiply(), DeviceError);
  CHECK_THROWS_WITH(multiply(), ContainsSubstring("blasGemm"));
  blas.refuses_gemm = false;
  CHECK_NOTHROW(multiply());
}

}  // namespace
}  // namespace ferry::testing
