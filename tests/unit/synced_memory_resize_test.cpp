// SPDX-License-Identifier: BSD-2-Clause
// Resize: what is kept, what reads as zeros, and what it costs.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <cstring>
#include <stdexcept>

#include "ferry/synced_memory.hpp"
#include "synced_memory_device.hpp"

namespace ferry::testing {
namespace {

using enum Head;

struct ResizeFixture {
  explicit ResizeFixture(bool unified = false) : device(unified), memory(4, device) {}
  LogDevice device;
  Stream a{device}, b{device};
  SyncedMemory memory;

  std::vector<int> Cpu() { return Bytes(memory.cpu_data(), memory.size()); }
  /// As a kernel on stream a sees them.
  std::vector<int> Gpu() {
    const void* const ptr = memory.gpu_data(a);
    device.RunAll();
    return Bytes(ptr, memory.size());
  }
  void WriteCpu() { std::memset(memory.mutable_cpu_data(), 7, memory.size()); }
  void WriteGpu() {
    void* const ptr = memory.overwrite_gpu_data(a);
    device.Launch([ptr, size = memory.size()] { std::memset(ptr, 7, size); });
  }
};

TEST_CASE("Resize makes no call, and moves neither the head nor the capacity") {
  ResizeFixture f;
  f.WriteCpu(), f.Gpu();
  f.device.Take();
  f.memory.Resize(2);
  CHECK(f.memory.size() == 2);
  f.memory.Resize(4);
  CHECK(f.memory.size() == 4);
  CHECK(f.memory.capacity() == 4);
  CHECK(f.memory.head() == SYNCED);
  CHECK(f.device.Take().empty());
}

TEST_CASE("Resize keeps the first bytes, and those that it adds read as zeros on either side") {
  for (const bool unified : {false, true})
    for (const bool on_cpu : {false, true})
      for (const bool cpu_first : {false, true}) {
        ResizeFixture f(unified);
        on_cpu ? f.WriteCpu() : f.WriteGpu();
        f.memory.Resize(1);
        f.memory.Resize(3);
        const std::vector expected{7, 0, 0};
        CHECK((cpu_first ? f.Cpu() : f.Gpu()) == expected);
        CHECK((cpu_first ? f.Gpu() : f.Cpu()) == expected);
      }
}

TEST_CASE("bytes that both sides held agree after shrinking and growing") {
  for (const bool unified : {false, true}) {
    ResizeFixture f(unified);
    f.WriteGpu(), f.Cpu();
    f.memory.Resize(2);
    f.memory.Resize(4);
    CHECK(f.Gpu() == std::vector{7, 7, 0, 0});
    CHECK(f.Cpu() == std::vector{7, 7, 0, 0});
    CHECK(f.memory.head() == SYNCED);
  }
}

TEST_CASE("after shrinking, a copy moves only what is in use") {
  ResizeFixture f;
  f.WriteCpu();
  f.memory.Resize(3);
  f.device.Take();
  f.memory.gpu_data(f.a);
  CHECK(f.device.Take() == Calls{"allocate device 4 on s1", "to device 3 on s1", "record e1 on s1"});
}

TEST_CASE("after growing, a copy moves what was written and the rest is filled where it is read") {
  ResizeFixture f;
  f.WriteGpu();
  f.memory.Resize(1), f.memory.Resize(4);
  f.device.Take();
  f.memory.cpu_data();
  CHECK(f.device.Take() ==
        Calls{"allocate pinned 4", "to host 1 on s1", "record e1 on s1", "host waits for e1"});
  f.memory.gpu_data(f.a);
  CHECK(f.device.Take() == Calls{"to device 3 on s1", "record e2 on s1"});  // which the host has zeroed
  f.memory.gpu_data(f.a);
  CHECK(f.device.Take().empty());
}

TEST_CASE("after growing, an overwrite needs no fill, and then there is no tail") {
  ResizeFixture f;
  f.WriteGpu();
  f.memory.Resize(1), f.memory.Resize(4);
  f.device.Take();
  f.memory.overwrite_gpu_data(f.a);
  f.memory.gpu_data(f.a);
  CHECK(f.device.Take().empty());
}

TEST_CASE("growing by nothing and shrinking leave the bytes in place") {
  ResizeFixture f;
  f.WriteCpu(), f.Gpu();
  f.device.Take();
  f.memory.Resize(4);
  f.memory.cpu_data(), f.memory.gpu_data(f.a);
  f.memory.Resize(2);
  f.memory.cpu_data(), f.memory.gpu_data(f.a);
  CHECK(f.device.Take().empty());
}

TEST_CASE(
    "the fill of a tail waits for the readers of the bytes before it, and the next reader for the fill") {
  ResizeFixture f;
  f.WriteGpu();
  f.memory.gpu_data(f.b);
  f.memory.Resize(1), f.memory.Resize(4);
  f.device.Take();
  f.memory.gpu_data(f.a);
  CHECK(f.device.Take() == Calls{"record e2 on s2", "s1 waits for e2", "fill 3 on s1"});
  f.memory.gpu_data(f.b);
  CHECK(f.device.Take() == Calls{"record e3 on s1", "s2 waits for e3"});
}

TEST_CASE("the host zeroes a tail only when no copy reads the buffer any more") {
  ResizeFixture f;
  f.WriteCpu();
  const void* const gpu = f.memory.gpu_data(f.a);
  f.memory.Resize(1), f.memory.Resize(4);
  CHECK(f.Cpu() == std::vector{7, 0, 0, 0});
  CHECK(Bytes(gpu, 4) == std::vector{7, 7, 7, 7});  // the copy was made before the tail
}

TEST_CASE("a memory that was never written reads as zeros after any Resize") {
  ResizeFixture f;
  f.memory.Resize(1);
  CHECK(f.Cpu() == std::vector{0});
  f.memory.Resize(4);
  CHECK(f.Gpu() == std::vector{0, 0, 0, 0});
  CHECK(f.Cpu() == std::vector{0, 0, 0, 0});
}

TEST_CASE("a memory that was shrunk to nothing has forgotten everything") {
  for (const bool on_cpu : {false, true}) {
    ResizeFixture f;
    on_cpu ? f.WriteCpu() : f.WriteGpu();
    f.memory.Resize(0);
    f.memory.cpu_data(), f.memory.gpu_data(f.a), f.memory.mutable_gpu_data(f.b);
    f.memory.Resize(2);
    CHECK(f.Cpu() == std::vector{0, 0});
    CHECK(f.Gpu() == std::vector{0, 0});
  }
}

TEST_CASE("a mutable access after growing sees the zeros too") {
  for (const bool unified : {false, true}) {
    ResizeFixture f(unified);
    f.WriteCpu();
    f.memory.Resize(2), f.memory.Resize(4);
    CHECK(Bytes(f.memory.mutable_cpu_data(), 4) == std::vector{7, 7, 0, 0});
    f.memory.Resize(1), f.memory.Resize(4);
    const void* const ptr = f.memory.mutable_gpu_data(f.a);
    f.device.RunAll();
    CHECK(Bytes(ptr, 4) == std::vector{7, 0, 0, 0});
  }
}

TEST_CASE("a size beyond the capacity is refused, and changes nothing") {
  ResizeFixture f;
  f.WriteCpu();
  f.memory.Resize(2);
  CHECK_THROWS_MATCHES(f.memory.Resize(5), std::length_error,
                       Catch::Matchers::Message("SyncedMemory::Resize: 5 bytes in a capacity of 4, which is "
                                                "the most; make a larger memory"));
  CHECK(f.memory.size() == 2);
  CHECK(f.Cpu() == std::vector{7, 7});
}

TEST_CASE("the first access allocates the capacity, so that growing finds room") {
  ResizeFixture f;
  f.memory.Resize(1);
  f.device.Take();
  f.memory.overwrite_cpu_data(), f.memory.overwrite_gpu_data(f.a);
  CHECK(f.device.Take() == Calls{"allocate pinned 4", "allocate device 4 on s1"});
  f.memory.Resize(4);
  CHECK(f.Gpu().size() == 4);
}

TEST_CASE("a Prefetch fills the tail on the gpu, and leaves the cpu's to the host") {
  ResizeFixture f;
  f.WriteCpu();
  f.memory.Resize(1), f.memory.Resize(4);
  f.device.Take();
  f.memory.Prefetch(Side::kCpu, f.a);
  CHECK(f.device.Take().empty());
  f.memory.Prefetch(Side::kGpu, f.a);
  CHECK(f.device.Take() ==
        Calls{"allocate device 4 on s1", "to device 1 on s1", "record e1 on s1", "fill 3 on s1"});
  CHECK(f.Gpu() == std::vector{7, 0, 0, 0});
  CHECK(f.Cpu() == std::vector{7, 0, 0, 0});
}

TEST_CASE("An access of no bytes waits for nobody, and does not stand for a later one of some") {
  for (const bool unified : {false, true}) {
    ResizeFixture f(unified), source(unified);
    source.WriteCpu();
    f.WriteGpu();
    f.memory.Prefetch(Side::kCpu, f.b);  // its copy still writes to the host's bytes
    f.memory.Resize(0);
    static_cast<void>(f.memory.overwrite_cpu_data());
    std::memset(source.memory.overwrite_cpu_data(), 9, 4);
    f.memory.Assign(source.memory, 4);
    f.device.RunAll();
    CHECK(f.Cpu() == std::vector{9, 9, 9, 9});
  }
}

}  // namespace
}  // namespace ferry::testing
