// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "ferry/detail/blas_kernels.hpp"

namespace bench {

/// Has BLAS and OpenMP use one thread, and OpenBLAS the kernels for this processor: a distribution's may be
/// older, and then runs those of a much older one. What the environment says of it counts when these are
/// loaded: this sets it, whatever it was, and starts the program again.
inline void UseOneThreadOfBestBlas(char** argv) {
  const char* const best = ferry::detail::BestBlasKernels();
  bool changed = false;
  // NOLINTBEGIN(concurrency-mt-unsafe): no other thread looks at the environment yet
  const auto set = [&](const char* name, const char* value) {
    const char* const old = std::getenv(name);
    if (old != nullptr && std::string_view(old) == value) return;
    changed = true;
    setenv(name, value, 1);
  };
  // NOLINTEND(concurrency-mt-unsafe)
  set("OPENBLAS_NUM_THREADS", "1");
  set("OMP_NUM_THREADS", "1");
  if (best != nullptr) set("OPENBLAS_CORETYPE", best);
  if (changed) execv("/proc/self/exe", argv);  // returns where there is no such file
}

}  // namespace bench
