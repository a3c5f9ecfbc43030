// SPDX-License-Identifier: BSD-2-Clause
#include "core/memory/call.hpp"

#include <chrono>
#include <exception>
#include <mutex>
#include <utility>

#include "core/device/trim.hpp"
#include "core/memory/guard.hpp"
#include "core/memory/records.hpp"
#include "ferry/error.hpp"
#include "ferry/out_of_memory.hpp"

namespace ferry {
namespace {

/// Never destroyed: a global memory may be accessed until the very end.
struct Handler {
  std::mutex mutex;
  OutOfMemoryHandler current;
  static Handler& instance() {
    static auto* const handler = new Handler;
    return *handler;
  }
};

}  // namespace

OutOfMemoryHandler SetOutOfMemoryHandler(OutOfMemoryHandler handler) {
  Handler& global = Handler::instance();
  const std::lock_guard lock(global.mutex);
  return std::exchange(global.current, std::move(handler));
}

namespace detail {

bool AskForMemory(Device& device, std::size_t bytes) {
  OutOfMemoryHandler handler;
  {
    const std::lock_guard lock(Handler::instance().mutex);
    handler = Handler::instance().current;
  }
  return handler && handler(device, bytes);
}

/// The locks of the arrivals' memories, in the order of their addresses. Held as long as this lives, except
/// within Without.
class Call::Locks {
 public:
  explicit Locks(std::span<Arrival> arrivals) : arrivals_(arrivals) { Lock(); }
  ~Locks() { Unlock(); }
  Locks(const Locks&) = delete;
  Locks& operator=(const Locks&) = delete;

  /// Runs `work` without them. Meanwhile all may change, except that no memory gives its buffers back.
  template <class Work>
  void Without(Work work) {
    for (const Arrival& arrival : arrivals_) ++arrival.memory->busy_;
    Unlock();
    struct Again {
      ~Again() {
        locks.Lock();
        for (const Arrival& arrival : locks.arrivals_) --arrival.memory->busy_;
      }
      Locks& locks;
    } const again{*this};
    work();
  }

 private:
  template <class Work>
  void Each(Work work) {
    const SyncedMemory* last = nullptr;
    for (const Arrival& arrival : arrivals_)
      if (std::exchange(last, arrival.memory) != arrival.memory) work(arrival.memory->mutex_);
  }
  void Lock() {
    Each([](std::mutex& mutex) { mutex.lock(); });
  }
  void Unlock() {
    Each([](std::mutex& mutex) { mutex.unlock(); });
  }

  std::span<Arrival> arrivals_;
};

void Call::Perform(std::span<Arrival> arrivals, const std::function<void()>& work) {
  Dying dying;  // before the locks: dies after them
  Locks locks(arrivals);
  const bool watched = Watched();
  for (Arrival& arrival : arrivals) {
    if (arrival.access != Access::kRead) arrival.memory->RequireMutable(arrival.bytes, Name(arrival.access));
    if (watched) Records::NoteBefore(arrival);
  }
  struct Settled {
    ~Settled() {
      for (const Arrival& arrival : arrivals) {
        arrival.memory->Settle(arrival, dying);
        HostGuard::Refresh(*arrival.memory, arrival.bytes);
      }
    }
    std::span<Arrival> arrivals;
    Dying& dying;
  } const settled{arrivals, dying};
  int asked = 0;
  while (!Prepared(arrivals, locks, asked, dying)) {
  }
  if (work) work();
  for (Arrival& arrival : arrivals) {
    arrival.memory->Commit(arrival, dying);
    if (!watched && arrival.memory->writers_ != nullptr) Records::NoteUnwatched(arrival);
  }
  if (!watched) return;
  for (const Arrival& arrival : arrivals) Records::Tell(arrival);
}

void Call::Await(Arrival& arrival, const Wait& wait, Locks& locks, Dying& dying) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Watched() ? Clock::now() : Clock::time_point{};
  locks.Without([&] {
    for (const auto& point : wait.awaited) HostWait(point.point);
  });
  if (begin != Clock::time_point{}) Records::TellWait(arrival, Clock::now() - begin);
  if (wait.access != Access::kRead) arrival.memory->ForgetReady();  // the words may name who is forgotten now
  wait.buffer->uses.Reached(wait.bytes, wait.awaited, wait.access, dying);
}

/// Whether all is prepared. Else the locks were let go meanwhile, and all must be looked at again. `asked` is
/// how often the handler was.
bool Call::Prepared(std::span<Arrival> arrivals, Locks& locks, int& asked, Dying& dying) {
  constexpr int kMostAsked = 1000;
  const Arrival* at = nullptr;
  try {
    // What is to be copied comes first: where that is refused, there are no zeros yet.
    for (const bool fetches : {true, false}) {
      for (Arrival& arrival : arrivals) {
        at = &arrival;
        if (fetches && arrival.access == Access::kOverwrite) continue;
        const SyncedMemory& memory = *arrival.memory;
        const auto wait = fetches ? memory.Fetch(arrival, dying) : memory.Prepare(arrival, dying);
        if (!wait) continue;
        Await(arrival, *wait, locks, dying);
        return false;
      }
    }
    return true;
  } catch (const OutOfMemory& error) {
    const Buffer& full = at->allocating != nullptr ? *at->allocating : at->memory->BufferOf(at->space);
    Device& device = *full.device;
    bool again = false;
    if (asked++ < kMostAsked)
      locks.Without([&] {
        again = AskForMemory(device, error.bytes());
        if (again && !error.beyond_limit()) TrimAsFarAsPossible(device);
      });
    if (!again) at->memory->RethrowNamed(&full);
    return false;
  } catch (const DeviceError&) {
    at->memory->RethrowNamed();
  } catch (const Refusal& refusal) {
    std::rethrow_exception(refusal.why);
  }
}

}  // namespace detail
}  // namespace ferry
