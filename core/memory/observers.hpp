// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>

#include "core/watched.hpp"
#include "ferry/observer.hpp"

/// Each observer is told, and the log at LogLevel::kTrace. Only called where somebody is Watched for.
namespace ferry::detail {

/// An observer has refused a copy. Its error is not to be taken for one of the device.
struct Refusal {
  std::exception_ptr why;
};

/// Throws std::logic_error in a call of an observer, where none may be attached.
void RequireNotTelling();
/// To observers that came after the first `told` ones. Returns how many have come so far. Throws Refusal.
std::uint64_t TellBefore(const CopyRecord& copy, std::uint64_t told);
void TellStart(const CopyRecord& copy) noexcept;
/// Returns the `arrivals` of those who were told.
std::uint64_t Tell(const CopyRecord& copy) noexcept;
void TellFailure(const CopyRecord& copy) noexcept;
/// Whether an access of this kind is told to anybody: see Told::kOfWork.
bool IsTold(Side side, Access access) noexcept;
/// Whether somebody is: see Told::kEachWrite.
bool IsEachWriteTold() noexcept;
void Tell(const AccessRecord& access) noexcept;
[[gnu::cold]] void Tell(const FillRecord& fill) noexcept;
/// To those of the first `arrivals` observers that are still there: while one is there, no use goes unseen.
void Tell(const OutcomeRecord& outcome, std::uint64_t arrivals) noexcept;
void Tell(const WaitRecord& wait) noexcept;
void Tell(const StreamWaitRecord& wait) noexcept;
void Tell(const LifeRecord& life) noexcept;
void TellStart(const CallRecord& call) noexcept;
void Tell(const CallRecord& call) noexcept;
void TellFailure(const CallRecord& call) noexcept;

/// What something takes on this thread, where somebody is watched for; else 0.
class Stopwatch {
 public:
  /// In nanoseconds, since it was made.
  std::int64_t Read() const noexcept {
    return begin_ == Clock::time_point{} ? 0 : std::chrono::nanoseconds(Clock::now() - begin_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Watched() ? Clock::now() : Clock::time_point{};
};

/// Of a copy that `queue` queues. `arrivals` are those of who was told that it is.
template <class Queue>
auto TellAround(CopyRecord& copy, std::uint64_t& arrivals, Queue queue) {
  TellStart(copy);
  try {
    const Stopwatch watch;
    auto point = queue();
    copy.took_ns = watch.Read();
    arrivals = Tell(copy);
    return point;
  } catch (...) {
    TellFailure(copy);
    throw;
  }
}

/// Attaches the observers that environment variables ask for. Throws std::bad_alloc.
void WatchForEnvironment();
/// One more of them, or null. Only a program that has kernels has it: kernel_place.cpp defines it.
[[gnu::weak]] std::shared_ptr<Observer> ObserverOfKernels();

}  // namespace ferry::detail
