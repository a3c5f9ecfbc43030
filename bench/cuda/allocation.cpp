// SPDX-License-Identifier: BSD-2-Clause
// What does device memory cost beside cudaMalloc and cudaMallocAsync, with PooledDevice and with CUDA's pool
// alone?
#include "bench/cuda/gpu.hpp"

namespace {

using bench::Check;
using ferry::Device;
using ferry::MemoryKind;

auto AllocateAndFree(Device& device, std::size_t bytes) {
  return [&device, bytes, main = device.properties().main_stream] {
    void* const block = device.Allocate(MemoryKind::kDevice, bytes, main);
    benchmark::DoNotOptimize(block);
    device.Deallocate(MemoryKind::kDevice, block, bytes, main);
  };
}

int Allocations(int argc, char** argv, Device& gpu) {
  const auto bare = ferry::Backends().front().make(gpu.properties().index);
  for (const std::size_t bytes : {std::size_t{4} << 10, std::size_t{64} << 20}) {
    const auto malloc = [bytes] {
      void* block = nullptr;
      Check(cudaMalloc(&block, bytes));
      Check(cudaFree(block));
    };
    const auto malloc_async = [bytes] {
      void* block = nullptr;
      Check(cudaMallocAsync(&block, bytes, cudaStreamLegacy));
      Check(cudaFreeAsync(block, cudaStreamLegacy));
    };
    const auto compare = [&](const char* what, double required, auto subject, auto reference) {
      bench::Compare(what + ('/' + bench::Text(bytes)), required, subject, reference);
    };
    compare("MakeDevice, cudaMalloc", 50, AllocateAndFree(gpu, bytes), malloc);
    compare("MakeDevice, cudaMallocAsync", 0, AllocateAndFree(gpu, bytes), malloc_async);
    compare("without PooledDevice, cudaMalloc", 0, AllocateAndFree(*bare, bytes), malloc);
    compare("without PooledDevice, cudaMallocAsync", 0, AllocateAndFree(*bare, bytes), malloc_async);
  }
  return bench::Run(argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::OnGpu([&](Device& gpu) { return Allocations(argc, argv, gpu); });
}
