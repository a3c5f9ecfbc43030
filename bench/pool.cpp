// SPDX-License-Identifier: BSD-2-Clause
// What do allocate and free cost with a pool, and does it matter how many free blocks it keeps?
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "backends/host/host_device.hpp"
#include "ferry/pooled_device.hpp"

namespace {

using ferry::Device;
using ferry::MemoryKind;
using ferry::PooledDevice;
using ferry::StreamHandle;
using ferry::host::HostDevice;

constexpr std::size_t kBytes = 4096;
constexpr StreamHandle kMain{1};

/// The plainest pool: a list of blocks of one size, with neither a lock nor an order.
class List {
 public:
  ~List() {
    for (void* const block : free_) device_.Deallocate(MemoryKind::kManaged, block, kBytes, kMain);
  }
  void* Allocate(MemoryKind kind, std::size_t bytes, StreamHandle on) {
    if (free_.empty()) return device_.Allocate(kind, bytes, on);
    void* const block = free_.back();
    free_.pop_back();
    return block;
  }
  void Deallocate(MemoryKind, void* ptr, std::size_t, StreamHandle) { free_.push_back(ptr); }

 private:
  HostDevice device_;
  std::vector<void*> free_;
};

/// One allocation and its end, while `free` others wait to be used.
template <class Pool>
void AllocateAndFree(benchmark::State& state, Pool& pool, MemoryKind kind) {
  std::vector<void*> blocks(static_cast<std::size_t>(state.range(0)));
  for (void*& block : blocks) block = pool.Allocate(kind, kBytes, kMain);
  for (void* const block : blocks) pool.Deallocate(kind, block, kBytes, kMain);
  for (auto _ : state) {
    void* const block = pool.Allocate(kind, kBytes, kMain);
    benchmark::DoNotOptimize(block);
    pool.Deallocate(kind, block, kBytes, kMain);
  }
}

void BM_Reference(benchmark::State& state) {
  List list;
  AllocateAndFree(state, list, MemoryKind::kManaged);
}
void BM_HostWithoutPool(benchmark::State& state) {
  HostDevice device;
  AllocateAndFree(state, device, MemoryKind::kManaged);
}
void BM_PooledHostMemory(benchmark::State& state) {
  PooledDevice pool(std::make_unique<HostDevice>());
  AllocateAndFree<Device>(state, pool, MemoryKind::kManaged);
}
/// With an event for each block.
void BM_PooledDeviceMemory(benchmark::State& state) {
  PooledDevice pool(std::make_unique<HostDevice>());
  AllocateAndFree<Device>(state, pool, MemoryKind::kDevice);
}

BENCHMARK(BM_Reference)->Arg(10)->Arg(65'536);
BENCHMARK(BM_HostWithoutPool)->Arg(10);
BENCHMARK(BM_PooledHostMemory)->Arg(10)->Arg(1'000)->Arg(65'536);
BENCHMARK(BM_PooledDeviceMemory)->Arg(10)->Arg(1'000)->Arg(65'536);

}  // namespace
