// SPDX-License-Identifier: BSD-2-Clause
// Bytes that the caller brings and nobody may write.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "ferry/detail/take.hpp"
#include "ferry/synced_memory.hpp"
#include "synced_memory_device.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::Message;
using enum Head;

struct ConstFixture {
  explicit ConstFixture(bool unified = false) : device(unified) {
    memory.emplace(4, device, "x");
    memory->set_const_cpu_data(theirs.data());
    device.Take();
  }
  LogDevice device;
  Stream main = Stream::Main(device), a{device};
  const std::array<unsigned char, 4> theirs{1, 2, 3, 4};
  std::array<unsigned char, 4> mine{5, 6, 7, 8};
  std::optional<SyncedMemory> memory;
};

std::string Refused(const std::string& what, int first, int last) {
  return "SyncedMemory: " + what + " of bytes " + std::to_string(first) + " to " + std::to_string(last) +
         " of \"x\", which has 4: its bytes were given as const, and are only read";
}

TEST_CASE("const bytes are read everywhere, and in place") {
  ConstFixture f(GENERATE(false, true));
  CHECK(f.memory->head() == HEAD_AT_CPU);
  CHECK(f.memory->cpu_data() == f.theirs.data());
  CHECK(Bytes(f.memory->gpu_data(f.a), 4) == std::vector{1, 2, 3, 4});
  CHECK(f.memory->head() == SYNCED);
  CHECK(f.memory->cpu_data({1, 2}) == f.theirs.data() + 1);
  f.memory->Prefetch(Side::kCpu, f.a);
  CHECK(f.memory->cpu_data() == f.theirs.data());
}

TEST_CASE("an access for writing of const bytes is an error, on every side, and nothing has changed") {
  const bool unified = GENERATE(false, true), synced = GENERATE(false, true);
  ConstFixture f(unified);
  if (synced) f.memory->gpu_data(f.a);
  const Head head = f.memory->head();
  f.device.Take();
  SyncedMemory& m = *f.memory;
  const auto refuses = [&](const std::function<void()>& write, const std::string& text) {
    CHECK_THROWS_MATCHES(write(), std::logic_error, Message(text));
    CHECK(f.device.Take() == Calls{});
    CHECK(m.head() == head);
  };
  for (int again = 0; again < 2; ++again) {
    refuses([&] { m.mutable_cpu_data(); }, Refused("read-write", 0, 4));
    refuses([&] { m.overwrite_cpu_data(); }, Refused("overwrite", 0, 4));
    refuses([&] { m.mutable_gpu_data(); }, Refused("read-write", 0, 4));
    refuses([&] { m.overwrite_gpu_data(f.a); }, Refused("overwrite", 0, 4));
    refuses([&] { m.overwrite_cpu_data({1, 2}); }, Refused("overwrite", 1, 3));
    refuses([&] { m.mutable_gpu_data({3, ByteRange::kRest}, f.a); }, Refused("read-write", 3, 4));
    const void* const read = m.cpu_data();
    CHECK(read == f.theirs.data());
    CHECK(Bytes(read, 4) == std::vector{1, 2, 3, 4});
  }
}

TEST_CASE("a call with a write of const bytes takes none of its operands") {
  ConstFixture f;
  SyncedMemory other(4, f.device, "y");
  const detail::Request requests[] = {{&other, {}, Access::kOverwrite}, {&*f.memory, {}, Access::kReadWrite}};
  std::array<void*, 2> ptrs{};
  for (const Stream* const on : {static_cast<const Stream*>(nullptr), static_cast<const Stream*>(&f.a)}) {
    CHECK_THROWS_AS(detail::Take(requests, on, ptrs), std::logic_error);
    CHECK(other.head() == UNINITIALIZED);
    CHECK(f.device.Take() == Calls{});
  }
}

TEST_CASE("const bytes may become fewer, and not more") {
  ConstFixture f;
  f.memory->Resize(2);
  CHECK(f.memory->size() == 2);
  CHECK_THROWS_MATCHES(
      f.memory->Resize(4), std::logic_error,
      Message("SyncedMemory: a Resize that adds bytes to the end of bytes 0 to 2 of \"x\", which has 2: its "
              "bytes were given as const, and are only read"));
  CHECK(f.memory->size() == 2);
  CHECK(f.memory->cpu_data() == f.theirs.data());
}

TEST_CASE("const bytes are assigned from, and not to") {
  ConstFixture f;
  SyncedMemory other(4, f.device);
  CHECK_THROWS_MATCHES(f.memory->Assign(other, 4), std::logic_error, Message(Refused("Assign", 0, 4)));
  CHECK_THROWS_MATCHES(f.memory->Assign({1, 2}, other, 0), std::logic_error,
                       Message(Refused("Assign", 1, 3)));
  CHECK(Bytes(f.memory->cpu_data(), 4) == std::vector{1, 2, 3, 4});
  CHECK(f.memory->size() == 4);
  other.Assign(*f.memory, 4);
  CHECK(Bytes(other.cpu_data(), 4) == std::vector{1, 2, 3, 4});
}

TEST_CASE("const bytes of the GPU are copied to the host, and refused like the host's") {
  ConstFixture f;
  f.memory->set_const_gpu_data(f.theirs.data(), f.a);
  CHECK(f.memory->gpu_data(f.a) == f.theirs.data());
  CHECK_THROWS_AS(f.memory->mutable_gpu_data(f.a), std::logic_error);
  const void* const host = f.memory->cpu_data();
  CHECK(host != f.theirs.data());
  CHECK(Bytes(host, 4) == std::vector{1, 2, 3, 4});
  CHECK_THROWS_AS(f.memory->mutable_cpu_data(), std::logic_error);
  CHECK(f.memory->head() == SYNCED);
}

TEST_CASE(
    "bytes that replace const ones, on any side, may be written, and the const ones go back untouched") {
  ConstFixture f;
  int given_back = 0;
  f.memory->set_const_cpu_data(f.theirs.data(), [&](void* ptr) {
    CHECK(ptr == f.theirs.data());
    ++given_back;
  });
  f.memory->gpu_data(f.a);
  SECTION("on the same side") { f.memory->set_cpu_data(f.mine.data()); }
  SECTION("on the other side") { f.memory->set_gpu_data(f.mine.data(), f.a); }
  CHECK(given_back == 1);
  CHECK(Bytes(f.memory->mutable_cpu_data(), 4) == std::vector{5, 6, 7, 8});
  CHECK(Bytes(f.theirs.data(), 4) == std::vector{1, 2, 3, 4});
  CHECK(given_back == 1);
}

TEST_CASE("const bytes that other const ones replace leave the memory constant") {
  ConstFixture f;
  f.memory->set_const_gpu_data(f.mine.data(), f.a);
  CHECK_THROWS_AS(f.memory->mutable_cpu_data(), std::logic_error);
  f.memory->set_const_cpu_data(f.theirs.data());
  CHECK_THROWS_AS(f.memory->overwrite_gpu_data(f.a), std::logic_error);
  CHECK(Bytes(f.memory->gpu_data(f.a), 4) == std::vector{1, 2, 3, 4});
}

TEST_CASE("a memory that releases its const bytes is an ordinary one") {
  ConstFixture f;
  f.memory->Release(Side::kCpu);
  CHECK(f.memory->head() == HEAD_AT_GPU);
  auto* const bytes = static_cast<unsigned char*>(f.memory->mutable_cpu_data());
  CHECK(bytes != f.theirs.data());
  CHECK(Bytes(bytes, 4) == std::vector{1, 2, 3, 4});
}

}  // namespace
}  // namespace ferry::testing
