// SPDX-License-Identifier: BSD-2-Clause
// How the operands of one call are taken: what holds for each, and for all together.
#include "ferry/detail/take.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ferry/observer.hpp"
#include "tests/unit/synced_memory_device.hpp"

namespace ferry::testing {
namespace {

using detail::Request;
using detail::Take;

constexpr Access kAccesses[] = {Access::kRead, Access::kReadWrite, Access::kOverwrite};

/// A device, and a memory on it whose bytes are 1, 2, 3 ... and are where a place on the other side must
/// fetch them.
struct TakeFixture {
  LogDevice device;
  const Stream main = Stream::Main(device);
  SyncedMemory x{8, device, "weights"};
  const Stream* const on;

  explicit TakeFixture(bool cpu) : on(cpu ? nullptr : &main) {
    void* const ptr = cpu ? x.overwrite_gpu_data() : x.overwrite_cpu_data();
    for (int i = 0; i < 8; ++i) static_cast<unsigned char*>(ptr)[i] = static_cast<unsigned char>(i + 1);
    device.Take();
  }
  Head here() const { return on == nullptr ? Head::HEAD_AT_CPU : Head::HEAD_AT_GPU; }
  std::vector<void*> TakeAll(const std::vector<Request>& requests) {
    std::vector<void*> ptrs(requests.size());
    Take(requests, on, ptrs);
    return ptrs;
  }
};

/// An exception whose text has all of these.
class Names final : public Catch::Matchers::MatcherBase<std::invalid_argument> {
 public:
  explicit Names(std::vector<std::string> words) : words_(std::move(words)) {}
  bool match(const std::invalid_argument& error) const override {
    return std::all_of(words_.begin(), words_.end(), [&](const std::string& word) {
      return std::string_view(error.what()).find(word) != std::string_view::npos;
    });
  }
  std::string describe() const override { return "names memory, ranges and size"; }

 private:
  std::vector<std::string> words_;
};

TEST_CASE("Operands of one memory with one range take the joint access, in every order") {
  const bool cpu = GENERATE(false, true);
  for (const Access a : kAccesses)
    for (const Access b : kAccesses)
      for (const Access c : kAccesses) {
        CAPTURE(cpu, Name(a), Name(b), Name(c));
        TakeFixture f(cpu);
        const auto ptrs = f.TakeAll({{&f.x, {}, a}, {&f.x, {0, 8}, b}, {&f.x, {0, ByteRange::kRest}, c}});
        CHECK(ptrs == std::vector<void*>(3, ptrs[0]));
        f.device.RunAll();
        const bool all_overwrite = a == Access::kOverwrite && b == a && c == a;
        CHECK((Bytes(ptrs[0], 8) == std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8}) == !all_overwrite);
        CHECK(f.x.head() == (a == Access::kRead && b == a && c == a ? Head::SYNCED : f.here()));
      }
}

TEST_CASE("Each operand gets the first of its own bytes") {
  TakeFixture f(GENERATE(false, true));
  const auto ptrs = f.TakeAll({{&f.x, {4, 4}, Access::kReadWrite},
                               {&f.x, {0, 2}, Access::kRead},
                               {&f.x, {2, 2}, Access::kReadWrite},
                               {&f.x, {4, ByteRange::kRest}, Access::kRead}});
  f.device.RunAll();
  CHECK(Bytes(ptrs[0], 4) == std::vector<int>{5, 6, 7, 8});
  CHECK(Bytes(ptrs[1], 2) == std::vector<int>{1, 2});
  CHECK(Bytes(ptrs[2], 2) == std::vector<int>{3, 4});
  CHECK(ptrs[3] == ptrs[0]);
}

TEST_CASE("Parts of two memories may come in turn") {
  TakeFixture f(GENERATE(false, true));
  SyncedMemory y(8, f.device);
  const auto ptrs = f.TakeAll({{&f.x, {0, 4}, Access::kRead},
                               {&y, {0, 4}, Access::kOverwrite},
                               {&f.x, {4, 4}, Access::kRead},
                               {&y, {4, 4}, Access::kOverwrite}});
  const auto apart = [&](std::size_t a, std::size_t b) {
    return static_cast<std::byte*>(ptrs[b]) - static_cast<std::byte*>(ptrs[a]);
  };
  CHECK((apart(0, 2) == 4 && apart(1, 3) == 4));
}

TEST_CASE("Observers are told of the operands that were not in place, and of no other") {
  TakeFixture f(GENERATE(false, true));
  SyncedMemory y(8, f.device);
  f.TakeAll({{&y, {}, Access::kOverwrite}});
  std::vector<const SyncedMemory*> seen;
  const Watch watch([&](const AccessRecord& record) { seen.push_back(record.memory); });
  f.TakeAll({{&y, {}, Access::kRead}, {&f.x, {}, Access::kReadWrite}, {&y, {}, Access::kReadWrite}});
  CHECK(seen == std::vector<const SyncedMemory*>{&f.x});
}

TEST_CASE("Operands that overlap in part are refused where one of them writes, and nothing has changed") {
  TakeFixture f(GENERATE(false, true));
  const Access write = GENERATE(Access::kReadWrite, Access::kOverwrite);
  SyncedMemory other(8, f.device);
  const Head before = f.x.head();
  for (const Access access : kAccesses) {
    CHECK_THROWS_MATCHES(
        f.TakeAll({{&other, {}, Access::kOverwrite}, {&f.x, {0, 4}, write}, {&f.x, {2, 4}, access}}),
        std::invalid_argument, Names({"\"weights\"", "0", "2", "4", "8 bytes"}));
    CHECK_THROWS_AS(f.TakeAll({{&f.x, {2, 4}, access}, {&f.x, {}, write}}), std::invalid_argument);
    CHECK_THROWS_AS(f.TakeAll({{&f.x, {}, write}, {&f.x, {7, 1}, access}}), std::invalid_argument);
  }
  CHECK(f.device.Take().empty());
  CHECK(f.x.head() == before);
  CHECK(other.head() == Head::UNINITIALIZED);
}

TEST_CASE("Reads may overlap, and ranges that touch are disjoint") {
  TakeFixture f(GENERATE(false, true));
  const auto ptrs = f.TakeAll({{&f.x, {0, 4}, Access::kRead}, {&f.x, {2, 4}, Access::kRead}});
  f.device.RunAll();
  CHECK(Bytes(ptrs[0], 4) == std::vector<int>{1, 2, 3, 4});
  CHECK(Bytes(ptrs[1], 4) == std::vector<int>{3, 4, 5, 6});
  f.TakeAll({{&f.x, {0, 4}, Access::kOverwrite}, {&f.x, {4, 4}, Access::kReadWrite}});
}

TEST_CASE("A range beyond the memory is refused by its label, and nothing has changed") {
  TakeFixture f(GENERATE(false, true));
  SyncedMemory other(8, f.device);
  for (const ByteRange range :
       {ByteRange{4, 5}, ByteRange{9, 0}, ByteRange{9, ByteRange::kRest}, ByteRange{1, ByteRange::kRest - 1}})
    CHECK_THROWS_MATCHES(f.TakeAll({{&other, {}, Access::kOverwrite}, {&f.x, range, Access::kRead}}),
                         std::invalid_argument,
                         Names({"\"weights\"", std::to_string(range.first), "8 bytes"}));
  CHECK(f.device.Take().empty());
  CHECK(other.head() == Head::UNINITIALIZED);
}

}  // namespace
}  // namespace ferry::testing
