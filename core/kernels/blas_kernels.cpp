// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/detail/blas_kernels.hpp"

#include <algorithm>
#include <iterator>

#include "ferry/detail/instruction_set.hpp"

namespace ferry::detail {

const char* BestBlasKernels() noexcept {
#if defined(__x86_64__) && defined(__GNUC__)
  const InstructionSet best = BestInstructionSet();
  if (best == InstructionSet::kAvx512) return "SkylakeX";
  if (best == InstructionSet::kAvx2) return __builtin_cpu_is("amd") ? "Zen" : "Haswell";
#endif
  return nullptr;
}

bool AreOldBlasKernels(std::string_view name) noexcept {
  // As openblas_get_corename() has them; driver/others/dynamic.c of OpenBLAS lists all.
  constexpr std::string_view kOld[] = {
      "Katmai",    "Coppermine", "Northwood",    "Prescott",  "Banias",  "Atom",        "Core2",
      "Penryn",    "Dunnington", "Nehalem",      "Athlon",    "Nano",    "Sandybridge", "Opteron",
      "Barcelona", "Bobcat",     "Opteron_SSE3", "Bulldozer", "Generic", "Piledriver",  "Steamroller"};
  return std::find(std::begin(kOld), std::end(kOld), name) != std::end(kOld);
}

std::string BlasAdvice(std::string_view kernels, const char* best) {
  if (best == nullptr || !AreOldBlasKernels(kernels)) return {};
  return "OpenBLAS multiplies matrices by its kernels for " + std::string(kernels) +
         ", perhaps since it is older than this processor; those for " + best +
         " are several times as fast: set OPENBLAS_CORETYPE=" + best + " in the environment";
}

}  // namespace ferry::detail
