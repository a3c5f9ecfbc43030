// SPDX-License-Identifier: BSD-2-Clause
#include "core/memory/told_call.hpp"

#include <exception>

#include "core/memory/observers.hpp"

namespace ferry::detail {

void ToldCall::Note(std::span<const Request> requests) {
  operands_.reserve(requests.size());
  for (const auto& [memory, range, access] : requests)
    if (range.bytes != 0) operands_.push_back({memory, range, access});
  state_ = State::kWatched;
}
void ToldCall::Note(std::span<const CallRecord::Operand> operands) {
  operands_.assign(operands.begin(), operands.end());
  state_ = State::kWatched;
}

void ToldCall::Begin() noexcept {
  record_.operands = operands_;
  TellStart(record_);
  state_ = State::kStarted;
  exceptions_ = std::uncaught_exceptions();
  begin_ = Clock::now();
}

void ToldCall::End() noexcept {
  if (std::uncaught_exceptions() > exceptions_) return TellFailure(record_);
  record_.took_ns = std::chrono::nanoseconds(Clock::now() - begin_).count();
  Tell(record_);
}

}  // namespace ferry::detail
