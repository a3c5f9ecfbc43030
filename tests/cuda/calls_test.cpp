// SPDX-License-Identifier: BSD-2-Clause
// How many of CUDA's functions a transition calls, counted on the fake CUDA runtime: the table in
// docs/explanation/performance.md, and what the page says may not be exceeded.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "bench/gate/transitions.hpp"
#include "ferry/backend.hpp"

namespace ferry::testing {
namespace {

/// What each may make at most, in the order of CountTransitions and of CountPeerTransitions.
constexpr std::array<long, 6> kMost{4, 7, 5, 8, 0, 6};
constexpr std::array<long, 4> kMostOfPeers{14, 0, 3, 9};

/// Whether the page on performance has these counts as a table's rows, and none is too many.
void CheckTable(const std::vector<bench::Transition>& transitions, std::span<const long> most) {
  std::ifstream file(FERRY_PERFORMANCE_PAGE);
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  REQUIRE(transitions.size() == most.size());
  std::ostringstream table;
  for (std::size_t i = 0; i < transitions.size(); ++i) {
    INFO(transitions[i].what);
    CHECK(transitions[i].calls <= most[i]);
    table << "| " << transitions[i].what << " | " << transitions[i].calls << " | ≤ " << most[i] << " |\n";
  }
  INFO("the table should be\n" << table.str());
  CHECK(page.find(table.str()) != std::string::npos);
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("no transition calls more of CUDA's functions than the page on performance says") {
  const auto first = MakeDevice("cuda:0"), second = MakeDevice("cuda:1");
  CheckTable(bench::CountTransitions(*first, *second), kMost);
}

TEST_CASE("nor does one between two GPUs, once one has access to the other, and others may still get it") {
  const auto first = MakeDevice("cuda:0"), second = MakeDevice("cuda:1");
  REQUIRE(second->properties().peers == std::vector<int>{0, 2});
  CheckTable(bench::CountPeerTransitions(*first, *second), kMostOfPeers);
}

}  // namespace
}  // namespace ferry::testing
