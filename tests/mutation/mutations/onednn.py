# SPDX-License-Identifier: BSD-2-Clause
"""Convolutions by oneDNN."""

CHOICE = "core/nets/vision/onednn/convolution.cpp"
BLOCKS = "core/nets/vision/onednn/blocks.cpp"
STEP = "core/nets/vision/onednn/step.cpp"

MUTATIONS = [
    (CHOICE, "row * sizes.images >= kEnough", "row >= kEnough", "weights are copied for short rows of few images only"),
    (CHOICE, "vector_length == 16 && whole &&", "vector_length == 16 &&", "short rows are the library's where it fills up channels"),
    (BLOCKS, "Store(Load(x) + row, x);", "Store(row, x);", "gradients of weights overwrite"),
    (BLOCKS, "x[r * step] += blocks[at + r];", "x[r * step] = blocks[at + r];", "gradients of a kernel's last elements overwrite"),
    (BLOCKS, "element_ = 0;\n      ++line_;", "element_ = 0;", "all of a block's inputs are in the place of the first"),
    (BLOCKS, "i / length * block + o % length * length, false}", "i / length * block, false}", "all of a block's outputs are in the place of the first"),
    (STEP, "(run == 0 || argument.step != 0)", "run == 0", "all images of a batch are the first ones"),
    (STEP, "bias_step_ = bias_count_;", "bias_step_ = 0;", "each part of the maps has the first part's bias"),
    (STEP, "weight_.step = part.sizes.in_channels * weights[1];", "weight_.step = 0;", "each part of the images has the first part's weights"),
    (STEP, "if (part.runs > 1 || all.groups > 1 ||", "if (part.runs > 1 ||", "parts of channels are in several groups"),
    (STEP, "if (part.runs > 1 || all", "if (all", "parts are of images and of channels at once"),
    (STEP, "image_.step = part.sizes.images * images[0];", "image_.step = images[0];", "a run's first image is the second one of the run before"),
    (STEP, "map_.step = part.sizes.images * maps[0];", "map_.step = maps[0];", "a run's first map is the second one of the run before"),
    (STEP, "channels /= part.runs;", "part.runs = 1;", "copies of large weights are as large"),
    (STEP, "images / (all.ImageCount() + all.MapCount())", "images", "copies of a large batch are as large"),
]
