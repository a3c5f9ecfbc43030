// SPDX-License-Identifier: BSD-2-Clause
// What does a copy through SyncedMemory cost beside cudaMemcpyAsync on pinned memory, and what is gained by
// that beside pageable memory?
#include <memory>
#include <vector>

#include "bench/cuda/gpu.hpp"
#include "ferry/synced_memory.hpp"

namespace {

using bench::Check;
using ferry::SyncedMemory;

constexpr double kRequired = 0.97, kNothing = 0, kNotSlower = 1;
constexpr std::size_t kLeast = std::size_t{4} << 10, kMost = std::size_t{1} << 30;
constexpr std::size_t kLarge = std::size_t{1} << 20;  // below it the calls are felt, and counted in time

auto ToDevice(SyncedMemory& memory, const ferry::Stream& on) {
  return [&memory, on] {
    memory.overwrite_cpu_data();
    benchmark::DoNotOptimize(memory.gpu_data(on));
    on.Synchronize();
  };
}
auto ToHost(SyncedMemory& memory, const ferry::Stream& on) {
  return [&memory, on] {
    memory.overwrite_gpu_data(on);
    benchmark::DoNotOptimize(memory.cpu_data());
  };
}

int Copies(int argc, char** argv, ferry::Device& gpu) {
  const ferry::Stream main = ferry::Stream::Main(gpu);
  const auto raw_copy = [native = ferry::cuda::Native(main)](void* to, const void* from, std::size_t bytes,
                                                             cudaMemcpyKind kind) {
    Check(cudaMemcpyAsync(to, from, bytes, kind, native));
    Check(cudaStreamSynchronize(native));
  };
  const bench::RawDevice device(kMost);
  const bench::RawHost host(kMost);
  std::vector<char> bytes_of_pageable(kMost);
  std::vector<std::unique_ptr<SyncedMemory>> memories;
  const auto make = [&](std::size_t bytes) -> SyncedMemory& {
    return *memories.emplace_back(std::make_unique<SyncedMemory>(bytes, gpu));
  };
  for (std::size_t bytes = kLeast; bytes <= kMost; bytes *= 8) {
    const bool large = bytes >= kLarge;
    const double required = large ? kRequired : kNothing;
    const std::string reference =
        (large ? "" : "at most 2 us more than ") + ("cudaMemcpyAsync/" + bench::Text(bytes));
    SyncedMemory& memory = make(bytes);
    bench::Compare("to the device, " + reference, required, ToDevice(memory, main),
                   [&, bytes] { raw_copy(device.ptr, host.ptr, bytes, cudaMemcpyHostToDevice); });
    bench::Compare("to the host, " + reference, required, ToHost(memory, main),
                   [&, bytes] { raw_copy(host.ptr, device.ptr, bytes, cudaMemcpyDeviceToHost); });
    SyncedMemory& pageable = make(bytes);
    pageable.set_cpu_data(bytes_of_pageable.data());
    bench::Compare("to the device, from pageable memory/" + bench::Text(bytes), kNotSlower,
                   ToDevice(memory, main), ToDevice(pageable, main));
    bench::Compare("to the host, into pageable memory/" + bench::Text(bytes), kNotSlower,
                   ToHost(memory, main), ToHost(pageable, main));
  }
  return bench::Run(argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::OnGpu([&](ferry::Device& gpu) { return Copies(argc, argv, gpu); });
}
