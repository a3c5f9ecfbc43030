# SPDX-License-Identifier: BSD-2-Clause
"""Convolutions by vendors' libraries."""

BOTH = "backends/gpu/convolution.hpp"
CUDA = "backends/cuda/convolution.cpp"
HIP = "backends/hip/convolution.cpp"
HIP_DNN = "backends/hip/dnn.hpp"

MUTATIONS = [
    (BOTH, "  if (Names::Lacks(status)) return false;\n", "", "a convolution that the library lacks is an error"),
    (BOTH, "std::tuple(weights, maps, images)", "std::tuple(images, maps, weights)", "gradients of images go to the weights"),
    (CUDA, "beta = Map::kAdds ? 1 : 0", "beta = 0", "cuDNN overwrites gradients of weights"),
    (CUDA, " || candidate.determinism != CUDNN_DETERMINISTIC", "", "cuDNN's bits are others on each run"),
    (CUDA, "          workspace_ <= most)", "          most > 0)", "cuDNN takes all memory"),
    (HIP, "    if (sizes.groups > 1 && (h.dilation > 1 || w.dilation > 1)) return false;\n", "",
     "MIOpen is asked for dilated windows in groups, which it lacks by its manual"),
    (HIP, "MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC, 1)", "MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC, 0)", "MIOpen's bits are others on each run"),
    (HIP, "candidate.algorithm == miopenConvolutionAlgoImplicitGEMM || ", "", "MIOpen adds in any order in spite of what it was asked for"),
    (HIP, "|| candidate.workspace_size > most", "|| most == 0", "MIOpen takes all memory"),
    (HIP, "Map::kAdds ? gradient : z", "z", "MIOpen overwrites gradients of weights"),
    (HIP, "T* const gradient = arrays.workspace + GradientAt();", "T* const gradient = arrays.workspace;",
     "gradients lie in the workspace that MIOpen works in"),
    (HIP, "bytes_ == 0 ? nullptr : arrays.workspace", "arrays.workspace", "MIOpen is given a workspace of no bytes"),
    (HIP, "return GradientAt() + gradient_;", "return GradientAt();", "gradients lie behind the end of the workspace"),
    (HIP, "      Add(*dnn, its_.bias, gradient, its_.bias, arrays.bias);\n", "", "the gradient of the bias stays what it was"),
    (HIP, "Add(*dnn, its_.bias, arrays.bias, its_.maps, z);", "(void)0;", "maps by MIOpen have no bias"),
    (HIP, "first, second, its_.window.get(), result,\n               solution_);", "first, second, its_.window.get(), result,\n               0);",
     "another solution is compiled than runs"),
    (HIP, "return device.backend == hip", "return device.backend < hip", "MIOpen is never asked"),
    (HIP_DNN, "return miopenSetStream(handle, stream);", "return stream == nullptr ? miopenSetStream(handle, stream) : miopenStatusSuccess;",
     "MIOpen works on the main stream alone"),
]
