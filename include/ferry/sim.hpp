// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ferry/stream.hpp"

/// A simulated GPU, for tests: the backend code of CUDA and HIP over host memory and queues. Work runs as
/// late as the contract of Device allows, or early, in an order drawn from a seed, so that a missing wait is
/// seen, and seen again. Device memory is out of the host's reach: a touch of it is a segmentation fault, and
/// so is a touch behind the end of a block (of pinned and managed ones, of 8,192 at a time); a line on stderr
/// says whose memory it is. Fresh memory is full of 0xA5. One simulated machine a process; any thread may
/// call.
namespace ferry::sim {

/// Names of the calls that a fault can strike: the runtime's, CUDA's without "cuda", and those of this
/// header.
// clang-format off
inline constexpr std::string_view kCalls[] = {
    "GetDevice", "SetDevice", "DeviceSynchronize", "ContextIsActive", "Describe",
    "Malloc", "MallocAsync", "MallocHost", "MallocManaged", "Free", "FreeAsync", "FreeHost",
    "MemcpyAsync", "MemsetAsync", "Launch", "MemPoolSetAttribute", "MemPoolTrimTo", "MemPoolSetAccess",
    "DeviceEnablePeerAccess", "PointerGetAttributes",
    "StreamCreate", "CreateBlockingStream", "StreamDestroy", "StreamQuery", "StreamSynchronize",
    "StreamWaitEvent", "StreamIsCapturing", "ThreadExchangeStreamCaptureMode", "BeginCapture", "EndCapture",
    "EventCreate", "EventCreateMeasuring", "EventDestroy", "EventRecord", "EventSynchronize", "EventQuery",
    "EventElapsedTime"};
// clang-format on

/// When work that was queued runs.
enum class Order : std::uint8_t {
  kDrawn,  ///< drawn from the seed: the machine is late, or runs some work early; seed 0 is late
  kLate,   ///< when something must wait for it, or needs its memory
  kEarly,  ///< before the call that made it runnable returns, as far as that may run it
};

/// What the simulated machine is like.
struct Options {
  std::uint64_t seed = 0;         ///< what is drawn is drawn from it; the same seed draws the same
  Order order = Order::kDrawn;    ///< when queued work runs
  int devices = 1;                ///< how many GPUs, from "sim:0" on
  std::size_t memory = 0;         ///< of each device, in bytes; 0: as much as this machine has
  std::size_t pinned_memory = 0;  ///< of the host, in bytes; 0: as much as this machine has
  bool unified = false;           ///< all devices are: DeviceProperties says what that is
  int unified_devices = 0;        ///< else, how many of the devices are unified: the last ones
  /// Copies can read the memory of another device that is not unified, once it has access.
  bool peers = true;
  /// Pageable memory is copied like pinned, as CUDA's words permit. Else a copy has read its pageable source,
  /// or written its pageable destination, when it returns.
  bool pageable_late = false;

  /// Two uses of the same bytes, one of them a write, on streams that nothing orders are misuse, even if they
  /// happen to run one after the other.
  bool race_check = true;

  // Where vendors' runtimes differ; docs/decisions/0030 has the sources.
  int wavefront = 32;             ///< threads that run in step, as DeviceProperties has it
  std::string architecture = {};  ///< as DeviceProperties has it
  /// As DeviceProperties has it: runs the kernels of layers cut as for a GPU, so that tests reach them
  /// without one.
  bool fine_kernels = false;
  bool memory_pools = true;     ///< else MallocAsync and FreeAsync are not supported
  bool null_when_full = false;  ///< MallocAsync succeeds when memory runs out, with a null pointer
  bool zero_bytes = false;      ///< allocations (with a null pointer) and copies of no bytes succeed
  /// A copy of pageable memory waits for all work of its device, and is over when it returns.
  bool pageable_serialises = false;
  /// The host sees what copies and fills have written to its memory, pageable memory apart, only once it has
  /// waited for an event, a stream or the device.
  bool coarse_host_memory = false;
  bool last_call_only = false;  ///< GetLastError knows the last call alone: one that succeeds clears it
  /// Pinned and managed memory that is refused is reported as an invalid value, as some drivers do.
  bool refuses_as_invalid = false;
  /// Waiting for an event, or asking for it, looks at the event's stream, which must not be destroyed before.
  /// So a stream that is dropped stays while somebody keeps a point in it, and so do its kernels. Ferry moves
  /// points of a borrowed stream to a stream of its own that waits for it.
  bool events_need_stream = false;
  /// Blocks begin at multiples of 256 bytes, as vendors promise. Else a block ends right before a page that
  /// nobody can touch, and begins at a multiple of the largest power of two up to 256 that divides its size;
  /// without page_protection, all begin at multiples of 256.
  bool align_to_256 = false;
  /// Device memory is out of the host's reach, as said above, and so is what lies behind a block. Else all
  /// memory of the machine is within everybody's reach, only writes around a block are found, when it is
  /// freed, and a kernel costs no system calls: for tests that make very many. A pointer guard then watches
  /// the host alone.
  bool page_protection = true;
  bool capture_spreads = false;  ///< a main stream can't be used while a blocking one is under capture

