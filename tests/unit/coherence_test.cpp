// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/coherence.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <iterator>
#include <set>
#include <string>

#include "coherence_rows.hpp"

namespace ferry::testing {
namespace {

constexpr bool IsTheRule(const Row& row) {
  return Next(row.head, row.side, row.access) == Transition{row.next, row.action};
}
constexpr int Position(const Row& row) {
  const int side = row.side == kCpu ? 0 : 1;
  return (static_cast<int>(row.head) * 2 + side) * 3 + static_cast<int>(row.access);
}
constexpr bool EachRowOnce() {
  for (int i = 0; i < 24; ++i)
    if (Position(kRows[i]) != i) return false;
  return std::size(kRows) == 24;
}

static_assert(EachRowOnce(), "four heads, two sides, three accesses");
static_assert(std::all_of(std::begin(kRows), std::end(kRows), IsTheRule), "the rule is the table");

TEST_CASE("the rule gives every row of the table") {
  for (const Row& row : kRows) {
    INFO(Name(row.head) << ", " << Name(row.side) << ' ' << Name(row.access));
    CHECK(Next(row.head, row.side, row.access) == Transition{row.next, row.action});
  }
}

TEST_CASE("a head has the name and the value that Caffe gave it") {
  CHECK(static_cast<int>(UNINITIALIZED) == 0);
  CHECK(static_cast<int>(HEAD_AT_CPU) == 1);
  CHECK(static_cast<int>(HEAD_AT_GPU) == 2);
  CHECK(static_cast<int>(SYNCED) == 3);
  CHECK(Name(UNINITIALIZED) == std::string("UNINITIALIZED"));
  CHECK(Name(HEAD_AT_CPU) == std::string("HEAD_AT_CPU"));
  CHECK(Name(HEAD_AT_GPU) == std::string("HEAD_AT_GPU"));
  CHECK(Name(SYNCED) == std::string("SYNCED"));
}

TEST_CASE("sides, accesses and actions have names that can be told apart") {
  CHECK(Name(kCpu) == std::string("cpu"));
  CHECK(Name(kGpu) == std::string("gpu"));
  CHECK(std::set<std::string>{Name(kRead), Name(kReadWrite), Name(kOverwrite)} ==
        std::set<std::string>{"read", "mutable", "overwrite"});
  CHECK(std::set<std::string>{Name(kNone), Name(kZero), Name(kCopy)} ==
        std::set<std::string>{"nothing", "zero", "copy"});
}

}  // namespace
}  // namespace ferry::testing
