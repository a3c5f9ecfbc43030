// SPDX-License-Identifier: BSD-2-Clause
// What HIP shows without a GPU. That its names are those that GpuDevice is written against is a test that
// passes when it compiles.
#include <catch2/catch_test_macros.hpp>
#include <string_view>
#include <type_traits>

#include "backends/gpu/gpu_device.hpp"
#include "backends/gpu/per_stream.hpp"
#include "backends/hip/hip_runtime.hpp"
#include "kernel.hpp"

namespace ferry {

static_assert(gpu::GpuRuntime<hip::HipRuntime>);
static_assert(!std::is_abstract_v<gpu::GpuDevice<hip::HipRuntime>>);
template class gpu::GpuDevice<hip::HipRuntime>;

TEST_CASE("Errors have names and words, with or without a driver") {
  const std::string_view name = hip::HipRuntime::GetErrorName(hip::HipRuntime::kOutOfMemory);
  CHECK(name.find("Memory") != name.npos);  // hipError..., or cudaError... where that is beneath
  CHECK(hip::HipRuntime::GetErrorString(hip::HipRuntime::kOutOfMemory) != nullptr);  // 5.2 repeats the name
}

#ifdef __HIP_PLATFORM_AMD__
TEST_CASE("The kernels of the tests compile for a GPU that is not there") {
  CHECK_FALSE(hip::CompileKernels({"--offload-arch=gfx90a"}).empty());
}
#endif

TEST_CASE("The default stream per thread has the handle by which what is kept for it is told apart") {
  CHECK(gpu::kPerThreadStream == StreamHandle{reinterpret_cast<std::uintptr_t>(hipStreamPerThread)});
}

}  // namespace ferry
