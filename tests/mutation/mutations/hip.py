# SPDX-License-Identifier: BSD-2-Clause
"""HIP's names."""

HIP = "backends/hip/hip_runtime.hpp"

MUTATIONS = [
    (HIP, "return hipDeviceEnablePeerAccess(peer, 0);", "return peer < 0 ? hipErrorInvalidDevice : hipSuccess;",
     "HIP copies a peer's memory by way of the host"),
    (HIP, "return hipMemPoolSetAccess(pool, &access, 1);", "return hipSuccess;", "HIP's pools stay closed to peers"),
    (HIP, "access.location.id = reader;", "access.location.id = index;", "HIP's pools are opened to their own device"),
    (HIP, "    if (can != 0) properties.peers.push_back(peer);\n", "", "HIP's devices have no peers"),
    (HIP, "    if (can != 0) properties.peers", "    properties.peers", "HIP's devices are all peers, themselves among them"),
    (HIP, "*index = attributes.device;", "(void)index;", "nobody knows whose memory HIP has made"),
    (HIP, "  *index = -1;\n", "", "memory that HIP does not know counts as pinned"),
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
