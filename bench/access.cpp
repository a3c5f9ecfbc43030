// SPDX-License-Identifier: BSD-2-Clause
// What does an access cost that finds its bytes in place, and what the first one of a big memory?
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "bench/compare.hpp"
#include "ferry/backend.hpp"
#include "ferry/sim.hpp"
#include "ferry/synced_memory.hpp"

namespace {

using ferry::Stream;
using ferry::SyncedMemory;

constexpr std::size_t kBig = 100'000'000;  // in bytes

template <class T>
void Keep(const T* ptr) {
  benchmark::DoNotOptimize(ptr);
}

/// A thousand accesses, each of which really is made; ten a turn, for so short a loop depends on where it
/// lies.
template <class Access>
auto Often(Access access) {
  return [=] {
    for (int i = 0; i < 100; ++i) {
      Keep(access()), Keep(access()), Keep(access()), Keep(access()), Keep(access());
      Keep(access()), Keep(access()), Keep(access()), Keep(access()), Keep(access());
    }
  };
}

/// The least that a thread-safe lazy pointer can do: an atomic load and a compare.
struct Plain {
  std::atomic<void*> ready{this};
  static void* Reach() { std::abort(); }
  void* get() const {
    if (void* ptr = ready.load(std::memory_order_acquire)) return ptr;
    return Reach();
  }
};

/// A read on the cpu is to take at most 1.5 times as long as the reference.
void InPlace(ferry::Device& device) {
  static const Plain plain;
  static SyncedMemory read(64, device), host(64, device), gpu(64, device), pair(64, device);
  static const Stream side(device), other(device);
  read.overwrite_cpu_data(), read.gpu_data(side);
  host.overwrite_cpu_data(), gpu.overwrite_gpu_data(side);
  pair.overwrite_gpu_data(side), pair.gpu_data(other);
  const auto reference = Often([] { return plain.get(); });
  constexpr double kRequired = 1 / 1.5, kNothing = 0;
  bench::Compare("cpu_data/1000", kRequired, Often([] { return read.cpu_data(); }), reference);
  bench::Compare("gpu_data(stream)/1000", kNothing, Often([] { return read.gpu_data(side); }), reference);
  bench::Compare("mutable_cpu_data/1000", kNothing, Often([] { return host.mutable_cpu_data(); }), reference);
  bench::Compare("overwrite_cpu_data/1000", kNothing, Often([] { return host.overwrite_cpu_data(); }),
                 reference);
  bench::Compare("mutable_gpu_data(stream)/1000", kNothing, Often([] { return gpu.mutable_gpu_data(side); }),
                 reference);
  bench::Compare("gpu_data, two streams in turn/1000", kNothing, Often([] {
                   (void)pair.gpu_data(other);
                   return pair.gpu_data(side);
                 }),
                 reference);
}

/// Memory that nobody has touched before, on either side, is written once.
void FirstOverwrite(ferry::Device& host) {
  bench::Compare(
      "first overwrite of 100 MB", 0.95,
      [&host] {
        SyncedMemory memory(kBig, host);
        void* const ptr = memory.overwrite_cpu_data();
        std::memset(ptr, 1, kBig);
        benchmark::DoNotOptimize(ptr);
      },
      [] {
        void* ptr = std::malloc(kBig);
        std::memset(ptr, 1, kBig);
        benchmark::DoNotOptimize(ptr);
        std::free(ptr);
      });
}

}  // namespace

int main(int argc, char** argv) {
  ferry::sim::Reset();
  InPlace(ferry::GetDevice("sim"));
  FirstOverwrite(ferry::GetDevice("host"));
  return bench::Run(argc, argv);
}
