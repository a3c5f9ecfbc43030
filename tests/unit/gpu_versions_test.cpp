// SPDX-License-Identifier: BSD-2-Clause
#include <catch2/catch_test_macros.hpp>

#include "core/kernels/gpu/versions.hpp"

namespace ferry::detail {
namespace {

bool Launches(const KokkosAtHand& kokkos, int device) { return WhyNotOn(kokkos, device).empty(); }

TEST_CASE("any Kokkos launches on the GPU that it was initialised for") {
  CHECK(Launches({"cuda", 30400, 12000, 0}, 0));
  CHECK(Launches({"hip", 30700, 5020, 1}, 1));
}

TEST_CASE("another GPU needs Kokkos 4.3 on CUDA, whatever CUDA's version, and 4.6 with ROCm 5.6 on HIP") {
  CHECK_FALSE(Launches({"cuda", 40201, 12000, 0}, 1));
  CHECK(Launches({"cuda", 40300, 12000, 0}, 1));
  CHECK(Launches({"cuda", 50000, 13000, 2}, 0));
  CHECK_FALSE(Launches({"hip", 40501, 6000, 0}, 1));
  CHECK_FALSE(Launches({"hip", 40600, 5050, 0}, 1));
  CHECK(Launches({"hip", 40600, 5060, 0}, 1));
}

TEST_CASE("the refusal names the GPUs, the versions and the way out") {
  CHECK(WhyNotOn({"cuda", 40201, 12000, 0}, 1) ==
        "ferry: a kernel on cuda:1, while Kokkos 4.2 was initialised for cuda:0 and launches there alone; "
        "several GPUs in one process need Kokkos 4.3 or newer, or a process for each");
  CHECK(
      WhyNotOn({"hip", 40601, 5050, 1}, 0) ==
      "ferry: a kernel on hip:0, while Kokkos 4.6 with ROCm 5.5 was initialised for hip:1 and launches there "
      "alone; several GPUs in one process need Kokkos 4.6 with ROCm 5.6 or newer, or a process for each");
}

}  // namespace
}  // namespace ferry::detail
