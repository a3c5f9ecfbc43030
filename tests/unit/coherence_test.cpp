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

// What holds of sets of spaces, however many there are.

constexpr Access kAll[] = {kRead, kReadWrite, kOverwrite};

constexpr bool Moves(const SpacesTransition& transition) { return transition.action != kNone; }

/// The accessed space has the bytes then; a read takes them from nobody and gives them to nobody else; a
/// write leaves them there alone. They move only where they are needed and missing: as a copy if somebody has
/// them, and as zeros if nobody has. The same access again finds them in place.
constexpr bool KeepsBytes(Spaces holders, Spaces space, Access access) {
  const SpacesTransition done = Next(holders, space, access);
  const bool there = (done.next & space) != 0;
  const bool others = access == kRead ? (done.next & ~space) == (holders & ~space) : done.next == space;
  const bool needed = access != kOverwrite && (holders & space) == 0;
  const bool right = done.action == (!needed ? kNone : holders == 0 ? kZero : kCopy);
  const SpacesTransition again = Next(done.next, space, access);
  return there && others && Moves(done) == needed && right && again.next == done.next && !Moves(again);
}
/// Two spaces change their names.
constexpr Spaces Swapped(Spaces set, int a, int b) {
  const Spaces with_a = set >> a & 1, with_b = set >> b & 1;
  return (set & ~(Spaces{1} << a | Spaces{1} << b)) | with_a << b | with_b << a;
}
/// No space is special: the rule does not change when two change their names, the host among them.
constexpr bool TreatsAllAlike(Spaces holders, Spaces space, Access access, int count) {
  const SpacesTransition done = Next(holders, space, access);
  for (int a = 0; a < count; ++a)
    for (int b = 0; b < a; ++b)
      if (Next(Swapped(holders, a, b), Swapped(space, a, b), access) !=
          SpacesTransition{Swapped(done.next, a, b), done.action})
        return false;
  return true;
}
/// As a part of more spaces, of which the others have nothing, each pair of spaces has the table of two.
constexpr bool HasTheTable(int count) {
  for (int a = 0; a < count; ++a)
    for (int b = 0; b < count; ++b)
      for (const Row& row : kRows) {
        if (a == b) continue;
        const auto as = [=](unsigned set) { return (set & 1U) << a | (set >> 1 & 1U) << b; };
        const SpacesTransition row_of_pair{as(static_cast<unsigned>(row.next)), row.action};
        if (Next(as(static_cast<unsigned>(row.head)), as(static_cast<unsigned>(row.side)), row.access) !=
            row_of_pair)
          return false;
      }
  return true;
}
constexpr bool IsProved(int count) {
  for (Spaces holders = 0; holders < Spaces{1} << count; ++holders)
    for (int space = 0; space < count; ++space)
      for (const Access access : kAll)
        if (!KeepsBytes(holders, Spaces{1} << space, access) ||
            !TreatsAllAlike(holders, Spaces{1} << space, access, count))
          return false;
  return HasTheTable(count);
}

static_assert(IsProved(2) && IsProved(3) && IsProved(4), "the rule of two spaces is that of many");

TEST_CASE("the rule of two spaces is that of three and four") {
  for (const int count : {2, 3, 4}) CHECK(IsProved(count));
}

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
        std::set<std::string>{"read", "read-write", "overwrite"});
  CHECK(std::set<std::string>{Name(kNone), Name(kZero), Name(kCopy)} ==
        std::set<std::string>{"nothing", "zero", "copy"});
}

}  // namespace
}  // namespace ferry::testing
