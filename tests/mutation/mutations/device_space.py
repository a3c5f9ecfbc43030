# SPDX-License-Identifier: BSD-2-Clause
"""Kernels on GPUs by Kokkos."""

DEVICE_SPACE = "core/kernels/gpu/device_space.cpp"
DRIVER = "backends/cuda/driver.cpp"
GEMM = "backends/gpu/gemm.hpp"
HANDLE = "backends/gpu/library_handle.hpp"
HIP = "backends/hip/current_device.cpp"
HIP_BLAS = "backends/hip/blas.hpp"
HIP_GEMM = "backends/hip/gemm.cpp"

MUTATIONS = [
    (DEVICE_SPACE, "  gpu::FollowMain(on);", "", "a new stream's reductions count by flags that are not zeroed yet"),
    (DEVICE_SPACE, "  const gpu::CurrentDevice current(on);\n", "  const gpu::CurrentDevice current;\n",
     "a kernel is launched while another device is current"),
    (DEVICE_SPACE, "  RequireLaunchable(index);\n", "  if (index < 0) RequireLaunchable(index);\n",
     "a Kokkos of one GPU is asked to launch on another one"),
    (DEVICE_SPACE, ".device = DeviceOf(DeviceSpace())", ".device = index", "Kokkos' own GPU is the one that is asked for"),
    (DEVICE_SPACE, "  Gate().Alone([&] {", "  ([](const auto& make) { make(); })([&] {", "two instances are made at once"),
    (DEVICE_SPACE, "    Gate().Launch(instance->mutex, launched_on, on.device().properties().index,\n                  [&] { body(instance->space); });",
     "    body(instance->space), (void)launched_on;", "two threads prepare one kernel"),
    (DEVICE_SPACE, "on.device().properties().index,\n                  [&]", "0,\n                  [&]",
     "a kernel that one device has prepared counts as prepared on all"),
    (DEVICE_SPACE, "    gpu::Upkeep([&] {\n      instance = {", "    ([](const auto& make) { make(); })([&] {\n      instance = {",
     "an instance leaves its context on the thread"),
    (DEVICE_SPACE, "gpu::ForgetAll(typeid(Instance)); }", "}", "instances outlive Kokkos"),
    (DEVICE_SPACE, "if (gpu::StreamWorks(on)) delete", "(void)on, delete", "a failed stream's instance is destroyed, which ends the program"),
    (DEVICE_SPACE, "  const gpu::CurrentDevice current(index);\n  gpu::Upkeep", "  (void)index;\n  gpu::Upkeep",
     "an instance's end leaves its device current"),
    (DEVICE_SPACE, "    const LaunchGate::Aside aside;  // another thread may be making the instance\n", "",
     "a launch within a launch and an instance that is made wait for each other"),
    (DEVICE_SPACE, "  gpu::CallLibrary(\"kernel\", [&] {", "  ([](const auto& work) { work(); })([&] {", "what Kokkos throws is no device's error"),
    (DEVICE_SPACE, "  const gpu::CurrentDevice current;\n  const int its = index.value_or(current.previous());",
     "  const int its = index.value_or(0);", "Kokkos' initialisation leaves its device current"),
    (DEVICE_SPACE, "  return gpu::CurrentDeviceWorks();", "  return true;", "Kokkos is finalised on a failed GPU"),
    (DEVICE_SPACE, "  const gpu::CurrentDevice current(index);\n  return", "  (void)index;\n  return",
     "whether Kokkos' GPU has failed is asked of another one"),
    (DRIVER, "  if (error == CUDA_SUCCESS) ++ferry::gpu::pushed;\n", "", "contexts that Kokkos pushes are not counted"),
    (DRIVER, "  Cuda::RequireWorking(on.handle());\n", "", "Kokkos is called for a failed GPU"),
    (GEMM, "  const CurrentDevice current(on);\n", "", "BLAS is called while another device is current"),
    (GEMM, "operation(sizes.transpose_b), operation(sizes.transpose_a)", "operation(sizes.transpose_a), operation(sizes.transpose_b)",
     "BLAS transposes the other matrix"),
    (GEMM, "sizes.n, sizes.m, sizes.k", "sizes.m, sizes.n, sizes.k", "BLAS takes rows for columns"),
    (GEMM, "b, sizes.ldb, a, sizes.lda", "a, sizes.lda, b, sizes.ldb", "BLAS multiplies the other way round"),
    (GEMM, "&beta, c, sizes.ldc", "&beta, c, sizes.n", "BLAS' result has no gaps between its rows"),
    (HANDLE, "      if (status != Names::kSuccess) (void)Names::Destroy(handle_);\n", "", "a handle without a stream is lost"),
    (HANDLE, "      Check(\"SetStream\", status);\n", "", "a handle without a stream is used"),
    (HANDLE, "    Check(call, Ask(function, arguments...));", "    (void)call, (void)Ask(function, arguments...);", "nobody hears what BLAS refuses"),
    (HANDLE, "      Upkeep([&] { (void)Names::Destroy(handle_); });\n", "", "handles are never given back"),
    (HANDLE, "      const CurrentDevice current(device_);\n", "", "a handle is given back while another device is current"),
    (HIP, "  Hip::RequireWorking(on.handle());\n", "", "Kokkos is called for a failed AMD GPU"),
    (HIP, "{ Hip::PutBack(previous_); }", "{}", "a kernel on an AMD GPU leaves its device current"),
    (HIP, "return Hip::Works(stream);", "return stream != StreamHandle{~0UL};", "a failed AMD GPU's instance is destroyed, which ends the program"),
    (HIP, "return hipDeviceSynchronize() == hipSuccess;", "return true;", "Kokkos is finalised on a failed AMD GPU"),
    (HIP, "{ Hip::CallLibrary(call, work); }", "{ call != nullptr ? work() : work(); }", "what Kokkos throws for AMD is no device's error"),
    (HIP_BLAS, "kAsItIs = HIPBLAS_OP_N, kTransposed = HIPBLAS_OP_T", "kAsItIs = HIPBLAS_OP_T, kTransposed = HIPBLAS_OP_N",
     "hipBLAS transposes what is to stay"),
    (HIP_BLAS, "return hipblasSetStream(handle, stream);", "return stream == nullptr ? hipblasSetStream(handle, stream) : HIPBLAS_STATUS_SUCCESS;",
     "hipBLAS works on the main stream alone"),
    (HIP_BLAS, "return hipblasDestroy(handle);", "return handle == nullptr ? hipblasDestroy(handle) : HIPBLAS_STATUS_SUCCESS;",
     "hipBLAS' handles stay for ever"),
    (HIP_GEMM, "(on, sizes, alpha, a, b, beta, c);", "(on, sizes, beta, a, b, alpha, c);", "hipBLAS multiplies by the other factor"),
]
