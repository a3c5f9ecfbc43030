# SPDX-License-Identifier: BSD-2-Clause
"""Sums."""

FLOAT_DOT = "core/kernels/float_dot.cpp"

MUTATIONS = [
    (FLOAT_DOT, "n - n % kLanes", "n", "a part of the lanes reads beyond the end"),
    (FLOAT_DOT, "lanes[i - whole] +=", "lanes[i - whole] =", "the rest drops what its lanes had"),
    (FLOAT_DOT, "half = kLanes / 2; half > 0", "half = kLanes / 2; half > 1", "a lane is left out"),
    (FLOAT_DOT, "_mm_loadu_ps(y + i + lane)", "_mm_loadu_ps(y + i)", "AVX2 takes the first lanes for all"),
    (FLOAT_DOT, "LoadEight(y + i + lane)", "LoadEight(y + i)", "AVX-512 takes the first lanes for all"),
    (FLOAT_DOT, "_mm512_maskz_cvtps_pd(0xFF,", "_mm512_maskz_cvtps_pd(0x7F,", "AVX-512 leaves a lane out"),
    (FLOAT_DOT, "static_cast<double>(x[i + lane]) * static_cast<double>(y[i + lane])", "x[i + lane] * y[i + lane]",
     "products are rounded to float"),
]
