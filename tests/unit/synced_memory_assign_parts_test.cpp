// SPDX-License-Identifier: BSD-2-Clause
// Assign of a part: where it copies, and what it refuses.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "ferry/synced_memory.hpp"
#include "synced_memory_device.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::Message;
using enum Head;

/// A source of 10 to 13 and a target of threes, each at a head.
struct AssignPartsFixture {
  explicit AssignPartsFixture(Head from, Head to = UNINITIALIZED, bool unified = false)
      : device(unified), source(4, device), target(4, device) {
    Write(source, {10, 11, 12, 13}, from), Write(target, {3, 3, 3, 3}, to);
    device.Take();
  }
  void Write(SyncedMemory& memory, const std::array<unsigned char, 4>& values, Head head) {
    if (head == HEAD_AT_CPU) std::memcpy(memory.overwrite_cpu_data(), values.data(), 4);
    if (head == HEAD_AT_GPU || head == SYNCED) {
      void* const ptr = memory.overwrite_gpu_data(a);
      device.Launch([=] { std::memcpy(ptr, values.data(), 4); });
    }
    if (head == SYNCED) memory.cpu_data();
  }
  /// What the host sees, or, with a stream, a kernel there.
  std::vector<int> Seen(const SyncedMemory& memory, const Stream* on = nullptr) {
    const void* const ptr = on == nullptr ? memory.cpu_data() : memory.gpu_data(*on);
    device.RunAll();
    return Bytes(ptr, 4);
  }
  LogDevice device;
  Stream a{device}, b{device};
  SyncedMemory source, target;
};

TEST_CASE("Assign of a part brings it to every side, wherever the two memories were, and keeps the rest") {
  const bool unified = GENERATE(false, true), on_stream = GENERATE(false, true);
  const Head from = GENERATE(UNINITIALIZED, HEAD_AT_CPU, HEAD_AT_GPU, SYNCED);
  const Head to = GENERATE(UNINITIALIZED, HEAD_AT_CPU, HEAD_AT_GPU, SYNCED);
  CAPTURE(unified, on_stream, from, to);
  for (const std::size_t first : {0U, 1U, 2U}) {
    AssignPartsFixture f(from, to, unified);
    f.target.Assign({1, 2}, f.source, 2, on_stream ? &f.b : nullptr);
    std::vector expected(4, to == UNINITIALIZED ? 0 : 3);
    expected[1] = from == UNINITIALIZED ? 0 : 12;
    expected[2] = from == UNINITIALIZED ? 0 : 13;
    const std::array<const Stream*, 3> sides{nullptr, &f.a, &f.b};
    for (std::size_t i = first; i < first + 3; ++i) CHECK(f.Seen(f.target, sides.at(i % 3)) == expected);
  }
}

TEST_CASE("a part of a memory becomes another one of it, and what is its own source is left alone") {
  const Head head = GENERATE(HEAD_AT_CPU, HEAD_AT_GPU, SYNCED);
  AssignPartsFixture f(head);
  f.source.Assign({0, 2}, f.source, 2);
  CHECK(f.Seen(f.source) == std::vector{12, 13, 12, 13});
  f.device.Take();
  f.source.Assign({1, 2}, f.source, 1);
  CHECK(f.device.Take().empty());
  CHECK(f.Seen(f.source, &f.b) == std::vector{12, 13, 12, 13});
}

TEST_CASE("Assign of a part refuses bytes that are not there, and a source that overlaps it in part") {
  const Head from = GENERATE(HEAD_AT_CPU, HEAD_AT_GPU);
  AssignPartsFixture f(from, HEAD_AT_CPU);
  CHECK_THROWS_MATCHES(f.target.Assign({3, 2}, f.source, 0), std::out_of_range,
                       Message("SyncedMemory::Assign: 2 bytes from byte 3 on of a memory, which has 4"));
  CHECK_THROWS_MATCHES(f.target.Assign({0, 2}, f.source, 3), std::out_of_range,
                       Message("SyncedMemory::Assign: 2 bytes from byte 3 on of a memory, which has 4"));
  CHECK_THROWS_MATCHES(f.target.Assign({0, 1}, f.source, 5), std::out_of_range,
                       Message("SyncedMemory::Assign: 1 bytes from byte 5 on of a memory, which has 4"));
  CHECK_THROWS_MATCHES(f.source.Assign({0, 2}, f.source, 1), std::invalid_argument,
                       Message("SyncedMemory::Assign: bytes 1 to 3 and 0 to 2 of a memory of 4 overlap in "
                               "part; they must be identical or disjoint"));
  CHECK_THROWS_AS(f.source.Assign({1, 2}, f.source, 0), std::invalid_argument);
  CHECK(f.device.Take().empty());
  CHECK(f.Seen(f.source) == std::vector{10, 11, 12, 13});
  CHECK(f.Seen(f.target) == std::vector{3, 3, 3, 3});
}

TEST_CASE("Assign of a part is made by the host where both have their bytes there alone, and not else") {
  AssignPartsFixture host(HEAD_AT_CPU, HEAD_AT_CPU), both(SYNCED, HEAD_AT_CPU),
      stream(HEAD_AT_CPU, HEAD_AT_CPU);
  host.target.Assign({1, 2}, host.source, 2);
  CHECK(host.device.Take().empty());
  CHECK(host.target.head() == HEAD_AT_CPU);
  both.target.Assign({1, 2}, both.source, 2);
  CHECK(both.device.Take().back() == "within device 2 on main");
  CHECK(both.target.head({1, 2}) == HEAD_AT_GPU);
  stream.target.Assign({1, 2}, stream.source, 2, &stream.b);
  CHECK(stream.device.Take().back() == "within device 2 on s2");
  CHECK(stream.target.head({1, 2}) == HEAD_AT_GPU);
}

}  // namespace
}  // namespace ferry::testing
