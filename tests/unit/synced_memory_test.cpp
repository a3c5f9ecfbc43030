// SPDX-License-Identifier: BSD-2-Clause
// Which calls an access makes, in which order, and what it does to the head.
#include "ferry/synced_memory.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "synced_memory_device.hpp"

namespace ferry::testing {
namespace {

using enum Head;

struct MemoryFixture {
  explicit MemoryFixture(std::size_t size = 4, bool unified = false) : device(unified), memory(size, device) {
    device.Take();
  }
  LogDevice device;
  Stream main = Stream::Main(device), a{device}, b{device};
  SyncedMemory memory;
};

TEST_CASE("a memory that nobody accesses makes no call") {
  LogDevice device;
  { const SyncedMemory memory(4, device); }
  CHECK(device.Take().empty());
}

TEST_CASE("an access allocates its own side, and the destructor gives both back") {
  LogDevice device;
  {
    SyncedMemory memory(4, device);
    memory.overwrite_cpu_data();
    CHECK(device.Take() == Calls{"allocate pinned 4"});
    memory.overwrite_gpu_data();
    CHECK(device.Take() == Calls{"allocate device 4 on main"});
  }
  CHECK(device.Take() == Calls{"deallocate pinned 4", "deallocate device 4 on main"});
  CHECK(device.live() == 0);
}

TEST_CASE("bytes that nobody wrote read as zeros on the cpu, without work for the device") {
  MemoryFixture f;
  CHECK(Bytes(f.memory.cpu_data(), 4) == std::vector{0, 0, 0, 0});
  CHECK(f.device.Take() == Calls{"allocate pinned 4"});
  CHECK(f.memory.head() == HEAD_AT_CPU);
}

TEST_CASE("bytes that nobody wrote read as zeros on the gpu, in the order of the stream") {
  MemoryFixture f;
  const void* const ptr = f.memory.gpu_data(f.a);
  CHECK(f.device.Take() == Calls{"allocate device 4 on s1", "fill 4 on s1"});
  CHECK(f.memory.head() == HEAD_AT_GPU);
  f.device.RunAll();
  CHECK(Bytes(ptr, 4) == std::vector{0, 0, 0, 0});
}

TEST_CASE("an overwrite neither copies nor zeroes, whatever the head") {
  MemoryFixture f;
  f.memory.overwrite_gpu_data();
  CHECK(f.device.Take() == Calls{"allocate device 4 on main"});
  f.memory.overwrite_cpu_data();
  CHECK(f.device.Take() == Calls{"allocate pinned 4"});
  f.memory.overwrite_gpu_data();
  CHECK(f.device.Take().empty());
  CHECK(f.memory.head() == HEAD_AT_GPU);
}

TEST_CASE("a read on the gpu copies once, and both sides hold the bytes") {
  MemoryFixture f;
  std::memset(f.memory.overwrite_cpu_data(), 7, 4);
  const void* const ptr = f.memory.gpu_data();
  CHECK(f.device.Take() ==
        Calls{"allocate pinned 4", "allocate device 4 on main", "to device 4 on main", "record e1 on main"});
  CHECK(f.memory.head() == SYNCED);
  CHECK(f.memory.gpu_data() == ptr);
  f.memory.cpu_data();
  CHECK(f.device.Take().empty());
  f.device.RunAll();
  CHECK(Bytes(ptr, 4) == std::vector{7, 7, 7, 7});
}

TEST_CASE("a read on the cpu copies on the stream that wrote last, and waits for that copy alone") {
  MemoryFixture f;
  void* const ptr = f.memory.overwrite_gpu_data(f.a);
  f.device.Launch([ptr] { std::memset(ptr, 7, 4); });
  f.device.Take();
  CHECK(Bytes(f.memory.cpu_data(), 4) == std::vector{7, 7, 7, 7});
  CHECK(f.device.Take() ==
        Calls{"allocate pinned 4", "to host 4 on s1", "record e1 on s1", "host waits for e1"});
  CHECK(f.memory.head() == SYNCED);
}

TEST_CASE("a mutable access takes the bytes from the other side") {
  MemoryFixture f;
  f.memory.mutable_gpu_data();
  CHECK(f.memory.head() == HEAD_AT_GPU);
  f.memory.mutable_cpu_data();
  CHECK(f.memory.head() == HEAD_AT_CPU);
  f.device.Take();
  f.memory.mutable_gpu_data();
  CHECK(f.device.Take() == Calls{"to device 4 on main", "record e2 on main"});
}

TEST_CASE("an access that finds its bytes in place makes no call") {
  MemoryFixture f;
  f.memory.mutable_cpu_data();
  f.device.Take();
  f.memory.cpu_data(), f.memory.mutable_cpu_data(), f.memory.overwrite_cpu_data();
  CHECK(f.device.Take().empty());
  f.memory.mutable_gpu_data(f.a);
  f.device.Take();
  f.memory.gpu_data(f.a), f.memory.mutable_gpu_data(f.a), f.memory.overwrite_gpu_data(f.a);
  CHECK(f.device.Take().empty());
}

TEST_CASE("a pointer stays the same for life") {
  MemoryFixture f;
  const void* const cpu = f.memory.cpu_data();
  const void* const gpu = f.memory.gpu_data();
  CHECK(f.memory.mutable_cpu_data() == cpu);
  CHECK(f.memory.overwrite_gpu_data(f.a) == gpu);
  f.memory.Resize(2), f.memory.Resize(4);
  CHECK(f.memory.cpu_data() == cpu);
  CHECK(f.memory.gpu_data(f.b) == gpu);
}

TEST_CASE("two streams that read one after the other wait for the writer, not for each other") {
  MemoryFixture f;
  f.memory.overwrite_gpu_data(f.main);
  f.device.Take();
  f.memory.gpu_data(f.a), f.memory.gpu_data(f.b);
  CHECK(f.device.Take() ==
        Calls{"record e1 on main", "s1 waits for e1", "record e2 on main", "s2 waits for e2"});
  f.memory.gpu_data(f.a), f.memory.gpu_data(f.b), f.memory.gpu_data(f.main);
  CHECK(f.device.Take().empty());
}

TEST_CASE("a write on a stream waits for the readers on others") {
  MemoryFixture f;
  f.memory.gpu_data(f.a), f.memory.gpu_data(f.b);
  f.device.Take();
  f.memory.mutable_gpu_data(f.a);
  CHECK(f.device.Take() == Calls{"record e2 on s2", "s1 waits for e2"});
}

TEST_CASE("a write after a read on the same stream still waits for a reader on another") {
  MemoryFixture f;
  f.memory.overwrite_gpu_data(f.a);
  f.memory.gpu_data(f.b);
  f.device.Take();
  f.memory.overwrite_gpu_data(f.a);
  CHECK(f.device.Take() == Calls{"record e2 on s2", "s1 waits for e2"});
}

TEST_CASE("a write on the host waits for the copy that reads the old bytes, not for the kernels behind it") {
  bool ran = false;  // before the device, whose end runs what is queued
  MemoryFixture f;
  f.memory.overwrite_cpu_data();
  f.memory.gpu_data();
  f.device.Launch([&ran] { ran = true; });
  f.device.Take();
  f.memory.overwrite_cpu_data();
  CHECK(f.device.Take() == Calls{"host waits for e1"});
  CHECK_FALSE(ran);
  f.device.RunAll();
}

TEST_CASE("memory goes back in the order of its last use, after all others") {
  LogDevice device;
  const Stream a(device), b(device);
  {
    SyncedMemory memory(4, device);
    memory.overwrite_gpu_data(a);
    memory.gpu_data(b);
    device.Take();
  }
  CHECK(device.Take() == Calls{"record e2 on s1", "s2 waits for e2", "deallocate device 4 on s2"});
}

TEST_CASE("of a stream that has ended, the point after its last work is left") {
  MemoryFixture f;
  f.memory.overwrite_gpu_data(Stream(f.device));
  CHECK(f.device.Take() ==
        Calls{"create stream", "allocate device 4 on s3", "record e1 on s3", "destroy s3"});
  f.memory.gpu_data(f.a);
  f.memory.gpu_data(f.b);
  CHECK(f.device.Take() == Calls{"s1 waits for e1", "s2 waits for e1"});
}

TEST_CASE("a borrowed stream with the handle of one that was forgotten waits for the work of that one") {
  for (const bool reads : {true, false}) {
    MemoryFixture f;
    const Stream lent = Stream::Borrow(f.device, StreamHandle{77});
    f.memory.overwrite_gpu_data(lent);
    f.memory.Forget(lent);
    f.device.Take();
    reads ? (void)f.memory.gpu_data(lent) : (void)f.memory.mutable_gpu_data(lent);
    CHECK(f.device.Take() == Calls{"s76 waits for e1"});
  }
}

TEST_CASE("a stream that no memory has to wait for ends without a point") {
  MemoryFixture f;
  f.memory.overwrite_gpu_data(f.a);
  f.device.Take();
  { const Stream brief(f.device); }
  CHECK(f.device.Take() == Calls{"create stream", "destroy s3"});
}

TEST_CASE("readers on streams that come and go leave no more than a few points") {
  for (const bool own : {true, false}) {
    LogDevice other;
    MemoryFixture f;
    LogDevice& device = own ? f.device : other;
    f.memory.overwrite_gpu_data(Stream::Main(device));
    const std::size_t live = device.live();
    for (int i = 0; i < 1000; ++i) {
      f.memory.gpu_data(Stream(device));
      device.RunAll();
      REQUIRE(device.live() <= live + 64);
    }
  }
}

TEST_CASE("unified memory is one buffer, and the host waits instead of copying") {
  MemoryFixture f(4, true);
  void* const ptr = f.memory.overwrite_gpu_data(f.a);
  f.device.Launch([ptr] { std::memset(ptr, 7, 4); });
  CHECK(f.device.Take() == Calls{"allocate managed 4"});
  CHECK(f.memory.cpu_data() == ptr);
  CHECK(f.device.Take() == Calls{"record e1 on s1", "host waits for e1"});
  CHECK(Bytes(ptr, 4) == std::vector{7, 7, 7, 7});
  CHECK(f.memory.head() == SYNCED);
  CHECK(f.memory.mutable_cpu_data() == ptr);
  CHECK(f.memory.mutable_gpu_data() == ptr);
}

TEST_CASE("unified memory is given back when the host has waited for its last use") {
  LogDevice device(true);
  { SyncedMemory(4, device).overwrite_gpu_data(); }
  CHECK(device.Take() ==
        Calls{"allocate managed 4", "record e1 on main", "host waits for e1", "deallocate managed 4"});
}

TEST_CASE("a memory of no bytes makes no call, and its head moves as any other's") {
  MemoryFixture f(0);
  CHECK(f.memory.cpu_data() == nullptr);
  CHECK(f.memory.head() == HEAD_AT_CPU);
  CHECK(f.memory.gpu_data() == nullptr);
  CHECK(f.memory.head() == SYNCED);
  CHECK(f.memory.mutable_gpu_data(f.a) == nullptr);
  CHECK(f.memory.head() == HEAD_AT_GPU);
  CHECK(f.memory.overwrite_cpu_data() == nullptr);
  f.memory.Prefetch(Side::kGpu, f.a);
  f.memory.Resize(0);
  CHECK(f.device.Take().empty());
}

TEST_CASE("an access of no bytes makes no call, wherever they would be") {
  MemoryFixture f;
  for (const std::size_t first : {0U, 2U, 4U}) {
    f.memory.overwrite_gpu_data({first, 0}, f.a);
    f.memory.mutable_cpu_data({first, 0});
    f.memory.gpu_data({first, 0}, f.b);
  }
  f.memory.cpu_data({4, ByteRange::kRest});
  CHECK(f.device.Take().empty());
  CHECK(f.memory.head() == UNINITIALIZED);
}

TEST_CASE("the nested enum and its values are Caffe's") {
  STATIC_CHECK(std::is_same_v<SyncedMemory::SyncedHead, Head>);
  STATIC_CHECK(SyncedMemory::HEAD_AT_GPU == Head::HEAD_AT_GPU);
  STATIC_CHECK_FALSE(std::is_copy_constructible_v<SyncedMemory>);
  MemoryFixture f;
  CHECK(f.memory.size() == 4);
  CHECK(f.memory.capacity() == 4);
  CHECK(&f.memory.device() == &f.device);
  CHECK(f.memory.head() == SyncedMemory::UNINITIALIZED);
}

}  // namespace
}  // namespace ferry::testing
