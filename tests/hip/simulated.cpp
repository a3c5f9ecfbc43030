// SPDX-License-Identifier: BSD-2-Clause
// HIP's functions for AMD's GPUs, those that Ferry and its tests call, made of the simulated GPU; see
// tests/gpu/simulated.hpp. The machine is as odd as HIP's releases have been, all at once
// (docs/decisions/0030).
#include <hip/hip_runtime_api.h>

#include "tests/hip/kernel.hpp"
#include "tests/hip/names.hpp"

#define FERRY_VENDOR(name) hip##name
#define FERRY_EVENT_FLAGS hipEventDisableTiming | hipEventReleaseToSystem
#include "tests/gpu/simulated_functions.hpp"

namespace {

using namespace ferry::simulated;

const Session session({.wavefront = 64,
                       .architecture = "gfx90a:sramecc+:xnack-",
                       .null_when_full = true,
                       .zero_bytes = true,
                       .pageable_serialises = true,
                       .coarse_host_memory = true,
                       .last_call_only = true,
                       .refuses_as_invalid = true,
                       .events_need_stream = true,
                       .capture_spreads = true});

}  // namespace

extern "C" {

hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
  ferry::DeviceProperties its;
  if (const auto error = SimRuntime::Describe(device, its); error != SimRuntime::kSuccess) return Give(error);
  *properties = {};
  its.name.copy(properties->name, sizeof properties->name - 1);
  its.architecture.copy(properties->gcnArchName, sizeof properties->gcnArchName - 1);
  properties->totalGlobalMem = its.memory;
  properties->warpSize = its.wavefront;
  properties->concurrentManagedAccess = 1;
  properties->integrated = its.unified;
  return hipSuccess;
}
hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  Expect(attribute == hipDeviceAttributeMemoryPoolsSupported, __func__);
  ferry::DeviceProperties its;
  const auto error = Give(SimRuntime::Describe(device, its));
  return *value = its.memory_pools, error;
}

hipError_t hipHostMalloc(void** ptr, std::size_t bytes, unsigned flags) {
  Expect(flags == hipHostMallocDefault, __func__);
  return Give(SimRuntime::MallocHost(ptr, bytes));
}
hipError_t hipHostFree(void* ptr) { return Give(SimRuntime::FreeHost(ptr)); }
hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* ptr) {
  const auto owner = OwnerOf(ptr);
  if (!owner) return hipErrorInvalidValue;
  *attributes = {};
  attributes->device = owner->device;
  return hipSuccess;
}

// For tests/hip/kernel.hpp: a function is which of its kernels.
hipError_t hipModuleLoadData(hipModule_t* module, const void*) { return *module = {}, hipSuccess; }
hipError_t hipModuleUnload(hipModule_t) { return hipSuccess; }
hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t, const char* name) {
  *function = KernelOf<hipFunction_t>(name);
  return hipSuccess;
}
hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 unsigned, unsigned, hipStream_t on, void**, void**) {
  return Give(Launch(function, on));
}

}  // extern "C"

bool ferry::hip::SurvivesFailedKernels() { return true; }
std::vector<char> ferry::hip::CompileKernels(std::vector<const char*>) { return {0}; }
