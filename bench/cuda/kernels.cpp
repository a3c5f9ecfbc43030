// SPDX-License-Identifier: BSD-2-Clause
// Are kernels as fast as the device's memory, and as cuBLAS?
#include "ferry/kernels.hpp"

#include <cublas_v2.h>

#include "bench/cuda/gpu.hpp"
#include "ferry/array.hpp"
#include "ferry/detail/kernel_place.hpp"

namespace {

using bench::Check;
using ferry::Place;

constexpr double kRequired = 0.92;
constexpr std::int64_t kElements = std::int64_t{64} << 20;
constexpr std::size_t kBytes = kElements * sizeof(float);

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

int Kernels(int argc, char** argv, ferry::Device& gpu) {
  const Place place(gpu);
  if (ferry::detail::KernelPlace(place)->side() == ferry::Side::kCpu) return 4;  // which the warning explains
  const cudaStream_t native = ferry::cuda::Native(place.stream());
  ferry::Array<float> x_array(kElements, gpu), y_array(kElements, gpu);
  Set(place, 1, x_array);
  Set(place, 1, y_array);
  const float* const x = place.Read(x_array).data();
  float* const y = place.ReadWrite(y_array).data();
  const Blas blas(native);
  constexpr int kCount = static_cast<int>(kElements);
  static const float alpha = 0.5F;

  // A copy reads and writes; axpy reads two arrays and writes one, asum reads one.
  const bench::RawDevice from(kBytes * 3 / 2), to(kBytes * 3 / 2);
  const auto copy = [&](std::size_t bytes) {
    Check(cudaMemcpyAsync(to.ptr, from.ptr, bytes, cudaMemcpyDeviceToDevice, native));
    place.stream().Synchronize();
  };
  const auto axpy = [&] {
    Axpy(place, alpha, x_array, y_array);
    place.stream().Synchronize();
  };
  const auto asum = [&] { benchmark::DoNotOptimize(Asum(place, x_array)); };
  const std::string size = '/' + bench::Text(kBytes);
  bench::Compare("Axpy, a copy with as much traffic" + size, kRequired, axpy, [&] { copy(kBytes * 3 / 2); });
  bench::Compare("Axpy, cublasSaxpy" + size, kRequired, axpy, [&] {
    Check(cublasSaxpy(blas.handle, kCount, &alpha, x, 1, y, 1));
    place.stream().Synchronize();
  });
  bench::Compare("Asum, a copy with as much traffic" + size, kRequired, asum, [&] { copy(kBytes / 2); });
  bench::Compare("Asum, cublasSasum" + size, kRequired, asum, [&] {
    float sum = 0;
    Check(cublasSasum(blas.handle, kCount, x, 1, &sum));
  });
  return bench::Run(argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::OnGpu([&](ferry::Device& gpu) { return Kernels(argc, argv, gpu); });
}
