// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "core/watched.hpp"
#include "ferry/detail/take.hpp"
#include "ferry/observer.hpp"

namespace ferry::detail {

/// Tells observers of a call, where somebody watches when it is made. The call ends with the object, or fails
/// where an exception ends that. Of one thread.
class ToldCall {
 public:
  using Kind = CallRecord::Kind;

  /// Before the operands are taken: Requests or CallRecord::Operands. `on` is the stream of the work, which
  /// must outlive this; null for the CPU. Throws std::bad_alloc.
  template <class Operands>
  ToldCall(Kind kind, const Stream* on, const Operands& operands, const Site& site)
      : record_{.kind = kind, .on = on, .operands = {}, .site = site, .waits = false, .took_ns = 0} {
    if (Watched()) [[unlikely]]
      Note(operands);
  }
  ~ToldCall() {
    if (state_ == State::kStarted) [[unlikely]]
      End();
  }
  ToldCall(const ToldCall&) = delete;
  ToldCall& operator=(const ToldCall&) = delete;

  /// The host will wait for the call's result.
  void NoteWait() noexcept { record_.waits = true; }
  /// All operands are taken.
  void Start() noexcept {
    if (state_ == State::kWatched) [[unlikely]]
      Begin();
  }

 private:
  using Clock = std::chrono::steady_clock;
  enum class State : std::uint8_t { kUnwatched, kWatched, kStarted };
  void Note(std::span<const Request> requests);
  void Note(std::span<const CallRecord::Operand> operands);
  void Begin() noexcept;
  void End() noexcept;

  CallRecord record_;
  std::vector<CallRecord::Operand> operands_;
  State state_ = State::kUnwatched;
  Clock::time_point begin_;  ///< if it has started
  int exceptions_;           ///< then
};

}  // namespace ferry::detail
