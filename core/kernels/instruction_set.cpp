// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/detail/instruction_set.hpp"

namespace ferry::detail {
namespace {

InstructionSet Detect() noexcept {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return InstructionSet::kAvx512;
  if (avx2) return InstructionSet::kAvx2;
#endif
  return InstructionSet::kBaseline;
}

}  // namespace

InstructionSet BestInstructionSet() noexcept {
  static const InstructionSet best = Detect();
  return best;
}

}  // namespace ferry::detail
