// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <string_view>

#include "ferry/detail/language.hpp"

namespace ferry {
class Place;
}

/// An OpenBLAS that is older than the processor runs kernels of a much older one, unless OPENBLAS_CORETYPE in
/// the environment says which to run.
namespace ferry::detail {

/// OpenBLAS' name for the best kernels of float that this processor can run; null where the choice is
/// OpenBLAS' own. The names of newer processors with AVX-512 stand for the same kernels and some of bfloat16,
/// and OpenBLAS 0.3.21 does not take them.
const char* BestBlasKernels() noexcept;

/// Whether OpenBLAS' kernels of this name know nothing of AVX2.
bool AreOldBlasKernels(std::string_view name) noexcept;

/// What to say where OpenBLAS has chosen `kernels` by itself, and the processor can run `best`, which may be
/// null. Empty where that is well.
std::string BlasAdvice(std::string_view kernels, const char* best);

/// Logs that as a warning, once in a process, if matrices of this place are multiplied by OpenBLAS, and
/// OPENBLAS_CORETYPE is not set. A sink is called: no lock may be held.
void WarnOfOldBlasKernels(const Place& place);

}  // namespace ferry::detail
