// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "ferry/sim.hpp"
#include "handles.hpp"
#include "memory.hpp"
#include "queue.hpp"
#include "sim_runtime.hpp"

namespace ferry::sim {

using Error = SimRuntime::Error;
using Lock = std::unique_lock<std::mutex>;

/// Which calls a fault may strike, and how.
enum class Faults {
  kEither,     ///< instead of the call's work, or after it
  kInstead,    ///< only instead: there is nothing to do, or nobody could give back what the call made
  kGivesBack,  ///< counted only if asked for, as nobody reports it; after a kernel failed, still gives back
  kQuery,      ///< counted only if asked for; says nothing of kernels
  kLaunch,     ///< like kQuery, and either instead of the work or after it
};

/// What devices keep to use it again: handles.
struct Kept {
  std::set<std::uintptr_t> events, streams;
};

/// The simulated machine behind SimRuntime and ferry/sim.hpp. There is one, behind one lock, which every
/// function needs: those that take it open it while a kernel runs. One piece of work runs at a time.
class Machine {
 public:
  struct EventState {
    int device;
    Call made;
    std::optional<Point> at{};
    bool measures = false;
    std::shared_ptr<std::int64_t> time{};  ///< of a measuring one, when it was reached; 0 before
  };
  struct DeviceState {
    std::size_t used = 0;  ///< in bytes
    Error sticky = SimRuntime::kSuccess;
    bool context = false;  ///< made by the first call that uses the device, or makes it current
    std::shared_ptr<Queue> main{};
    std::map<std::thread::id, std::shared_ptr<Queue>> of_threads{};  ///< their default streams
    Clock blocking{};                                                ///< what blocking streams have done
    std::set<int> readable{};      ///< devices whose Malloc'ed memory its copies have access to
    std::set<int> pool_readers{};  ///< devices whose copies have access to what its pool has made
  };

  /// Never destroyed: global memories give back theirs at exit.
  static Machine& The();

  void Reset(const Options& next, Lock& lock);
  /// Without `kept` among the leaks.
  Report Inspect(const Kept& kept) const;

  // Calls, their faults, and what is wrong with them.
  Call Begin(const char* name, Faults faults);
  /// What the call that just began is to fail with, or kSuccess.
  Error Injected(const Call& call);
  Error Misuse(const Call& call, const std::string& what, Error error = SimRuntime::kInvalidValue);

  // Memory.
  /// Makes room if it can by waiting for memory that was given up but is not free yet, like a stream-ordered
  /// allocator.
  Error Make(const Call& call, MemoryKind kind, std::size_t bytes, int device, Block*& made, Lock& lock);
  /// The block that a pointer that came to `call` is in; nullptr for memory that is not the simulator's.
  Error Locate(const Call& call, const void* ptr, std::size_t bytes, Block*& found);
  /// What a kernel on a stream of `device` is to touch, added to `uses`.
  Error LocateTouch(const Call& call, const Touch& touch, int device, std::vector<Use>& uses);
  /// For a pointer that is to be freed: its block, of one of the kinds.
  Error LocateToFree(const Call& call, void* ptr, std::initializer_list<MemoryKind> kinds, Block*& found);
  void Retire(const Call& call, Block& block);
  /// In nobody's order: no queued work may use it any more.
  void RetireNow(const Call& call, Block& block);
  /// What work writes to `to`, or to pageable memory.
  void Write(const Block* to, void* target, const void* source, std::size_t bytes);
  /// Lets the host see all that work has written to its memory.
  void Release();

