// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace ferry::cuda {

/// A function of CUDA's driver by its name, or null where there is no driver or no such function. Linked to
/// libcuda.so.1, no program would start where there is no driver.
void* DriverFunction(const char* name) noexcept;

}  // namespace ferry::cuda
