// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/onednn/team.hpp"

/// Null where the process has no OpenMP.
extern "C" {
__attribute__((weak)) int omp_get_max_threads();
__attribute__((weak)) void omp_set_num_threads(int threads);
__attribute__((weak)) int omp_in_parallel();
__attribute__((weak)) int omp_get_dynamic();
__attribute__((weak)) int omp_get_max_active_levels();
__attribute__((weak)) int omp_get_thread_limit();
}

namespace ferry::detail::onednn {
namespace {

bool HasOpenMp() { return omp_get_max_threads != nullptr; }

}  // namespace

int ThreadsAskedFor() { return HasOpenMp() ? omp_get_max_threads() : 1; }

bool Grants(int threads) {
  if (threads == 1) return true;
  return HasOpenMp() && omp_in_parallel() == 0 && omp_get_dynamic() == 0 && omp_get_max_active_levels() > 0 &&
         omp_get_thread_limit() >= threads;
}

AskForOne::AskForOne() : before_(ThreadsAskedFor()) {
  if (HasOpenMp()) omp_set_num_threads(1);
}
AskForOne::~AskForOne() {
  if (HasOpenMp()) omp_set_num_threads(before_);
}

}  // namespace ferry::detail::onednn
