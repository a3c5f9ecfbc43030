// SPDX-License-Identifier: BSD-2-Clause
// Bytes that the caller brings, and copies that are started ahead of the access.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "ferry/error.hpp"
#include "ferry/synced_memory.hpp"
#include "synced_memory_device.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::Message;
using enum Head;

struct AdoptFixture {
  explicit AdoptFixture(bool unified = false) : device(unified) { memory.emplace(4, device), device.Take(); }
  LogDevice device;
  Stream main = Stream::Main(device), a{device}, b{device};
  std::array<unsigned char, 4> mine{1, 2, 3, 4}, others{5, 6, 7, 8};
  std::optional<SyncedMemory> memory;
};

TEST_CASE("the caller's bytes are used as they are, and never freed") {
  AdoptFixture f;
  f.memory->set_cpu_data(f.mine.data());
  CHECK(f.memory->head() == HEAD_AT_CPU);
  CHECK(f.memory->mutable_cpu_data() == f.mine.data());
  f.memory->set_gpu_data(f.mine.data(), f.a);
  CHECK(f.memory->head() == HEAD_AT_GPU);
  CHECK(f.memory->gpu_data(f.a) == f.mine.data());
  f.memory.reset();
  for (const auto& call : f.device.Take()) CHECK(call.find("allocate") == std::string::npos);
}

TEST_CASE("bytes of ours are given back when the caller brings others") {
  AdoptFixture f;
  f.memory->overwrite_cpu_data(), f.memory->overwrite_gpu_data();
  f.device.Take();
  f.memory->set_cpu_data(f.mine.data());
  CHECK(f.device.Take() == Calls{"deallocate pinned 4"});
  f.memory->set_gpu_data(f.mine.data(), f.a);
  CHECK(f.device.Take() == Calls{"deallocate device 4 on main"});
}

TEST_CASE(
    "the first access of the gpu returns when the caller's bytes have been read, later ones wait for "
    "nothing") {
  AdoptFixture f;
  f.memory->set_cpu_data(f.mine.data());
  const void* const gpu = f.memory->gpu_data(f.a);
  CHECK(f.device.Take() ==
        Calls{"allocate device 4 on s1", "to device 4 on s1", "record e1 on s1", "host waits for e1"});
  f.mine.fill(77);
  CHECK(Bytes(gpu, 4) == std::vector{1, 2, 3, 4});
  f.memory->gpu_data(f.b);
  CHECK(f.device.Take() == Calls{"s2 waits for e1"});
  f.memory->gpu_data(f.main);
  CHECK(f.device.Take() == Calls{"main waits for e1"});
}

TEST_CASE("a gpu access does not wait for a copy on its way home to the caller's bytes") {
  AdoptFixture f;
  f.memory->set_cpu_data(f.mine.data());
  f.memory->overwrite_gpu_data(f.a);
  f.memory->Prefetch(Side::kCpu, f.a);
  f.device.Take();
  f.memory->gpu_data(f.b);
  CHECK(f.device.Take() == Calls{"record e2 on s1", "s2 waits for e2"});
}

TEST_CASE(
    "neither Prefetch nor async_gpu_push waits for the caller's bytes to be read; the next access does") {
  for (const bool push : {false, true}) {
    AdoptFixture f;
    f.memory->set_cpu_data(f.mine.data());
    push ? f.memory->async_gpu_push(f.a) : f.memory->Prefetch(Side::kGpu, f.a);
    CHECK(f.memory->head() == SYNCED);
    CHECK(f.device.Take() == Calls{"allocate device 4 on s1", "to device 4 on s1", "record e1 on s1"});
    f.memory->gpu_data(f.a);
    CHECK(f.device.Take() == Calls{"host waits for e1"});
  }
}

TEST_CASE("the caller's bytes have been read when an access returns, though their copy has no event") {
  AdoptFixture f;
  f.memory->set_cpu_data(f.mine.data());
  f.device.FailAt(3);  // after the allocation and the copy
  f.memory->Prefetch(Side::kGpu, f.a);
  const void* const gpu = f.memory->gpu_data(f.a);
  f.mine.fill(77);
  f.device.RunAll();
  CHECK(Bytes(gpu, 4) == std::vector{1, 2, 3, 4});
}

TEST_CASE("the next set_cpu_data gives the bytes back when it returns") {
  AdoptFixture f;
  f.memory->set_cpu_data(f.mine.data());
  f.memory->async_gpu_push(f.a);
  f.device.Take();
  f.memory->set_cpu_data(f.others.data());
  CHECK(f.device.Take() == Calls{"host waits for e1"});
  CHECK(f.memory->cpu_data() == f.others.data());
}

