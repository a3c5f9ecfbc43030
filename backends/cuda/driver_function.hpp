// SPDX-License-Identifier: BSD-2-Clause
#pragma once

/// The name that cuda.h gives to the version of a driver's function that it declares.
#define FERRY_DRIVER_NAME(function) FERRY_DRIVER_STRING(function)
#define FERRY_DRIVER_STRING(name) #name

namespace ferry::cuda {

/// A function of CUDA's driver by its name, or null where there is no driver or no such function. Linked to
/// libcuda.so.1, no program would start where there is no driver.
void* DriverFunction(const char* name) noexcept;

}  // namespace ferry::cuda
