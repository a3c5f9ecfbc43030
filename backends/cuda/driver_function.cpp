// SPDX-License-Identifier: BSD-2-Clause
#include "backends/cuda/driver_function.hpp"

#include <dlfcn.h>

void* ferry::cuda::DriverFunction(const char* name) noexcept {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  return driver == nullptr ? nullptr : dlsym(driver, name);
}