TEST_CASE("the destructor waits for copies of the caller's bytes, in either direction") {
  for (const bool home : {false, true}) {
    AdoptFixture f;
    f.memory->set_cpu_data(f.mine.data());
    if (home) f.memory->overwrite_gpu_data(f.a);
    f.memory->Prefetch(home ? Side::kCpu : Side::kGpu, f.a);
    f.device.Take();
    f.memory.reset();
    CHECK(f.device.Take() == Calls{"host waits for e1", "deallocate device 4 on s1"});
  }
}

TEST_CASE("set_gpu_data names the stream whose work writes the bytes") {
  AdoptFixture f;
  f.memory->set_gpu_data(f.mine.data(), f.a);
  f.memory->gpu_data(f.a);
  CHECK(f.device.Take().empty());
  f.memory->gpu_data(f.b);
  CHECK(f.device.Take() == Calls{"record e1 on s1", "s2 waits for e1"});
  f.memory->set_gpu_data(f.mine.data());
  f.device.Take();
  f.memory->gpu_data(f.main);
  CHECK(f.device.Take().empty());
}

TEST_CASE("adopted device bytes are given back in the main stream's order") {
  AdoptFixture f;
  f.memory->set_gpu_data(f.mine.data(), f.a);
  f.memory.reset();
  CHECK(f.device.Take() == Calls{"record e1 on s1", "main waits for e1"});
}

TEST_CASE("a deleter is called once, when the bytes would be given back") {
  for (const Side side : {Side::kCpu, Side::kGpu}) {
    AdoptFixture f;
    std::vector<void*> deleted;
    const auto deleter = [&](void* ptr) { deleted.push_back(ptr); };
    if (side == Side::kCpu) {
      f.memory->set_cpu_data(f.mine.data(), deleter);
      f.memory->async_gpu_push(f.a);
      f.device.Take();
      f.memory->set_cpu_data(f.others.data());
      CHECK(f.device.Take() == Calls{"host waits for e1"});
    } else {
      f.memory->set_gpu_data(f.mine.data(), f.a, deleter);
      f.memory->set_gpu_data(f.others.data());
      CHECK(f.device.Take() == Calls{"record e1 on s1", "main waits for e1"});
    }
    CHECK(deleted == std::vector<void*>{f.mine.data()});
    f.memory.reset();
    CHECK(deleted.size() == 1);
  }
}

TEST_CASE("the destructor calls the deleter") {
  AdoptFixture f;
  int deleted = 0;
  f.memory->set_cpu_data(f.mine.data(), [&](void*) { ++deleted; });
  f.memory->set_gpu_data(f.others.data(), [&](void*) { ++deleted; });
  f.memory.reset();
  CHECK(deleted == 2);
}

TEST_CASE("Release calls the deleter of adopted bytes, and memory of ours takes their place") {
  LogDevice device;
  int deleted = 0;
  {
    SyncedMemory memory(4, device);
    unsigned char bytes[] = {1, 2, 3, 4};
    memory.set_cpu_data(bytes, [&](void* ptr) {
      CHECK(ptr == bytes);
      ++deleted;
    });
    memory.Release(Side::kCpu);
    CHECK(deleted == 1);
    CHECK(memory.head() == SyncedMemory::HEAD_AT_GPU);
    CHECK_FALSE(memory.Owns(bytes));
    CHECK(memory.cpu_data() != bytes);
    CHECK(Bytes(memory.cpu_data(), 4) == std::vector{1, 2, 3, 4});
  }
  CHECK(deleted == 1);
  CHECK(device.live() == 0);
}

TEST_CASE("a refused pointer stays the caller's, and the memory as it was") {
  AdoptFixture f;
  int deleted = 0;
  const auto deleter = [&](void*) { ++deleted; };
  f.memory->set_cpu_data(f.mine.data());
  const void* const gpu = f.memory->gpu_data();
  f.device.Take();
  CHECK_THROWS_MATCHES(f.memory->set_cpu_data(nullptr, deleter), std::invalid_argument,
                       Message("SyncedMemory::set_cpu_data: the pointer is null; give one to 4 bytes"));
  CHECK_THROWS_MATCHES(f.memory->set_gpu_data(nullptr, deleter), std::invalid_argument,
                       Message("SyncedMemory::set_gpu_data: the pointer is null; give one to 4 bytes"));
  CHECK_THROWS_MATCHES(f.memory->set_const_cpu_data(nullptr, deleter), std::invalid_argument,
                       Message("SyncedMemory::set_const_cpu_data: the pointer is null; give one to 4 bytes"));
  CHECK(f.memory->head() == SYNCED);
  CHECK(f.memory->cpu_data() == f.mine.data());
  CHECK(f.memory->gpu_data() == gpu);
  CHECK(f.device.Take().empty());
  CHECK(Bytes(f.memory->cpu_data(), 4) == std::vector{1, 2, 3, 4});
  f.memory.reset();
  CHECK(deleted == 0);
}

