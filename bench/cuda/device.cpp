// SPDX-License-Identifier: BSD-2-Clause
// What does Ferry cost on a GPU? Copies against cudaMemcpyAsync, kernels against cuBLAS and the device's own
// copy, allocation against CUDA's two.
#include <benchmark/benchmark.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <memory>
#include <stdexcept>

#include "ferry/backend.hpp"
#include "ferry/cuda.hpp"
#include "ferry/kernels.hpp"

namespace {

using namespace ferry;

void Check(int error) {
  if (error != 0) throw std::runtime_error("CUDA: error " + std::to_string(error));
}

/// Device memory, and pinned host memory, as CUDA gives them.
struct Raw {
  explicit Raw(std::size_t bytes) {
    Check(cudaMalloc(&device, bytes));
    Check(cudaMallocHost(&host, bytes));
  }
  ~Raw() { cudaFree(device), cudaFreeHost(host); }
  void* device = nullptr;
  void* host = nullptr;
};

void Bytes(benchmark::State& state, std::int64_t factor = 1) {
  state.SetBytesProcessed(state.iterations() * state.range(0) * factor);
}

void RawCopy(benchmark::State& state, cudaMemcpyKind kind) {
  const Raw raw(static_cast<std::size_t>(state.range(0)));
  const bool up = kind == cudaMemcpyHostToDevice;
  for (auto _ : state) {
    Check(cudaMemcpyAsync(up ? raw.device : raw.host, up ? raw.host : raw.device,
                          static_cast<std::size_t>(state.range(0)), kind, cudaStreamLegacy));
    Check(cudaStreamSynchronize(cudaStreamLegacy));
  }
  Bytes(state);
}
BENCHMARK_CAPTURE(RawCopy, to_device, cudaMemcpyHostToDevice)->Range(4 << 10, 1 << 30)->UseRealTime();
BENCHMARK_CAPTURE(RawCopy, to_host, cudaMemcpyDeviceToHost)->Range(4 << 10, 1 << 30)->UseRealTime();

void SyncedCopyToDevice(benchmark::State& state) {
  SyncedMemory memory(static_cast<std::size_t>(state.range(0)));
  const Stream stream = Stream::Main(memory.device());
  memory.overwrite_cpu_data();
  for (auto _ : state) {
    memory.overwrite_cpu_data();
    benchmark::DoNotOptimize(memory.gpu_data());
    stream.Synchronize();
  }
  Bytes(state);
}
BENCHMARK(SyncedCopyToDevice)->Range(4 << 10, 1 << 30)->UseRealTime();

void SyncedCopyToHost(benchmark::State& state) {
  SyncedMemory memory(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    memory.overwrite_gpu_data();
    benchmark::DoNotOptimize(memory.cpu_data());
  }
  Bytes(state);
}
BENCHMARK(SyncedCopyToHost)->Range(4 << 10, 1 << 30)->UseRealTime();

constexpr std::int64_t kArray = 256 << 20;  // bytes

/// Reads and writes each byte once: 2 bytes of traffic for each.
void RawDeviceCopy(benchmark::State& state) {
  const Raw a(static_cast<std::size_t>(state.range(0))), b(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    Check(cudaMemcpyAsync(a.device, b.device, static_cast<std::size_t>(state.range(0)),
                          cudaMemcpyDeviceToDevice, cudaStreamLegacy));
    Check(cudaStreamSynchronize(cudaStreamLegacy));
  }
  Bytes(state, 2);
}
BENCHMARK(RawDeviceCopy)->Arg(kArray)->UseRealTime();

struct Vectors {
  explicit Vectors(std::int64_t bytes)
      : n(bytes / 4), x(static_cast<std::size_t>(bytes)), y(static_cast<std::size_t>(bytes)) {
    Set(place, n, 1.0f, place.Overwrite<float>(x));
    Set(place, n, 1.0f, place.Overwrite<float>(y));
  }
  std::int64_t n;
  SyncedMemory x, y;
  Place place = Place::On(Stream::Main(x.device()));
};

void FerryAxpy(benchmark::State& state) {
  Vectors v(state.range(0));
  for (auto _ : state) {
    Axpy(v.place, v.n, 0.5f, v.place.Read<float>(v.x), v.place.ReadWrite<float>(v.y));
    v.place.stream().Synchronize();
  }
  Bytes(state, 3);
}
BENCHMARK(FerryAxpy)->Arg(kArray)->UseRealTime();

void FerryAsum(benchmark::State& state) {
  Vectors v(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(Asum(v.place, v.n, v.place.Read<float>(v.x)));
  Bytes(state);
}
BENCHMARK(FerryAsum)->Arg(kArray)->UseRealTime();

struct Blas {
  Blas() { Check(cublasCreate(&handle)); }
  ~Blas() { cublasDestroy(handle); }
  cublasHandle_t handle{};
};

void CublasAxpy(benchmark::State& state) {
  const Blas blas;
  Vectors v(state.range(0));
  const float alpha = 0.5f;
  float *const y = static_cast<float*>(v.y.mutable_gpu_data()), *const x = static_cast<float*>(
                                                                    v.x.mutable_gpu_data());
  for (auto _ : state) {
    Check(cublasSaxpy(blas.handle, static_cast<int>(v.n), &alpha, x, 1, y, 1));
    v.place.stream().Synchronize();
  }
  Bytes(state, 3);
}
BENCHMARK(CublasAxpy)->Arg(kArray)->UseRealTime();

void CublasAsum(benchmark::State& state) {
  const Blas blas;
  Vectors v(state.range(0));
  float sum = 0;
  for (auto _ : state)
    Check(
        cublasSasum(blas.handle, static_cast<int>(v.n), static_cast<const float*>(v.x.gpu_data()), 1, &sum));
  Bytes(state);
}
BENCHMARK(CublasAsum)->Arg(kArray)->UseRealTime();

void CudaMalloc(benchmark::State& state) {
  for (auto _ : state) {
    void* ptr = nullptr;
    Check(cudaMalloc(&ptr, static_cast<std::size_t>(state.range(0))));
    Check(cudaFree(ptr));
  }
}
BENCHMARK(CudaMalloc)->Arg(4 << 10)->Arg(64 << 20);

void CudaMallocAsync(benchmark::State& state) {
  for (auto _ : state) {
    void* ptr = nullptr;
    Check(cudaMallocAsync(&ptr, static_cast<std::size_t>(state.range(0)), cudaStreamLegacy));
    Check(cudaFreeAsync(ptr, cudaStreamLegacy));
  }
}
BENCHMARK(CudaMallocAsync)->Arg(4 << 10)->Arg(64 << 20);

/// With the pool and without it.
void FerryAllocate(benchmark::State& state, bool pooled) {
  const auto device = pooled ? MakeDevice("cuda") : Backends().front().make(0);
  const StreamHandle main = device->properties().main_stream;
  const auto bytes = static_cast<std::size_t>(state.range(0));
  for (auto _ : state)
    device->Deallocate(MemoryKind::kDevice, device->Allocate(MemoryKind::kDevice, bytes, main), bytes, main);
}
BENCHMARK_CAPTURE(FerryAllocate, bare, false)->Arg(4 << 10)->Arg(64 << 20);
BENCHMARK_CAPTURE(FerryAllocate, pooled, true)->Arg(4 << 10)->Arg(64 << 20);

}  // namespace
