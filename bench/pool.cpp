// SPDX-License-Identifier: BSD-2-Clause
// What do allocate and free cost with a pool, and does it matter how many free blocks it keeps?
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/host/host_device.hpp"
#include "bench/compare.hpp"
#include "ferry/pooled_device.hpp"

namespace {

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

/// One allocation and its end, while `free` other blocks wait to be used.
template <class Pool>
auto AllocateAndFree(const std::shared_ptr<Pool>& pool, MemoryKind kind, std::size_t free) {
  std::vector<void*> blocks(free);
  for (void*& block : blocks) block = pool->Allocate(kind, kBytes, kMain);
  for (void* const block : blocks) pool->Deallocate(kind, block, kBytes, kMain);
  return [pool, kind] {
    void* const block = pool->Allocate(kind, kBytes, kMain);
    benchmark::DoNotOptimize(block);
    pool->Deallocate(kind, block, kBytes, kMain);
  };
}

/// Device memory has an event for each block.
void Pooled(MemoryKind kind, const std::string& name) {
  const auto pool = [&](std::size_t free) {
    return AllocateAndFree(std::make_shared<PooledDevice>(std::make_unique<HostDevice>()), kind, free);
  };
  constexpr double kNothing = 0, kFlat = 0.8;
  bench::Compare(name + ", 10 free, at most 60 ns/list", kNothing, pool(10),
                 AllocateAndFree(std::make_shared<List>(), kind, 10));
  bench::Compare(name + ", 1000 free/10 free", kFlat, pool(1'000), pool(10));
  bench::Compare(name + ", 65536 free/10 free", kFlat, pool(65'536), pool(10));
}

}  // namespace

int main(int argc, char** argv) {
  Pooled(MemoryKind::kManaged, "host memory");
  Pooled(MemoryKind::kDevice, "device memory");
  return bench::Run(argc, argv);
}
