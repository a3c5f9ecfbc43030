// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "ferry/detail/instruction_set.hpp"

namespace bench {

/// OpenBLAS' name for the best kernels of float that this processor can run; null where the choice is
/// OpenBLAS' own. The names of newer processors with AVX-512 stand for the same kernels and some of bfloat16,
/// and OpenBLAS 0.3.21 does not take them.
inline const char* BestBlasKernels() {
#if defined(__x86_64__)
  using ferry::detail::InstructionSet;
  const InstructionSet best = ferry::detail::BestInstructionSet();
  if (best == InstructionSet::kAvx512) return "SkylakeX";
  if (best == InstructionSet::kAvx2) return __builtin_cpu_is("amd") ? "Zen" : "Haswell";
#endif
  return nullptr;
}

/// A distribution's OpenBLAS may be older than the processor, and then runs the kernels of a much older one.
/// OPENBLAS_CORETYPE decides that when OpenBLAS is loaded: this sets it to what the processor is, whatever it
/// was, and starts the program again.
inline void UseBestBlasKernels(char** argv) {
  const char* const best = BestBlasKernels();
  // NOLINTBEGIN(concurrency-mt-unsafe): no other thread looks at the environment yet
  const char* const set = std::getenv("OPENBLAS_CORETYPE");
  if (best == nullptr || (set != nullptr && std::string_view(set) == best)) return;
  setenv("OPENBLAS_CORETYPE", best, 1);
  // NOLINTEND(concurrency-mt-unsafe)
  execv("/proc/self/exe", argv);  // returns where there is no such file: the choice is OpenBLAS' own then
}

}  // namespace bench
