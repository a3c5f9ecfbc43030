# SPDX-License-Identifier: BSD-2-Clause
"""HIP's names."""

HIP = "backends/hip/hip_runtime.hpp"

MUTATIONS = [
    (HIP, "kDeviceToHost = hipMemcpyDeviceToHost", "kDeviceToHost = hipMemcpyHostToDevice",
     "HIP copies to the host as if to the device"),
    (HIP, "kOutOfMemory = hipErrorOutOfMemory", "kOutOfMemory = hipErrorInvalidValue",
     "HIP's word for no memory is another error's"),
    (HIP, "hipEventDisableTiming | hipEventReleaseToSystem", "hipEventDisableTiming",
     "HIP leaves what was written in the GPU's caches"),
    (HIP, "hipStreamCreateWithFlags(stream, hipStreamNonBlocking)", "hipStreamCreateWithFlags(stream, hipStreamDefault)",
     "HIP's streams wait for the main one"),
    (HIP, "return hipFreeAsync(ptr, on);", "return on == nullptr ? hipFreeAsync(ptr, on) : hipFree(ptr);",
     "HIP frees at once"),
    (HIP, "memory_pools != 0", "true",
     "HIP's pools are used where there are none"),
    (HIP, "device.integrated != 0 ||", "",
     "HIP does not know an APU"),
    (HIP, "properties.wavefront = device.warpSize;", "properties.wavefront = 32;",
     "HIP's wavefronts are CUDA's"),
]
