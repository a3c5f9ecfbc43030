// SPDX-License-Identifier: BSD-2-Clause
// How many of CUDA's functions a transition calls, counted on the fake CUDA runtime: the table in
// docs/explanation/performance.md, and what the page says may not be exceeded.
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "bench/gate/transitions.hpp"
#include "ferry/backend.hpp"

namespace ferry::testing {
namespace {

/// What each may make at most, in the order of CountTransitions.
constexpr long kMost[] = {4, 5, 5, 8, 0, 6};

TEST_CASE("no transition calls more of CUDA's functions than the page on performance says") {
  std::ifstream file(FERRY_PERFORMANCE_PAGE);
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const auto first = MakeDevice("cuda:0"), second = MakeDevice("cuda:1");
  const auto transitions = bench::CountTransitions(*first, *second);
  REQUIRE(transitions.size() == std::size(kMost));
  std::ostringstream table;
  for (std::size_t i = 0; i < transitions.size(); ++i) {
    INFO(transitions[i].what);
    CHECK(transitions[i].calls <= kMost[i]);
    table << "| " << transitions[i].what << " | " << transitions[i].calls << " | ≤ " << kMost[i] << " |\n";
  }
  INFO("the table should be\n" << table.str());
  CHECK(page.find(table.str()) != std::string::npos);
  CHECK(sim::Inspect().misuse.empty());
}

}  // namespace
}  // namespace ferry::testing
