// SPDX-License-Identifier: BSD-2-Clause
// Each call of each short sequence fails once.
#include <catch2/catch_test_macros.hpp>

#include "sequences.hpp"

namespace ferry::testing {
namespace {

/// Instead of its work or after it; the access is made again or given up.
void EachCallFails(World::Options options, const std::vector<Step>& steps) {
  for (const bool late : {false, true})
    for (const bool again : {false, true}) {
      options.machine.fail_late = late;
      options.again = again;
      long calls = 1;
      for (long nth = 1; nth <= calls; ++nth) {
        options.machine.fail_at = nth;
        if (const auto wrong = Run(options, steps); !wrong.empty())
          FAIL(wrong << ", fault " << nth << (late ? " late" : "") << (again ? ", again" : "")
                     << (options.machine.unified ? ", unified" : "") << ", seed " << options.machine.seed
                     << '\n'
                     << Describe(steps));
        calls = sim::Inspect().calls;
      }
    }
}

void AllSequences(std::size_t length, bool stacked) {
  for (const bool unified : {false, true}) CHECK(EachSequenceOn(unified, stacked, length, EachCallFails) > 0);
}

TEST_CASE("a fault at any call loses no side, no byte and no resource") {
  for (std::size_t length = 1; length <= 3; ++length) AllSequences(length, false);
}

TEST_CASE("a fault at any call below the adaptors loses no side, no byte and no resource") {
  for (std::size_t length = 1; length <= 2; ++length) AllSequences(length, true);
}

TEST_CASE("a fault while streams are folded, bytes adopted, copied and resized loses nothing") {
  for (const bool unified : {false, true})
    for (const bool late_kernels : {false, true})
      EachCallFails({.machine = {.seed = 5, .unified = unified}, .memories = 2, .late_kernels = late_kernels},
                    Eventful());
}

}  // namespace
}  // namespace ferry::testing
