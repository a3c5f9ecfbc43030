// SPDX-License-Identifier: BSD-2-Clause
// A random walk of a million steps on either kind of device, in walks of a hundred, through all that a user
// does.
#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <random>

#include "scale.hpp"
#include "world.hpp"

namespace ferry::testing {
namespace {

constexpr int kSteps = 100;

std::vector<Step> Draw(std::mt19937& random) {
  std::vector<Step> steps(kSteps);
  for (Step& step : steps) {
    step.side = random() % 3 == 0 ? Side::kCpu : Side::kGpu;
    step.stream = static_cast<unsigned>(random() % 8);
    step.memory = static_cast<unsigned>(random() % 8);
    step.amount = static_cast<unsigned>(random() % 1024);
    // Half of the steps are accesses, a rare one kills the memory.
    static constexpr Verb kOften[] = {Verb::kRead,   Verb::kRead,   Verb::kReadWrite, Verb::kOverwrite,
                                      Verb::kRead,   Verb::kRead,   Verb::kReadWrite, Verb::kPrefetch,
                                      Verb::kResize, Verb::kResize, Verb::kNewStream, Verb::kDropStream,
                                      Verb::kRead,   Verb::kAdopt,  Verb::kPrefetch,  Verb::kRenew,
                                      Verb::kAssign, Verb::kAssign};
    step.verb = kOften[random() % std::size(kOften)];
  }
  return steps;
}

World::Options DrawOptions(std::mt19937& random, bool stacked) {
  World::Options options;
  options.machine.seed = random();
  options.machine.unified = random() % 4 == 0;
  options.machine.pageable_late = random() % 2 == 0;
  options.machine.memory_pools = random() % 3 != 0;
  options.machine.pageable_serialises = random() % 4 == 0;
  options.machine.coarse_host_memory = random() % 2 == 0;
  options.machine.last_call_only = random() % 2 == 0;
  if (random() % 2 == 0) {
    options.machine.fail_at = static_cast<long>(1 + random() % 300);
    options.machine.fail_late = random() % 2 == 0;
    options.again = random() % 2 == 0;
  }
  options.memories = static_cast<unsigned>(1 + random() % 3);
  options.late_kernels = random() % 2 == 0;
  options.stacked = stacked;
  return options;
}

void Walk(bool stacked, int walks) {
  std::mt19937 random(stacked ? 11 : 7);
  for (int walk = 0; walk < walks; ++walk) {
    const auto options = DrawOptions(random, stacked);
    const auto steps = Draw(random);
    const auto wrong = Run(options, steps);
    if (!wrong.empty())
      FAIL(wrong << ", walk " << walk << ", seed " << options.machine.seed << ", fault "
                 << options.machine.fail_at << (options.machine.fail_late ? " late" : "")
                 << (options.machine.unified ? ", unified" : "") << ", " << options.memories
                 << " memories; the fewest steps:\n"
                 << Describe(Shrink(options, steps)));
  }
  CHECK(walks > 0);
  std::printf("%d walks of %d steps, of 10000\n", walks, kSteps);
}

TEST_CASE("a random walk on a bare device never meets a wrong byte, a misuse or a leak") {
  Walk(false, static_cast<int>(10000 * Scale()));
}
TEST_CASE("a random walk through all adaptors never meets a wrong byte, a misuse or a leak") {
  Walk(true, static_cast<int>(10000 * Scale()));
}

}  // namespace
}  // namespace ferry::testing
