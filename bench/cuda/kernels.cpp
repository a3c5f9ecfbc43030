// SPDX-License-Identifier: BSD-2-Clause
// Are kernels as fast as the device's memory, and as cuBLAS?
#include "ferry/kernels.hpp"

#include <cublas_v2.h>

#include <functional>
#include <memory>

#include "bench/cuda/gpu.hpp"
#include "ferry/array.hpp"
#include "ferry/detail/kernel_place.hpp"

namespace {

using bench::Check;
using ferry::Array;
using ferry::Place;

constexpr double kOfCopy = 0.92, kOfCublas = 1, kOfGemm = 0.98;

struct Blas {
  explicit Blas(cudaStream_t stream) {
    Check(cublasCreate(&handle));
    Check(cublasSetStream(handle, stream));
  }
  ~Blas() { (void)cublasDestroy(handle); }
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;
  cublasHandle_t handle{};
};

/// What is asked: a place, cuBLAS on its stream, and room for the copies that are references.
class Kernels {
 public:
  explicit Kernels(const Place& place) : place_(place) {}

  /// Vectors of so many bytes each.
  void Compare(std::size_t bytes) const {
    const auto count = static_cast<std::int64_t>(bytes / sizeof(float));
    const auto vectors = std::make_shared<Vectors>(count, place_.device());
    Set(place_, 1, vectors->x);
    Set(place_, 1, vectors->y);
    const auto of = [&](auto kernel) { return [this, vectors, kernel] { kernel(vectors->x, vectors->y); }; };
    const auto cublas = [&](auto call) {
      return [this, vectors, call, n = static_cast<int>(count), x = place_.Read(vectors->x).data(),
              y = place_.ReadWrite(vectors->y).data()] { call(blas_.handle, n, x, y); };
    };
    const auto set = of([this](const auto&, auto& y) { Set(place_, 1, y), Wait(); });
    const auto scale = of([this](const auto&, auto& y) { Scale(place_, kAlpha, y), Wait(); });
    const auto axpy = of([this](const auto& x, auto& y) { Axpy(place_, kAlpha, x, y), Wait(); });
    const auto asum = of([this](const auto& x, auto&) { benchmark::DoNotOptimize(Asum(place_, x)); });
    const auto sumsq = of([this](const auto& x, auto&) { benchmark::DoNotOptimize(Sumsq(place_, x)); });
    const auto dot = of([this](const auto& x, auto& y) { benchmark::DoNotOptimize(Dot(place_, x, y)); });

    const std::string size = '/' + bench::Text(bytes);
    const auto compare = [&](const char* what, double required, auto subject, auto reference) {
      bench::Compare(what + size, required, subject, reference);
    };
    // A copy reads and writes each byte.
    compare("Set, a copy with as much traffic", kOfCopy, set, CopyOf(bytes / 2));
    compare("Scale, a copy with as much traffic", kOfCopy, scale, CopyOf(bytes));
    compare("Axpy, a copy with as much traffic", kOfCopy, axpy, CopyOf(bytes * 3 / 2));
    compare("Asum, a copy with as much traffic", kOfCopy, asum, CopyOf(bytes / 2));
    compare("Sumsq, a copy with as much traffic", kOfCopy, sumsq, CopyOf(bytes / 2));
    compare("Dot, a copy with as much traffic", kOfCopy, dot, CopyOf(bytes));
    compare("Scale, cublasSscal", kOfCublas, scale, cublas([this](auto handle, int n, auto*, auto* y) {
              Check(cublasSscal(handle, n, &kAlpha, y, 1)), Wait();
            }));
    compare("Axpy, cublasSaxpy", kOfCublas, axpy, cublas([this](auto handle, int n, auto* x, auto* y) {
              Check(cublasSaxpy(handle, n, &kAlpha, x, 1, y, 1)), Wait();
            }));
    compare("Asum, cublasSasum", kOfCublas, asum, cublas([](auto handle, int n, auto* x, auto*) {
              float result = 0;
              Check(cublasSasum(handle, n, x, 1, &result));
            }));
    compare("Sumsq, cublasSnrm2", kOfCublas, sumsq, cublas([](auto handle, int n, auto* x, auto*) {
              float result = 0;
              Check(cublasSnrm2(handle, n, x, 1, &result));
            }));
    compare("Dot, cublasSdot", kOfCublas, dot, cublas([](auto handle, int n, auto* x, auto* y) {
              float result = 0;
              Check(cublasSdot(handle, n, x, 1, y, 1, &result));
            }));
  }

  /// Square matrices of float.
  void CompareGemm(int n) const {
    const std::int64_t count = std::int64_t{n} * n;
    const auto matrices = std::make_shared<Vectors>(count, place_.device());
    const auto result = std::make_shared<Array<float>>(count, place_.device());
    Set(place_, 1, matrices->x);
    Set(place_, 1, matrices->y);
    bench::Compare(
        "Gemm, cublasSgemm/" + std::to_string(n), kOfGemm,
        [this, matrices, result, n] {
          using enum ferry::Transpose;
          Gemm(place_, kNo, kNo, n, n, n, 1, matrices->x, matrices->y, 0, *result);
          Wait();
        },
        [this, matrices, result, n, x = place_.Read(matrices->x).data(), y = place_.Read(matrices->y).data(),
         z = place_.Overwrite(*result).data()] {
          const float one = 1, zero = 0;
          Check(cublasSgemm(blas_.handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, y, n, x, n, &zero, z, n));
          Wait();
        });
  }

 private:
  static constexpr float kAlpha = 0.5F;
  static constexpr std::size_t kMostCopied = std::size_t{3} << 29;

  struct Vectors {
    Vectors(std::int64_t count, ferry::Device& device) : x(count, device), y(count, device) {}
    Array<float> x, y;
  };

  void Wait() const { place_.stream().Synchronize(); }
  [[nodiscard]] std::function<void()> CopyOf(std::size_t bytes) const {
    return [this, bytes] {
      Check(cudaMemcpyAsync(to_.ptr, from_.ptr, bytes, cudaMemcpyDeviceToDevice,
                            ferry::cuda::Native(place_.stream())));
      Wait();
    };
  }

  Place place_;
  Blas blas_{ferry::cuda::Native(place_.stream())};
  bench::RawDevice from_{kMostCopied}, to_{kMostCopied};
};

}  // namespace

int main(int argc, char** argv) {
  return bench::OnGpu([&](ferry::Device& gpu) {
    const Place place(gpu);
    if (ferry::detail::KernelPlace(place)->side() == ferry::Side::kCpu) return 4;  // the warning says why
    const Kernels kernels(place);
    for (const std::size_t mebibytes : {64, 256, 1024}) kernels.Compare(mebibytes << 20);
    for (const int n : {512, 1024, 2048, 4096, 8192}) kernels.CompareGemm(n);
    return bench::Run(argc, argv);
  });
}
