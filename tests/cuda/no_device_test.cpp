// SPDX-License-Identifier: BSD-2-Clause
// Run with CUDA_VISIBLE_DEVICES empty, so that no machine has a GPU here.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdlib>

#include "ferry/cuda.hpp"
#include "ferry/error.hpp"
#include "ferry/synced_memory.hpp"
#include "gpus.hpp"

namespace ferry {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

TEST_CASE("Without a GPU there are no CUDA devices, and CUDA says why") {
  CHECK(cuda::kBackend.count() == 0);
  CHECK_THAT(cuda::kBackend.missing(), ContainsSubstring("CUDA driver version is insufficient") ||
                                           ContainsSubstring("no CUDA-capable device is detected"));
}

TEST_CASE("A CUDA device by name is NoDevice, with CUDA's words") {
  CHECK_THROWS_MATCHES(MakeDevice("cuda:0"), NoDevice,
                       MessageMatches(ContainsSubstring(cuda::kBackend.missing())));
}

TEST_CASE("The default device is CUDA's, and without a GPU the error says what to set; then it works") {
  REQUIRE(unsetenv("FERRY_DEVICE") == 0);
  CHECK_THROWS_MATCHES(DefaultDevice(), NoDevice,
                       MessageMatches(ContainsSubstring("cuda") && ContainsSubstring("FERRY_DEVICE=host")));
  REQUIRE(setenv("FERRY_DEVICE", "sim", 1) == 0);
  CHECK(DefaultDevice().properties().backend == "sim");
  SyncedMemory memory(16);
  CHECK(memory.gpu_data() != nullptr);
}

TEST_CASE("A stream of CUDA's is none of another backend's") {
  const auto device = MakeDevice("sim");
  CHECK_THROWS_AS(cuda::Borrow(*device, nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace ferry
