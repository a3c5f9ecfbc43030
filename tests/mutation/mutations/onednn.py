# SPDX-License-Identifier: BSD-2-Clause
"""Convolutions by oneDNN."""

CHOICE = "core/nets/vision/onednn/convolution.cpp"
BLOCKS = "core/nets/vision/onednn/blocks.cpp"
STEP = "core/nets/vision/onednn/step.cpp"
RUNS = "core/nets/vision/onednn/run_sizes.cpp"
TEAM = "core/nets/vision/onednn/team.cpp"

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
    (RUNS, "if (part.runs > 1 || all.groups > 1 ||", "if (part.runs > 1 ||", "parts of channels are in several groups"),
    (RUNS, "if (part.runs > 1 || all", "if (all", "parts are of images and of channels at once"),
    (STEP, "image_.step = part.sizes.images * images[0];", "image_.step = images[0];", "a run's first image is the second one of the run before"),
    (STEP, "map_.step = part.sizes.images * maps[0];", "map_.step = maps[0];", "a run's first map is the second one of the run before"),
    (RUNS, "channels /= part.runs;", "part.runs = 1;", "copies of large weights are as large"),
    (RUNS, "images / (all.ImageCount() + all.MapCount())", "images", "copies of a large batch are as large"),
    (STEP, "if (inputs % length == 0 && outputs", "if (outputs", "a block of inputs is not whole"),
    (STEP, "inputs % length == 0 && outputs % length == 0 &&", "inputs % length == 0 &&", "a block of outputs is not whole"),
    (RUNS, "channels % kFewest != 0", "channels < kFewest", "parts of channels leave some out"),
    (STEP, "scratch_ += kAlignment;", "", "the scratch ends beyond its end where it begins at no vector"),
    (STEP, "(Grants(threads_) ? team_ : one_)", "team_", "gradients are added from threads that are not there"),
    (STEP, "const AskForOne alone;", "", "the primitive of one thread is another of a team"),
    (STEP, "std::max(team_.scratch(), one_.scratch())", "one_.scratch()", "a team has the scratch of one thread"),
    (TEAM, "omp_in_parallel() == 0 &&", "", "a thread of a team counts on another team"),
    (TEAM, "omp_get_dynamic() == 0 &&", "", "threads that OpenMP may grant are counted on"),
    (TEAM, "omp_get_max_active_levels() > 0 &&", "", "a team is counted on where none may be"),
    (TEAM, "omp_set_num_threads(before_)", "omp_set_num_threads(1)", "a primitive's making leaves one thread to all that follow"),
    (STEP, "if (!Grants(ThreadsAskedFor())) alone.emplace();", "", "work is left to threads that are not there"),
]
