// SPDX-License-Identifier: BSD-2-Clause
// What does a copy through SyncedMemory cost beside cudaMemcpyAsync on pinned memory?
#include <memory>
#include <vector>

#include "bench/cuda/gpu.hpp"
#include "ferry/synced_memory.hpp"

namespace {

using bench::Check;
using ferry::SyncedMemory;

constexpr double kRequired = 0.97;
constexpr std::size_t kLeast = std::size_t{4} << 10, kMost = std::size_t{1} << 30;

/// Pinned host memory as CUDA gives it.
struct RawHost {
  explicit RawHost(std::size_t bytes) { Check(cudaMallocHost(&ptr, bytes)); }
  ~RawHost() { (void)cudaFreeHost(ptr); }
  RawHost(const RawHost&) = delete;
  RawHost& operator=(const RawHost&) = delete;
  void* ptr = nullptr;
};

int Copies(int argc, char** argv, ferry::Device& gpu) {
  const ferry::Stream main = ferry::Stream::Main(gpu);
  const auto raw_copy = [native = ferry::cuda::Native(main)](void* to, const void* from, std::size_t bytes,
                                                             cudaMemcpyKind kind) {
    Check(cudaMemcpyAsync(to, from, bytes, kind, native));
    Check(cudaStreamSynchronize(native));
  };
  const bench::RawDevice device(kMost);
  const RawHost host(kMost);
  std::vector<std::unique_ptr<SyncedMemory>> memories;
  for (std::size_t bytes = kLeast; bytes <= kMost; bytes *= 8) {
    memories.push_back(std::make_unique<SyncedMemory>(bytes, gpu));
    SyncedMemory& memory = *memories.back();
    bench::Compare(
        "to the device, cudaMemcpyAsync/" + bench::Text(bytes), kRequired,
        [&] {
          memory.overwrite_cpu_data();
          benchmark::DoNotOptimize(memory.gpu_data(main));
          main.Synchronize();
        },
        [&, bytes] { raw_copy(device.ptr, host.ptr, bytes, cudaMemcpyHostToDevice); });
    bench::Compare(
        "to the host, cudaMemcpyAsync/" + bench::Text(bytes), kRequired,
        [&] {
          memory.overwrite_gpu_data(main);
          benchmark::DoNotOptimize(memory.cpu_data());
        },
        [&, bytes] { raw_copy(host.ptr, device.ptr, bytes, cudaMemcpyDeviceToHost); });
  }
  return bench::Run(argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::OnGpu([&](ferry::Device& gpu) { return Copies(argc, argv, gpu); });
}
