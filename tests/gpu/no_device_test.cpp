// SPDX-License-Identifier: BSD-2-Clause
// Run with the vendor's variable that hides all GPUs.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdlib>

#include "ferry/error.hpp"
#include "ferry/synced_memory.hpp"
#include "names.hpp"

namespace ferry {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

TEST_CASE("Without a GPU there are no devices, and the vendor says why") {
  CHECK(vendor::kBackend.count() == 0);
  INFO(vendor::kBackend.missing());
  CHECK(vendor::SaysWhy(vendor::kBackend.missing()));
}

TEST_CASE("A device by name is NoDevice, with the vendor's words") {
  CHECK_THROWS_MATCHES(MakeDevice(vendor::kBackend.name), NoDevice,
                       MessageMatches(ContainsSubstring(vendor::kBackend.missing())));
}

TEST_CASE("The default device is the vendor's, and without a GPU the error says what to set; then it works") {
  REQUIRE(unsetenv("FERRY_DEVICE") == 0);
  CHECK_THROWS_MATCHES(
      DefaultDevice(), NoDevice,
      MessageMatches(ContainsSubstring(vendor::kBackend.name) && ContainsSubstring("FERRY_DEVICE=host")));
  REQUIRE(setenv("FERRY_DEVICE", "sim", 1) == 0);
  CHECK(DefaultDevice().properties().backend == "sim");
  SyncedMemory memory(16);
  CHECK(memory.gpu_data() != nullptr);
}

TEST_CASE("A stream of the vendor's is none of another backend's") {
  const auto device = MakeDevice("sim");
  CHECK_THROWS_AS(vendor::Borrow(*device, nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace ferry