  // Faults. An allocation fails as out of memory.
  long fail_at = 0;  ///< the n-th call that counts fails, counted from 1; 0: none
  /// Which calls count: those of one name, of kCalls; "allocation": those that allocate; "any": all; and if
  /// empty all except those that give back (Free*, *Destroy) or ask (GetDevice, SetDevice, ContextIsActive,
  /// Describe, StreamIsCapturing, EventQuery, PointerGetAttributes), launches, captures, MemPoolSetAttribute,
  /// MemPoolTrimTo and DeviceEnablePeerAccess.
  std::string fail_call = {};
  bool fail_late = false;     ///< the failing call, or launch, has done its work, as when a vendor reports an
                              ///< older error; not of calls that make something: nobody could give that back
  bool fail_forever = false;  ///< and so does every call after it, of any name: a driver that is gone
};

/// What has happened on the machine since Reset.
struct Report {
  std::vector<std::string> misuse;  ///< "MemcpyAsync (call 7): ", what was wrong, and who made the memory
  std::vector<std::string> leaks;   ///< blocks, streams and events not given back, and who made them
  std::vector<std::string> kernel_errors;  ///< what failed kernels threw
  long calls = 0;                          ///< that Options::fail_at counts
  long faults = 0;                         ///< calls that Options::fail_at has made fail
  long captured = 0;                       ///< kernels that a capture has taken, and that do not run
  long copies = 0;                         ///< MemcpyAsync calls
  /// Of these, copies of a peer's memory that the device had no access to, which a vendor makes by way of the
  /// host.
  long staged_copies = 0;
  long host_waits = 0;     ///< calls in which the host waits
  long runtime_calls = 0;  ///< of any kind
  int contexts = 0;        ///< GPUs that were used or made current, each of which would hold memory for that
};

/// Makes a new machine behind the same devices: those of GetDevice and MakeDevice are its GPUs from now on,
/// if it has as many, and keep only the counts of their StatisticsDevice. No other thread may use simulated
/// devices meanwhile. Queued work is dropped, and what was asked of a Device by hand and not given back is
/// gone.
/// Throws std::logic_error, which says what there is, while memories, streams that Ferry made or events of a
/// simulated device are alive, those of MakeDevice's and of adaptors included, and std::invalid_argument for
/// a fail_call that is none; then the old machine stays.
void Reset(const Options& options = {});

/// Queues a "kernel". `touches` is the memory of its device, and the pinned and managed memory, that it uses:
/// all other blocks of devices are out of its reach while it runs, and those that it only reads are
/// write-protected. Memory that is not the simulator's is misuse there, except on a unified machine. Kernels
/// run one at a time, on a thread that waits for them, launches, or asks whether a stream is done. While more
/// than 64 destroyed streams have work left, a thread that makes a stream runs theirs, too.
/// The body must not call Ferry, but may wait for other threads that do. A body that waits for something
/// that its own thread does after the launch needs Order::kLate; one that waits for who makes a stream, a
/// stream that lives. A body that throws is a kernel that failed: its device does no more work, and each
/// later call on it fails, as after a sticky error. Throws DeviceError, and std::invalid_argument for a
/// device that is not simulated; so do the calls below.
void Launch(const Stream& on, std::vector<Touch> touches, std::function<void()> body);

/// As CUDA's cudaStreamCreate makes them: whatever is queued on the device's main stream comes after all that
/// was queued on this one before, and the other way round. For Stream::Borrow. DestroyStream of a device
/// without CheckedDevice gives it back. Throws DeviceError.
StreamHandle CreateBlockingStream(Device& device);
/// The calling thread's default stream, for Stream::Borrow: another queue in each thread, and blocking.
inline constexpr StreamHandle kPerThreadStream{2};

/// Runs all queued work.
void Drain();

/// What has happened since Reset. Runs nothing.
Report Inspect();

/// Whose unsafe calls end a capture: allocations, frees, changes of a memory pool, the host's waits, and
/// questions whether a stream or an event is done. So it was seen with CUDA 13.0 on an H200.
enum class CaptureMode : std::uint8_t {
  kGlobal,       ///< any thread's
  kThreadLocal,  ///< the capturing thread's
  kRelaxed,      ///< nobody's
};

/// Between the two, work queued on `on` becomes a graph, which never runs here: kernels are counted and
/// forgotten, and every other call that needs that stream fails. As with CUDA's legacy stream, a main stream
/// can't be captured. Both throw DeviceError. EndCapture also does where an unsafe call has ended the
/// capture before, and, as misuse, where none has begun.
void BeginCapture(const Stream& on, CaptureMode mode = CaptureMode::kGlobal);
/// Ends what BeginCapture began on this stream.
void EndCapture(const Stream& on);

}  // namespace ferry::sim
