// SPDX-License-Identifier: BSD-2-Clause
// CUDA's names are those that GpuDevice is written against: a test that passes when it compiles.
#include <catch2/catch_test_macros.hpp>
#include <type_traits>

#include "backends/cuda/cuda_runtime.hpp"
#include "backends/gpu/gpu_device.hpp"
#include "backends/gpu/per_stream.hpp"

namespace ferry {

static_assert(gpu::GpuRuntime<cuda::CudaRuntime>);
static_assert(!std::is_abstract_v<gpu::GpuDevice<cuda::CudaRuntime>>);
template class gpu::GpuDevice<cuda::CudaRuntime>;

TEST_CASE("Errors have CUDA's names and words, with or without a driver") {
  CHECK(std::string_view(cuda::CudaRuntime::GetErrorName(cuda::CudaRuntime::kOutOfMemory)) ==
        "cudaErrorMemoryAllocation");
  CHECK(std::string_view(cuda::CudaRuntime::GetErrorString(cuda::CudaRuntime::kOutOfMemory)) ==
        "out of memory");
}

TEST_CASE("The default stream per thread has the handle by which what is kept for it is told apart") {
  CHECK(gpu::kPerThreadStream == StreamHandle{reinterpret_cast<std::uintptr_t>(cudaStreamPerThread)});
}

}  // namespace ferry
