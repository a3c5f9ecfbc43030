# SPDX-License-Identifier: BSD-2-Clause
"""Sums."""

SUMS = "core/kernels/block_sum.hpp"

MUTATIONS = [
    (SUMS, "first + 4 * kLanes <= last", "first < last", "a sum reads beyond the end"),
    (SUMS, "term.template At<R>(i + 3 * kLanes)", "term.template At<R>(i + 2 * kLanes)", "a term is added twice, another one never"),
    (SUMS, "lanes[lane] += low + high", "lanes[lane] = low + high", "only the last four terms of a lane are added"),
    (SUMS, "    lanes[lane] += term.template At<double>(first);", "    lanes[lane] = term.template At<double>(first);",
     "the rest drops what its lanes had"),
    (SUMS, "half = kLanes / 2; half > 0", "half = kLanes / 2; half > 1", "a lane is left out"),
    (SUMS, "std::fabs(sum) >= kLeast && std::fabs(sum) <= DBL_MAX", "std::fabs(sum) >= kLeast", "what no float holds is infinite"),
    (SUMS, "kLeast = 0x1p-80", "kLeast = 0x1p-99", "small terms lose their bits"),
    (SUMS, "KOKKOS_FORCEINLINE_FUNCTION R At(std::int64_t i) const {\n    return static_cast<R>(x[i]) * static_cast<R>(y[i]);",
     "KOKKOS_FORCEINLINE_FUNCTION R At(std::int64_t i) const {\n    return static_cast<R>(x[i] * y[i]);",
     "a product that no float holds is never one of doubles"),
    (SUMS, "first < n / kTermsAtOnce ?", "first <= n / kTermsAtOnce ?", "the last block reads beyond the end"),
]
