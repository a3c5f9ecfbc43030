// SPDX-License-Identifier: BSD-2-Clause
// Every sequence of accesses up to a length: the bytes are current, and the copies the fewest.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>

#include "sequences.hpp"

namespace ferry::testing {
namespace {

/// The fewest copies that any strategy needs, knowing the future: tries all sets of sides after each step.
long FewestCopies(const std::vector<Step>& steps) {
  constexpr long kNever = 1000;
  std::array<long, 4> cost{0, kNever, kNever, kNever};  // by set of sides that hold the bytes
  for (const Step& step : steps) {
    const bool reads = step.verb == Verb::kRead || step.verb == Verb::kPrefetch;
    const unsigned here = step.side == Side::kCpu ? 1 : 2;
    for (const unsigned one : {1U, 2U}) cost[3] = std::min(cost[3], cost[one] + 1);  // a copy at any time
    std::array<long, 4> next{kNever, kNever, kNever, kNever};
    for (unsigned held = 0; held < 4; ++held) {
      if (step.verb != Verb::kOverwrite && held != 0 && (held & here) == 0) continue;
      const bool idle =
          step.verb == Verb::kPrefetch && here == 1 && held == 0;  // no stream has work to start
      const unsigned after = idle ? 0 : !reads || held == 0 ? here : held;
      next[after] = std::min(next[after], cost[held]);
    }
    cost = next;
  }
  return *std::min_element(cost.begin(), cost.end());
}

void RunOne(const World::Options& options, const std::vector<Step>& steps) {
  World world(options);
  for (const Step& step : steps) world.Apply(step);
  const long fewest = options.machine.unified ? 0 : FewestCopies(steps);
  if (world.device().copies != fewest)
    world.Wrong(std::to_string(world.device().copies) + " copies where " + std::to_string(fewest) +
                " will do");
  if (const auto wrong = world.Finish(); !wrong.empty())
    FAIL(wrong << ", seed " << options.machine.seed << (options.machine.unified ? ", unified\n" : "\n")
               << Describe(steps));
}

/// Page protection may take most of the time of a sequence. It is for the shorter ones, and for pointers that
/// are guarded.
bool Protects(std::size_t length) {
  static const bool guards = std::getenv("FERRY_GUARD") != nullptr;
  return length <= 4 || guards;
}

void RunAll(std::size_t length, std::size_t letters, std::uint64_t seed) {
  for (const bool unified : {false, true})
    CHECK(
        EachSequence(length, letters, seed, [&](const std::vector<Step>& steps, std::uint64_t code) {
          RunOne(
              {.machine = {.seed = seed + 4 * code, .unified = unified, .page_protection = Protects(length)},
               .late_kernels = seed % 2 == 1},
              steps);
        }) > 0);
}

void RunAll(std::uint64_t seed) {
  for (std::size_t length = 1; length <= 5; ++length) RunAll(length, kAlphabet.size(), seed);
  RunAll(6, kAccesses, seed);
}

TEST_CASE("all sequences keep the bytes current with the fewest copies, seed 0") { RunAll(0); }
TEST_CASE("all sequences keep the bytes current with the fewest copies, seed 1") { RunAll(1); }
TEST_CASE("all sequences keep the bytes current with the fewest copies, seed 2") { RunAll(2); }
TEST_CASE("all sequences keep the bytes current with the fewest copies, seed 3") { RunAll(3); }

}  // namespace
}  // namespace ferry::testing