  // Queues.
  /// Does work of destroyed streams where there are many of those.
  std::shared_ptr<Queue> MakeQueue(int device, const Call& call, Lock& lock,
                                   QueueKind kind = QueueKind::kNonBlocking);
  /// The queue of a stream, or nullptr and a misuse. With `device`, of that device; else default streams are
  /// the current one's.
  std::shared_ptr<Queue> Get(const Call& call, std::uintptr_t stream, std::optional<int> device);
  /// The same, for work: one under capture is misuse.
  std::shared_ptr<Queue> Ready(const Call& call, std::uintptr_t stream, std::optional<int> device);
  /// Whether a blocking stream of the device is under capture.
  bool HoldsMainUp(int device) const;
  /// Ends the captures that it concerns. Misuse where there are any.
  Error EndCaptures(const Call& call, const std::function<bool(const Queue&)>& concerns);
  /// For a call that no capture on the device survives, and that fails where there is one.
  Error EndCapturesOf(const Call& call, int device);
  /// For a call that is not safe while a stream is captured: ends the captures that the calling thread's mode
  /// does not exempt, and then fails.
  Error EndUnsafeCaptures(const Call& call);
  void Push(const std::shared_ptr<Queue>& queue, Op op);
  /// A main stream's next work comes after that of the blocking streams, and theirs after its.
  void OrderWithMain(const std::shared_ptr<Queue>& queue, const Call& call);
  /// The work that is queued next comes after `point`.
  void PushWait(const std::shared_ptr<Queue>& queue, const Call& call, const Point& point);
  /// The host waits. It sees what was written to coarse-grained memory after Release only.
  void WaitFor(const Point& point, Lock& lock);
  void WaitForAll(std::optional<int> device, Lock& lock);
  void RunUntil(const Position& target, Lock& lock);
  /// What comes before the target, as far as no kernel does.
  void RunWithoutKernels(const Position& target, Lock& lock);
  /// Runs something that the queue's next work needs, or that work, so that who asks again and again sees an
  /// end.
  void Advance(const std::shared_ptr<Queue>& queue, Lock& lock);
  /// What a machine that is not late runs at the end of a call. Kernels run only in calls that Ferry's own
  /// locks are not held in: they may wait for other threads that call Ferry.
  enum class Early { kAll, kNoKernels };
  void RunEarly(Early which, Lock& lock);
  void Destroy(Queue& queue);
  /// Not recorded yet.
  std::uintptr_t MakeEvent(int device, const Call& call);
  /// An event, or nullptr and a misuse.
  EventState* FindEvent(const Call& call, std::uintptr_t event);
  void DestroyEvent(std::uintptr_t event);
  /// Where an event was recorded, or nothing and a misuse.
  std::optional<Point> PointOf(const Call& call, std::uintptr_t event);
  /// How many queues there are, destroyed ones with work left among them.
  std::size_t queue_count() const { return queues_.size(); }

  /// The calling thread's current device.
  DeviceState& Current();

  std::mutex mutex;
  Options options;
  Report report;
  std::vector<DeviceState> devices;
  Memory memory;
  RaceCheck races;

  /// As with CUDA, all devices' main streams have one handle, and all threads' default streams another.
  static constexpr std::uintptr_t kMainHandle = 1;
  bool Has(int device) const { return device >= 0 && static_cast<std::size_t>(device) < devices.size(); }
  bool Unified(int device) const {
    return options.unified || device >= options.devices - options.unified_devices;
  }
  /// Whether copies of `reader` can read memory of `device`.
  bool Peers(int reader, int device) const {
    return options.peers && reader != device && Has(device) && !Unified(device);
  }
  int device_count();
  std::size_t device_memory() const { return options.memory != 0 ? options.memory : host_memory_; }

 private:
  Machine();

