# SPDX-License-Identifier: BSD-2-Clause
"""The source that simulated and real GPUs share."""

CALLS = "backends/gpu/runtime_calls.hpp"
CURRENT = "backends/gpu/current_gpu.hpp"
GPU = "backends/gpu/gpu_device.hpp"
KEPT = "backends/gpu/kept_blocks.hpp"
QUEUES = "backends/gpu/queues.hpp"
DESCRIBE = "backends/gpu/describe.hpp"

MUTATIONS = [
    (GPU, "                           : kind == CopyKind::kDeviceToHost ? Runtime::kDeviceToHost\n",
     "                           : kind == CopyKind::kDeviceToHost ? Runtime::kDeviceToDevice\n",
     "a copy to the host goes the wrong way"),
    (GPU, "    if (!refused) return Check(call, error);\n", "    Check(call, error);\n",
     "memory that runs out is not an OutOfMemory"),
    (QUEUES, "      Discard(point);\n      return error;", "      return error;",
     "an event that cannot be recorded leaks"),
    (QUEUES, "    if (Point* const point = idle_) return idle_ = point->next, point;", "", "events are never used again"),
    (QUEUES, "    if (it->second.points != 0) return false;\n", "", "a stream is destroyed before the points in it"),
    (QUEUES, "    if (point->counted) ++it->second.points;", "    ++own_[on].points;", "a borrowed stream is counted as ours"),
    (QUEUES, "    if (--it->second.points != 0 || !it->second.destroyed) return std::nullopt;",
     "    if (--it->second.points != 0 || it->second.destroyed) return std::nullopt;",
     "a stream that waits for its last point is never destroyed"),
    (GPU, "    RequireNotCapturing(\"MemcpyAsync\", on);\n", "", "a copy joins the caller's graph"),
    (GPU, "    RequireNotCapturing(\"EventRecord\", on);\n", "", "a point is recorded in a graph"),
    (GPU, "Runtime::StreamWaitEvent(Native(on), Queues<Runtime>::Native(event))", "Runtime::kSuccess",
     "streams wait for nothing"),
    (GPU, "      const Error error = Runtime::StreamWaitEvent(Native(then), Queues<Runtime>::Native(point));",
     "      const Error error = Runtime::kSuccess;", "streams are not ordered"),
    (GPU, "Check(\"EventSynchronize\", AwaitOnHost(event));", "(void)event;", "the host waits for nothing"),
    (GPU, "    if (!CurrentGpu<Runtime>::ThreadHasContext()) current.emplace(*this);\n", "",
     "a host that waits makes a context on the first GPU"),
    (GPU, "    if constexpr (!Runtime::kHostWaitsEndCaptures) return Runtime::EventSynchronize(native);\n",
     "    return Runtime::EventSynchronize(native);\n", "a host that waits ends a capture elsewhere"),
    (GPU, "    if (!capturing) ContinueKept(on);\n", "", "a block that was kept for a capture stays for ever"),
    (GPU, "    ContinueKept(on);\n  }\n  static bool Capturing", "  }\n  static bool Capturing",
     "a kept block waits for an allocation"),
    (GPU, "      if (!Capturing(on)) ContinueKept(on);", "      ContinueKept(on);", "an abandoned block goes back at once"),
    (GPU, "    kept_.Forget(stream);\n", "", "a block that was kept goes back in the order of another stream"),
    (GPU, "AsOutOfMemory(Runtime::MallocHost(&ptr, bytes))", "Runtime::MallocHost(&ptr, bytes)",
     "pinned memory that is refused as a wrong value is not out of memory"),
    (GPU, "AsOutOfMemory(Runtime::MallocManaged(&ptr, bytes))", "Runtime::MallocManaged(&ptr, bytes)",
     "managed memory that is refused as a wrong value is not out of memory"),
    (GPU, "    const RelaxedCapture<Runtime> relaxed;\n    switch (kind) {", "    switch (kind) {",
     "an allocation ends a capture elsewhere"),
    (GPU, "    const RelaxedCapture<Runtime> relaxed;\n    FreeIdle(kind, ptr);", "    FreeIdle(kind, ptr);",
     "a free ends a capture elsewhere"),
    (GPU, "    const RelaxedCapture<Runtime> relaxed;\n    Check(\"StreamSynchronize\"", "    Check(\"StreamSynchronize\"",
     "a wait for a stream ends a capture elsewhere"),
    (KEPT, "if (block->users.size() == 1) {", "if (true) {",
     "an abandoned block goes back after its first user"),
    (CURRENT, "    if (put_back_) Ignore<Runtime>(Runtime::SetDevice(previous_));", "",
     "a call changes the caller's current device"),
    (CURRENT, "      put_back_ = active && error_ == Runtime::kSuccess;", "      put_back_ = error_ == Runtime::kSuccess;",
     "a GPU that nobody uses gets a context"),
    (CALLS, "    if (exchanged_) Exchange();", "", "a call leaves the caller's thread relaxed"),
    (DESCRIBE, "Runtime::Describe(index, properties)", "Runtime::Describe(0, properties)",
     "each GPU is described as the first"),
    (DESCRIBE, "properties.index = index;", "", "each GPU has the first one's index"),
    (DESCRIBE, "  DeviceProperties properties;\n", "  DeviceProperties properties;\n  (void)Runtime::SetDevice(index);\n",
     "a look at a GPU makes it current"),
]
