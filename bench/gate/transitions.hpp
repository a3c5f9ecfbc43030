// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "ferry/sim.hpp"
#include "ferry/synced_memory.hpp"

namespace ferry::bench {

struct Transition {
  std::string what;
  long calls;  ///< of the runtime
};

/// The calls of `transition`, once those before it have made the events and blocks that it uses again.
inline long CallsOf(const std::function<void()>& prepare, const std::function<void()>& transition) {
  long calls = 0;
  for (int i = 0; i < 3; ++i) {
    prepare();
    const long before = sim::Inspect().runtime_calls;
    transition();
    calls = sim::Inspect().runtime_calls - before;
  }
  return calls;
}

/// How many calls of the runtime each kind of transition makes, on the simulated GPU or on a fake runtime
/// over it. The program uses `first`, which is its current device, with a pool around it.
inline std::vector<Transition> CountTransitions(Device& first, Device& second) {
  constexpr std::size_t kBytes = 4096;
  SyncedMemory memory(kBytes, first), far(kBytes, second);
  const Stream a(first), b(first), c(first);
  memory.mutable_gpu_data();
  const auto read_by_two = [&] {
    memory.mutable_gpu_data(a);
    memory.gpu_data(b);
    memory.gpu_data(c);
  };
  return {
      {"GPU read of bytes that the host has written",
       CallsOf([&] { memory.mutable_cpu_data(); }, [&] { memory.gpu_data(); })},
      {"host read of bytes that the GPU has written",
       CallsOf([&] { memory.mutable_gpu_data(); }, [&] { memory.cpu_data(); })},
      {"access on another stream", CallsOf([&] { memory.mutable_gpu_data(a); }, [&] { memory.gpu_data(b); })},
      {"write after two readers", CallsOf(read_by_two, [&] { memory.mutable_gpu_data(a); })},
      {"pooled allocate and free on one stream",
       CallsOf([] {}, [&] { SyncedMemory(kBytes, first).overwrite_gpu_data(a); })},
      {"GPU read of bytes that the host has written, of a GPU that is not current",
       CallsOf([&] { far.mutable_cpu_data(); }, [&] { far.gpu_data(); })},
  };
}

/// The same for a memory of `first` that is accessed on `second` too, its peer.
inline std::vector<Transition> CountPeerTransitions(Device& first, Device& second) {
  SyncedMemory memory(4096, first);
  const Stream here = Stream::Main(first), there = Stream::Main(second);
  const auto write = [&](const Stream& on) { return [&] { memory.mutable_gpu_data(on); }; };
  const auto read = [&](const Stream& on) { return [&] { memory.gpu_data(on); }; };
  const auto read_by_both = [&] {
    memory.mutable_gpu_data(here);
    memory.gpu_data(there);
  };
  return {
      {"read on a second GPU of bytes that the first has written", CallsOf(write(here), read(there))},
      {"the same once more", CallsOf(read_by_both, read(there))},
      {"write on the first GPU after a read on the second", CallsOf(read_by_both, write(here))},
      {"host read of bytes that the second GPU has written",
       CallsOf(write(there), [&] { memory.cpu_data(); })},
  };
}

}  // namespace ferry::bench