  std::uint64_t Random();
  bool Counts(const Call& call) const;
  static std::shared_ptr<Queue> NeededFor(const Position& target);
  /// nullptr for what is no stream.
  std::shared_ptr<Queue> Find(std::uintptr_t stream, int device);
  std::shared_ptr<Queue> AnyRunnable(Early which = Early::kAll);
  /// What comes before the target, as far as that is no kernel of a queue that it `concerns`.
  template <class Concerns>
  void RunWithoutKernelsOf(const Position& target, Concerns concerns, Lock& lock);
  /// The work of destroyed streams, where there are many of those.
  void FinishDestroyed(Lock& lock);
  void RunFront(const std::shared_ptr<Queue>& queue, Lock& lock);
  void RunKernel(const Op& op, int device, Lock& lock);
  static const char* Lacking(const Op& op);
  static void DestroyUnlocked(std::function<void()> body, Lock& lock);
  std::size_t AlignmentOf(std::size_t bytes) const;
  bool MakeRoom(std::size_t& used, std::size_t bytes, std::size_t limit, int device, Lock& lock);

  struct Unseen {
    std::byte* target;
    std::vector<std::byte> bytes;
  };

  std::vector<Unseen> unseen_;  ///< in the order of the writes
  std::size_t host_memory_;
  std::size_t pinned_ = 0;  ///< in bytes
  std::uint64_t random_ = 0;
  Order order_ = Order::kLate;  ///< kDrawn is a machine that runs some work early
  long serial_ = 0;
  bool running_ = false;  ///< a kernel runs, with the lock open
  std::condition_variable ran_;
  Handles stream_handles_{0x10000}, event_handles_{0x10010};
  std::map<std::uintptr_t, EventState> events_;
  std::map<std::uintptr_t, std::shared_ptr<Queue>> by_handle_;
  std::vector<std::shared_ptr<Queue>> queues_;      ///< those in use, and destroyed ones with work left
  std::vector<std::shared_ptr<Queue>> unfinished_;  ///< the destroyed ones; whose turn is next comes first
};

inline Machine& machine() { return Machine::The(); }
/// What a stream's or an event's handle is in the machine's books.
inline std::uintptr_t Number(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle); }

/// Whether the calling thread is inside a kernel.
bool InKernel() noexcept;
/// What says that the kernel that the calling thread is inside may not do this; null where nothing does. May
/// be called in a signal's handler.
const detail::KernelGuard::Note* ForbiddenBy(const void* address, detail::FaultAccess access) noexcept;
/// The calling thread's current device; the first one, where there is none of that number any more.
int CurrentDevice() noexcept;
void SetCurrentDevice(int index) noexcept;
/// What the calling thread may do while a stream is under capture.
SimRuntime::CaptureMode& ThreadCaptureMode() noexcept;
/// Makes an error the calling thread's last one, and returns it.
Error Remember(Error error, bool last_call_only) noexcept;

/// One call of the runtime: `work(call, lock)` runs unless a fault comes instead. After a kernel failed, a
/// call does nothing but give back, and all fail.
template <class Work>
Error Enter(const char* name, Faults faults, Work work) {
  Machine& m = Machine::The();
  Lock lock(m.mutex);
  const Call call = m.Begin(name, faults);
  if (faults != Faults::kQuery) m.Current().context = true;
  const bool asks = faults == Faults::kQuery || faults == Faults::kLaunch;
  const auto sticky = [&] { return asks ? SimRuntime::kSuccess : m.Current().sticky; };
  Error error =
      InKernel() ? m.Misuse(call, "called by a kernel", SimRuntime::kNotPermitted) : m.Injected(call);
  const bool late = error == SimRuntime::kInjected &&
                    (faults == Faults::kEither || faults == Faults::kLaunch) && m.options.fail_late &&
                    !m.options.fail_forever;
  if (error == SimRuntime::kSuccess && faults != Faults::kGivesBack) error = sticky();
  if (error == SimRuntime::kSuccess || late) {
    const Error own = work(call, lock);
    if (error == SimRuntime::kSuccess) error = own != SimRuntime::kSuccess ? own : sticky();
    if (faults != Faults::kGivesBack && faults != Faults::kQuery)
      m.RunEarly(Machine::Early::kNoKernels, lock);
  }
  return Remember(error, m.options.last_call_only);
}

}  // namespace ferry::sim
