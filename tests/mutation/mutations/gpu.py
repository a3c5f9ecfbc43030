# SPDX-License-Identifier: BSD-2-Clause
"""The source that simulated and real GPUs share."""

GPU = "backends/gpu/gpu_device.hpp"

MUTATIONS = [
    (GPU, "                           : kind == CopyKind::kDeviceToHost ? Runtime::kDeviceToHost\n",
     "                           : kind == CopyKind::kDeviceToHost ? Runtime::kDeviceToDevice\n",
     "a copy to the host goes the wrong way"),
    (GPU, "    if (!refused) return Check(call, error);\n", "    Check(call, error);\n",
     "memory that runs out is not an OutOfMemory"),
    (GPU, "      Ignore(Runtime::EventDestroy(event));\n      Check(", "      Check(",
     "an event that cannot be recorded leaks"),
    (GPU, "    RequireNotCapturing(\"MemcpyAsync\", on);\n", "", "a copy joins the caller's graph"),
    (GPU, "    RequireNotCapturing(\"EventRecord\", on);\n", "", "a point is recorded in a graph"),
    (GPU, "Runtime::StreamWaitEvent(Native(on), Native(event))", "Runtime::kSuccess", "streams wait for nothing"),
    (GPU, "Runtime::EventSynchronize(Native(event))", "Runtime::kSuccess", "the host waits for nothing"),
    (GPU, "      if (changed_) Ignore(Runtime::SetDevice(previous_));\n", "",
     "a call changes the caller's current device"),
]
