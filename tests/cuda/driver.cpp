// SPDX-License-Identifier: BSD-2-Clause
#include <dlfcn.h>

#include "tests/cuda/kernel.hpp"

void* ferry::cuda::DriverFunction(const std::string& name) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  return driver == nullptr ? nullptr : dlsym(driver, name.c_str());
}
