// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "ferry/detail/language.hpp"

namespace ferry::detail {

/// The library is built for the oldest x86-64; its loops are compiled for these as well, and the best is
/// picked at run time. (Not by target_clones: they need ifunc, which neither templates nor sanitizers bear.)
/// Loops are gnu::hot, which puts them beside each other in a program: code that runs once is not read from
/// the file together with loops that never do.
enum class InstructionSet : std::uint8_t { kBaseline, kAvx2, kAvx512 };

/// The same on every call.
InstructionSet BestInstructionSet() noexcept;

#if defined(__x86_64__) && defined(__GNUC__)
template <class Range>
[[gnu::hot, gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]] void RunAvx512(const Range& range,
                                                                                        std::int64_t first,
                                                                                        std::int64_t last) {
  range(first, last);
}
template <class Range>
[[gnu::hot, gnu::target("avx2,fma")]] void RunAvx2(const Range& range, std::int64_t first,
                                                   std::int64_t last) {
  range(first, last);
}
#endif

/// range(first, last), compiled for `set`, which the processor must have: what is inlined there is, and only
/// that. Range::kWidest is the last set that is of use to it.
template <class Range>
[[gnu::hot]] void Run(const Range& range, std::int64_t first, std::int64_t last,
                      [[maybe_unused]] InstructionSet set = std::min(BestInstructionSet(), Range::kWidest)) {
#if defined(__x86_64__) && defined(__GNUC__)
  if constexpr (Range::kWidest >= InstructionSet::kAvx512)
    if (set == InstructionSet::kAvx512) return RunAvx512(range, first, last);
  if (set == InstructionSet::kAvx2) return RunAvx2(range, first, last);
#endif
  range(first, last);
}

}  // namespace ferry::detail
