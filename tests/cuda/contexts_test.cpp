// SPDX-License-Identifier: BSD-2-Clause
// backends/cuda/driver.cpp over the driver of fake_driver.cpp.
#include <cuda.h>
#include <dlfcn.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <stdexcept>

#include "backends/gpu/current_device.hpp"

namespace ferry::gpu {
namespace {

/// How many contexts the driver has for the calling thread.
int Contexts() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  void* const contexts = driver == nullptr ? nullptr : dlsym(driver, "FerryContexts");
  if (contexts == nullptr) SKIP("another driver was found first");
  return reinterpret_cast<int (*)()>(contexts)();
}

CUresult Push(std::uintptr_t context) { return cuCtxPushCurrent(reinterpret_cast<CUcontext>(context)); }

TEST_CASE("Contexts that a library pushes and leaves are popped, and none besides") {
  const int at_first = Contexts();  // which may skip, as an assertion may not
  REQUIRE(at_first == 0);
  CHECK(Push(1) == CUDA_SUCCESS);
  Upkeep([] {
    CHECK(Push(2) == CUDA_SUCCESS);
    Upkeep([] {
      CHECK(Push(3) == CUDA_SUCCESS);
      CHECK(Push(4) == CUDA_SUCCESS);
      CHECK(Push(0) == CUDA_ERROR_INVALID_CONTEXT);
      CHECK(Contexts() == 4);
    });
    CHECK(Contexts() == 2);
  });
  CHECK_THROWS_AS(Upkeep([] {
                    Push(5);
                    throw std::runtime_error("the library's");
                  }),
                  std::runtime_error);
  CHECK(Contexts() == 1);
}

}  // namespace
}  // namespace ferry::gpu
