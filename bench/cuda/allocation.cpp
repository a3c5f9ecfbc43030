// SPDX-License-Identifier: BSD-2-Clause
// What does device memory cost beside cudaMalloc and cudaMallocAsync, with PooledDevice and with CUDA's pool
// alone?
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "bench/cuda/gpu.hpp"

namespace {

using bench::Check;
using ferry::Device;
using ferry::MemoryKind;

constexpr std::size_t kSmall = std::size_t{4} << 10, kLarge = std::size_t{64} << 20;
constexpr double kNothing = 0, kOfMalloc = 50, kOfMallocAsync = 1;

void Malloc(std::size_t bytes) {
  void* block = nullptr;
  Check(cudaMalloc(&block, bytes));
  Check(cudaFree(block));
}
void MallocAsync(std::size_t bytes) {
  void* block = nullptr;
  Check(cudaMallocAsync(&block, bytes, cudaStreamLegacy));
  Check(cudaFreeAsync(block, cudaStreamLegacy));
}

struct AllocateAndFree {
  Device& device;
  std::size_t bytes;
  ferry::StreamHandle main = device.properties().main_stream;

  void operator()() const {
    void* const block = device.Allocate(MemoryKind::kDevice, bytes, main);
    benchmark::DoNotOptimize(block);
    device.Deallocate(MemoryKind::kDevice, block, bytes, main);
  }
};

template <class Subject>
void Compare(const std::string& what, std::size_t bytes, Subject subject, double of_malloc,
             double of_malloc_async) {
  const std::string size = '/' + bench::Text(bytes);
  bench::Compare(what + ", cudaMalloc" + size, of_malloc, subject, [bytes] { Malloc(bytes); });
  bench::Compare(what + ", cudaMallocAsync" + size, of_malloc_async, subject,
                 [bytes] { MallocAsync(bytes); });
}

/// Small blocks in use, and as many free ones between them, as long work leaves them.
class Holes {
 public:
  explicit Holes(Device& device) : device_(device) {
    for (void*& block : blocks_) block = device.Allocate(MemoryKind::kDevice, kSmall, main_);
    for (std::size_t i = 0; i < blocks_.size(); i += 2) Free(i);
  }
  ~Holes() {
    for (std::size_t i = 1; i < blocks_.size(); i += 2) Free(i);
  }
  Holes(const Holes&) = delete;
  Holes& operator=(const Holes&) = delete;

 private:
  void Free(std::size_t i) { device_.Deallocate(MemoryKind::kDevice, blocks_[i], kSmall, main_); }

  static constexpr std::size_t kHoles = 65'536;
  Device& device_;
  ferry::StreamHandle main_ = device_.properties().main_stream;
  std::vector<void*> blocks_ = std::vector<void*>(2 * kHoles);
};

/// The same with holes in the device's memory and in CUDA's own pool, from the first call on: what is
/// measured before has none.
struct AmongHoles {
  AllocateAndFree allocate;
  Device& bare;
  std::shared_ptr<std::deque<Holes>> holes = std::make_shared<std::deque<Holes>>();

  void operator()() const {
    if (holes->empty()) holes->emplace_back(allocate.device), holes->emplace_back(bare);
    allocate();
  }
};

int Allocations(int argc, char** argv, Device& gpu) {
  const auto bare = ferry::Backends().front().make(gpu.properties().index);
  for (const std::size_t bytes : {kSmall, kLarge}) {
    Compare("MakeDevice", bytes, AllocateAndFree{gpu, bytes}, kOfMalloc, kOfMallocAsync);
    Compare("without PooledDevice", bytes, AllocateAndFree{*bare, bytes}, kNothing, kNothing);
  }
  for (const std::size_t bytes : {kSmall, kLarge})
    Compare("MakeDevice, 65536 holes", bytes, AmongHoles{{gpu, bytes}, *bare}, kOfMalloc, kOfMallocAsync);
  return bench::Run(argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::OnGpu([&](Device& gpu) { return Allocations(argc, argv, gpu); });
}
