// SPDX-License-Identifier: BSD-2-Clause
#include "backends/gpu/unified.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>

#include "ferry/error.hpp"

namespace ferry::gpu {
namespace {

void Say(const char* value) { REQUIRE(setenv("FERRY_UNIFIED", value, 1) == 0); }

TEST_CASE("Memory is unified as the hardware suggests, unless FERRY_UNIFIED says otherwise") {
  for (const bool suggested : {false, true}) {
    REQUIRE(unsetenv("FERRY_UNIFIED") == 0);
    CHECK(Unified(suggested, true) == suggested);
    Say("");
    CHECK(Unified(suggested, true) == suggested);
    Say("0");
    CHECK_FALSE(Unified(suggested, true));
    Say("1");
    CHECK(Unified(suggested, true));
    CHECK_FALSE(Unified(suggested, false));
    Say("yes");
    CHECK_THROWS_AS(Unified(suggested, true), Error);
  }
}

}  // namespace
}  // namespace ferry::gpu