TEST_CASE("the capacity of adopted bytes is the size that they were adopted with") {
  AdoptFixture f;
  f.memory->Resize(2);
  f.memory->set_cpu_data(f.mine.data());
  CHECK(f.memory->capacity() == 2);
  CHECK_THROWS_AS(f.memory->Resize(3), std::length_error);
  f.memory->overwrite_gpu_data();
  CHECK(f.device.Take() == Calls{"allocate device 2 on main"});
}

TEST_CASE("adopted bytes have no tail to zero but what Resize adds") {
  AdoptFixture f;
  f.memory->overwrite_cpu_data();
  f.memory->Resize(1), f.memory->Resize(4);
  f.memory->set_cpu_data(f.mine.data());
  CHECK(Bytes(f.memory->cpu_data(), 4) == std::vector{1, 2, 3, 4});
  f.memory->Resize(2), f.memory->Resize(4);
  CHECK(Bytes(f.memory->cpu_data(), 4) == std::vector{1, 2, 0, 0});
}

TEST_CASE("unified memory adopts one buffer for both sides") {
  AdoptFixture f(true);
  f.memory->set_cpu_data(f.mine.data());
  CHECK(f.memory->gpu_data(f.a) == f.mine.data());
  CHECK(f.memory->cpu_data() == f.mine.data());
  f.memory->mutable_gpu_data(f.a);
  f.device.Take();
  f.memory.reset();
  CHECK(f.device.Take() == Calls{"record e1 on s1", "host waits for e1"});
}

TEST_CASE("Prefetch starts the copy on its stream, and the next access waits for it") {
  AdoptFixture f;
  f.memory->overwrite_gpu_data(f.a);
  f.device.Take();
  f.memory->Prefetch(Side::kCpu, f.b);
  CHECK(f.memory->head() == SYNCED);
  CHECK(f.device.Take() == Calls{"allocate pinned 4", "record e1 on s1", "s2 waits for e1", "to host 4 on s2",
                                 "record e2 on s2"});
  f.memory->cpu_data();
  CHECK(f.device.Take() == Calls{"host waits for e2"});
  f.memory->cpu_data();
  CHECK(f.device.Take().empty());
}

TEST_CASE(
    "an access after the Prefetch of the caller's bytes waits for their copy, not for what is behind it") {
  bool ran = false;  // before the device, whose end runs what is queued
  AdoptFixture f;
  std::vector<unsigned char> bytes(4, 5);
  f.memory->set_cpu_data(bytes.data());
  f.memory->Prefetch(Side::kGpu, f.a);
  f.device.Launch([&] { ran = true; });
  f.device.Take();
  f.memory->gpu_data(f.a);
  CHECK(f.device.Take() == Calls{"host waits for e1"});
  CHECK_FALSE(ran);
  f.memory->gpu_data(f.a);
  CHECK(f.device.Take().empty());
}

TEST_CASE("Prefetch has nothing to do where the bytes are, or where there are none") {
  AdoptFixture f;
  f.memory->Prefetch(Side::kCpu, f.a);
  CHECK(f.memory->head() == UNINITIALIZED);
  f.memory->overwrite_cpu_data();
  f.device.Take();
  f.memory->Prefetch(Side::kCpu, f.a);
  CHECK(f.device.Take().empty());
  f.memory->Prefetch(Side::kGpu, f.a);
  f.device.Take();
  f.memory->Prefetch(Side::kGpu, f.b);
  CHECK(f.device.Take().empty());
}

TEST_CASE("a write on the stream of a Prefetch needs no wait for it, on another it does") {
  AdoptFixture f;
  f.memory->overwrite_gpu_data(f.a);
  f.memory->Prefetch(Side::kCpu, f.a);
  f.device.Take();
  f.memory->mutable_gpu_data(f.a);
  CHECK(f.device.Take().empty());
  f.memory->Prefetch(Side::kCpu, f.b);
  f.device.Take();
  f.memory->mutable_gpu_data(f.a);
  CHECK(f.device.Take() == Calls{"s1 waits for e3"});
}

TEST_CASE("async_gpu_push is for bytes that only the cpu has") {
  AdoptFixture f;
  CHECK_THROWS_AS(f.memory->async_gpu_push(f.a), std::logic_error);
  f.memory->overwrite_gpu_data();
  CHECK_THROWS_MATCHES(f.memory->async_gpu_push(f.a), std::logic_error,
                       Message("SyncedMemory::async_gpu_push: the head is HEAD_AT_GPU, and must be "
                               "HEAD_AT_CPU; Prefetch is for any"));
  f.memory->cpu_data();
  CHECK_THROWS_AS(f.memory->async_gpu_push(f.a), std::logic_error);
  f.memory->mutable_cpu_data();
  CHECK_NOTHROW(f.memory->async_gpu_push(f.a));
  CHECK(f.memory->head() == SYNCED);
}

}  // namespace
}  // namespace ferry::testing
