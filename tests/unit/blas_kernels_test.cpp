// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/detail/blas_kernels.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>

#include "ferry/detail/instruction_set.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("Kernels that know nothing of AVX2 are old, and others are not", "[kernels]") {
  for (const char* const old : {"Prescott", "Core2", "Nehalem", "Sandybridge", "Steamroller", "Generic"})
    CHECK(detail::AreOldBlasKernels(old));
  for (const char* const fresh :
       {"Haswell", "Zen", "Excavator", "SkylakeX", "Cooperlake", "SapphireRapids", "armv8", "", "Unknown"})
    CHECK_FALSE(detail::AreOldBlasKernels(fresh));
}

TEST_CASE("Where OpenBLAS has chosen old kernels on a new processor, it is said how to have it choose others",
          "[kernels]") {
  CHECK_THAT(
      detail::BlasAdvice("Prescott", "SkylakeX"),
      ContainsSubstring("its kernels for Prescott") && ContainsSubstring("set OPENBLAS_CORETYPE=SkylakeX"));
  CHECK(detail::BlasAdvice("Prescott", nullptr).empty());
  CHECK(detail::BlasAdvice("Haswell", "SkylakeX").empty());
}

TEST_CASE("The best kernels are those of the instruction set that this processor has", "[kernels]") {
  const char* const best = detail::BestBlasKernels();
  const std::string name = best != nullptr ? best : "";
  switch (detail::BestInstructionSet()) {
    case detail::InstructionSet::kAvx512:
      CHECK(name == "SkylakeX");
      break;
    case detail::InstructionSet::kAvx2:
      CHECK((name == "Zen" || name == "Haswell"));
      break;
    case detail::InstructionSet::kBaseline:
      CHECK(name.empty());
      break;
  }
  if (best != nullptr) CHECK_FALSE(detail::AreOldBlasKernels(best));
}

}  // namespace
}  // namespace ferry::testing
