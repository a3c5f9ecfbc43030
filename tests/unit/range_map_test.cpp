// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <random>
#include <tuple>
#include <vector>

#include "core/memory/runs.hpp"

namespace ferry::detail {
namespace {

using Map = RangeMap<int>;
using Run = std::tuple<std::size_t, std::size_t, int>;

std::vector<Run> Runs(const Map& map, Bytes bytes = {}) {
  std::vector<Run> runs;
  map.Each(bytes, [&](Bytes run, int value) { return runs.emplace_back(run.first, run.last, value), true; });
  return runs;
}
void Set(Map& map, Bytes bytes, int value) {
  map.Isolate(bytes);
  map.Each(bytes, [&](Bytes, int& old) { return old = value, true; });
}
void Join(Map& map, Bytes bytes) {
  map.Join(bytes, [](int left, int right) { return left == right; });
}
constexpr std::size_t kEnd = Bytes::kEnd;

TEST_CASE("a map is one run until a range is isolated") {
  Map map;
  CHECK(map.whole());
  CHECK(Runs(map) == std::vector<Run>{{0, kEnd, 0}});
  CHECK(Runs(map, {3, 5}) == std::vector<Run>{{3, 5, 0}});
  map.Isolate({});
  CHECK(map.whole());
  map.Isolate({4, 8});
  CHECK(map.runs() == 3);
  CHECK(Runs(map) == std::vector<Run>{{0, 4, 0}, {4, 8, 0}, {8, kEnd, 0}});
}

TEST_CASE("a value is that of its range and of no byte beside it") {
  Map map;
  Set(map, {4, 8}, 1);
  Set(map, {6, 12}, 2);
  Set(map, {10, 11}, 3);
  Join(map, {});
  CHECK(Runs(map) ==
        std::vector<Run>{{0, 4, 0}, {4, 6, 1}, {6, 10, 2}, {10, 11, 3}, {11, 12, 2}, {12, kEnd, 0}});
  CHECK(Runs(map, {5, 7}) == std::vector<Run>{{5, 6, 1}, {6, 7, 2}});
  CHECK(Runs(map, {4, 6}) == std::vector<Run>{{4, 6, 1}});
}

TEST_CASE("a range of no bytes is not visited, and isolating it splits nothing") {
  Map map;
  map.Isolate({5, 5});
  CHECK(map.whole());
  CHECK(Runs(map, {5, 5}).empty());
  CHECK(Runs(map, {7, 5}).empty());
}

TEST_CASE("a visit ends where it is told to") {
  Map map;
  Set(map, {4, 8}, 1);
  int visited = 0;
  CHECK_FALSE(map.Each({}, [&](Bytes, int value) { return ++visited, value == 0; }));
  CHECK(visited == 2);
}

TEST_CASE("what is united has the value of its first byte") {
  Map map;
  Set(map, {4, 8}, 1);
  Set(map, {8, 12}, 2);
  map.Unite({4, 12});
  CHECK(Runs(map) == std::vector<Run>{{0, 4, 0}, {4, 12, 1}, {12, kEnd, 0}});
}

TEST_CASE("equal neighbours join within a range and at its ends, and nowhere else") {
  Map map;
  for (const Bytes bytes : {Bytes{2, 4}, Bytes{6, 8}, Bytes{10, 12}}) map.Isolate(bytes);
  Join(map, {4, 8});
  CHECK(Runs(map) == std::vector<Run>{{0, 2, 0}, {2, 10, 0}, {10, 12, 0}, {12, kEnd, 0}});
  Join(map, {});
  CHECK(map.whole());
}

TEST_CASE("a map that is reset is one run of the value") {
  Map map;
  Set(map, {4, 8}, 1);
  map.Reset(5);
  CHECK(map.whole());
  CHECK(Runs(map) == std::vector<Run>{{0, kEnd, 5}});
}

/// Against an array of values.
TEST_CASE("after any changes each byte has its value, and joined runs are the fewest") {
  std::mt19937 random(5);
  for (int walk = 0; walk < 200; ++walk) {
    Map map;
    std::array<int, 24> model{};
    for (int step = 0; step < 60; ++step) {
      const std::size_t first = random() % model.size(), last = first + random() % (model.size() - first + 1);
      const Bytes bytes{first, last == model.size() ? kEnd : last};
      const int value = static_cast<int>(random() % 3);
      Set(map, bytes, value);
      std::fill(model.begin() + static_cast<std::ptrdiff_t>(first),
                model.begin() + static_cast<std::ptrdiff_t>(last), value);
      if (random() % 2 == 0) map.Unite(bytes);
      Join(map, bytes);
      std::size_t fewest = 1;
      for (std::size_t i = 1; i < model.size(); ++i) fewest += model[i - 1] != model[i] ? 1U : 0U;
      REQUIRE(map.runs() == fewest);
      std::size_t at = 0;
      for (const auto& [begin, end, held] : Runs(map)) {
        REQUIRE(begin == at);
        for (; at < std::min(end, model.size()); ++at) REQUIRE(model[at] == held);
        at = end;
      }
    }
  }
}

}  // namespace
}  // namespace ferry::detail
