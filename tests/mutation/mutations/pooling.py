# SPDX-License-Identifier: BSD-2-Clause
"""Pooling."""

VISION = "core/nets/vision/"
STRIPS = VISION + "strips/one_set.inc"

MUTATIONS = [
    (VISION + "pooling.hpp", "kShortPlane = 65535", "kShortPlane = 65536", "two bytes stand for the last element and for none"),
    (VISION + "pool_windows.hpp", "stride > room", "stride > room + 64", "lanes read beyond the last plane"),
    (VISION + "pool_windows.hpp", "left < lanes ? left : lanes", "lanes", "lanes write beyond the last window"),
    (VISION + "pool_windows.hpp", "for (; j < whole_.first; ++j) One", "if (false) One", "a window over the left padding reads what lies before its row"),
    (VISION + "pooling.hpp", "std::min((pad + stride - 1) / stride, pooled)", "std::min(pad / stride, pooled)", "a window that begins in the padding counts as whole"),
    (VISION + "pooling.hpp", "std::min((pad + stride - 1) / stride, pooled)", "(pad + stride - 1) / stride", "windows that padding alone would have are written"),
    (VISION + "pool_parts.hpp", "(band + 1) * rows_ / bands_", "(band + 1) * (rows_ / bands_)", "the last rows are in no band"),
    (VISION + "pool_parts.hpp", "(group + 1) * planes_ / groups_", "(group + 1) * (planes_ / groups_)", "the last planes are in no part"),
    (VISION + "pool_parts.hpp", "square && counted", "counted", "windows that are no squares are pooled as squares"),
    (VISION + "pooling.hpp", "room < 0 ? 0 : room / stride + 1", "room / stride + 2", "a window that ends behind the image counts as whole"),
    (VISION + "average_pooling.cpp", "axis.kernel - 1 - axis.pad, axis.size", "axis.pad, axis.size", "a mean's gradient is shifted"),
    (VISION + "average_pooling.cpp", "sizes.h.stride == 1 && sizes.w.stride == 1", "sizes.w.stride == 1", "rows of windows that move by more than one count as if they moved by one"),
    (VISION + "max_pooling.cpp", "elements.part[p] > best_.part[p]", "elements.part[p] >= best_.part[p]", "of equal elements the last is chosen"),
    (STRIPS, "const Ints more = element > value;", "const Ints more = element >= value;", "of equal elements of a strip the last is chosen"),
    (STRIPS, "(columns_ + k >= 0) & (columns_ + k < width_)", "columns_ + k < width_", "what lies before a row is in a window"),
    (STRIPS, "(columns_ + k >= 0) & (columns_ + k < width_)", "columns_ + k >= 0", "what lies behind a row is in a window"),
    (STRIPS, "if (h < 0 || h >= height_) return row;", "if (h < 0) return row;", "a row below the image is in a window"),
    (STRIPS, "if (h < 0 || h >= height_) return row;", "if (h >= height_) return row;", "a row above the image is in a window"),
    (STRIPS, "LoadOdd(from + k - 1, kAll)", "LoadOdd(from + k, kAll)", "a window's second column is that behind it"),
    (STRIPS, "room < kKernel ? room : Ints{} + kKernel", "Ints{} + kKernel", "the mean of a window that is cut off is that of a whole one"),
    (STRIPS, "std::min<std::int64_t>(kKernel, h.size + h.pad - row)", "kKernel", "a window that is cut off below counts as whole"),
    (STRIPS, "kShare = 1.0F / 9", "kShare = 1.0F", "a window hands on its gradient nine times"),
    (STRIPS, "plane * size >= before &&", "plane * size >= 0 &&", "a strip reads before the first plane"),
    (STRIPS, "(plane + 1) * size + span <= planes * size", "plane < planes", "a strip reads behind the last plane"),
    (STRIPS, "std::min(at, windows - kLanes)", "at", "a last strip writes beside its rows"),
    (STRIPS, "return columns >= kLanes ||", "return true ||", "lanes of a last row are written behind the part"),
    (STRIPS, "plane * rows + part.last_row) * columns + kLanes <=", "plane * rows + part.last_row) * columns <=", "a part writes lanes behind its end"),
    (STRIPS, "if (count >= kLanes)", "if (count > 0)", "the last lanes are written behind the part"),
    (STRIPS, "rows[k] = rows[k + kStride];", "rows[k] = rows[k + kStride - 1];", "a window has a row of before"),
    (STRIPS, "? Load<Ints>(chosen + k) : Ints{} - 1", "? Load<Ints>(chosen + k) : Load<Ints>(chosen + k)", "windows beside a row hand on gradients"),
    (STRIPS, "if (i >= 0 && i < h.pooled) {", "if (i >= 0) {", "windows below the last ones hand on gradients"),
    (STRIPS, "part.first_row + 1 - kKernel; row", "part.first_row; row", "a band's first rows miss windows of before"),
    (STRIPS, "h.pooled * w.pooled, 2, kLanes + 2)", "h.pooled * w.pooled, 0, kLanes + 2)", "a gradient reads windows before the first plane"),
    (STRIPS, "h.pooled * w.pooled, 2, kLanes + 2)", "h.pooled * w.pooled, 2, 0)", "a gradient reads windows behind the last plane"),
    (VISION + "pool_parts.hpp", "square && counted", "square", "strips number more elements than an int can"),
]
