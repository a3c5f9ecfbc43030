# SPDX-License-Identifier: BSD-2-Clause
"""Sums."""

SUMS = "core/kernels/block_sum.hpp"

MUTATIONS = [
    (SUMS, "first + kStep <= last", "first < last", "a sum reads beyond the end"),
    (SUMS, "Together<R, kTerms / 2>(term, i + kTerms / 2 * kSumLanes)", "Together<R, kTerms / 2>(term, i)", "a term is added twice, another one never"),
    (SUMS, "lanes[lane] += Together", "lanes[lane] = Together", "only the last terms of a lane are added"),
    (SUMS, "    lanes[lane] += term.template At<double>(first);", "    lanes[lane] = term.template At<double>(first);",
     "the rest drops what its lanes had"),
    (SUMS, "if constexpr (kCount == 1)", "if constexpr (kCount <= 2)", "a lane is left out"),
    (SUMS, "std::fabs(sum) >= kLeast && std::fabs(sum) <= DBL_MAX", "std::fabs(sum) >= kLeast", "what no float holds is infinite"),
    (SUMS, "kLeast = 0x1p-80", "kLeast = 0x1p-99", "small terms lose their bits"),
    (SUMS, "KOKKOS_FORCEINLINE_FUNCTION R At(std::int64_t i) const {\n    return static_cast<R>(x[i]) * static_cast<R>(y[i]);",
     "KOKKOS_FORCEINLINE_FUNCTION R At(std::int64_t i) const {\n    return static_cast<R>(x[i] * y[i]);",
     "a product that no float holds is never one of doubles"),
    (SUMS, "first < n / kTermsAtOnce ?", "first <= n / kTermsAtOnce ?", "the last block reads beyond the end"),
]
