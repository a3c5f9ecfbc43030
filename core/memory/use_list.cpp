// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/detail/use_list.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "ferry/error.hpp"

namespace ferry::detail {
namespace {

/// Runs `wait`, or waits for the whole stream. False where the stream is, or may be, under graph capture.
template <class Wait>
bool Ended(const Use& use, Wait wait) noexcept {
  bool captured = false;  // that stream, or the one that should wait
  try {
    wait();
    return true;
  } catch (const StreamCaptureError&) {
    captured = true;
  } catch (...) {
  }
  try {
    use.stream().Synchronize();
    return true;
  } catch (const StreamCaptureError&) {
    return false;
  } catch (...) {
    return !captured;  // the driver is gone, and its work with it, unless it has answered a moment ago
  }
}

}  // namespace

Use* UseList::Add(Access access, const Stream& on, EndedUses& ended) {
  const bool reads = access == Access::kRead;
  if (reads) {
    for (Use& use : uses_) {
      if (!(use.stream() == on) || (use.writes && use.point)) continue;
      use.point.reset();
      use.serial = ++serial_;
      return nullptr;
    }
  }
  Await(access, on);
  if (!reads) EndWhere([](const Use&) { return true; }, ended);  // which keeps their room
  uses_.push_back({StreamNote(on), !reads, std::nullopt, ++serial_});
  return &uses_.back();
}

/// Those with no point are asked for together: one event each is all that it costs then.
void UseList::Await(Access access, const Stream& on) const {
  std::array<StreamHandle, 8> streams;
  std::size_t count = 0;
  const auto order = [&] {
    if (count != 0) on.device().Order({streams.data(), std::exchange(count, 0)}, on.handle());
  };
  for (const Use& use : uses_) {
    if ((access == Access::kRead && !use.writes) || use.stream() == on) continue;
    if (use.point) {
      use.point->StreamWait(on);
      continue;
    }
    if (count == streams.size()) order();
    streams[count++] = use.stream().handle();
  }
  order();
}

template <class Condition>
void UseList::EndWhere(Condition over, EndedUses& ended) {
  const auto holds = [&](const Use& use) { return over(use) && use.on.owns(); };
  ended.reserve(ended.size() + static_cast<std::size_t>(std::count_if(uses_.begin(), uses_.end(), holds)));
  for (const Use& use : uses_)
    if (holds(use)) ended.push_back(use);
  std::erase_if(uses_, over);
}

std::vector<UseList::Awaited> UseList::BeforeHost(Access access) const {
  std::vector<Awaited> awaited;
  for (const Use& use : uses_)
    if (use.writes || access != Access::kRead) awaited.push_back({use.serial, use.Point()});
  return awaited;
}

void UseList::Reached(const std::vector<Awaited>& awaited, Access access, EndedUses& ended) {
  const auto reached = [&](const Use& use) {
    return std::any_of(awaited.begin(), awaited.end(),
                       [&](const Awaited& a) { return a.serial == use.serial; });
  };
  if (access != Access::kRead) {
    EndWhere(reached, ended);
    return;
  }
  EndWhere([&](const Use& use) { return use.writes && use.point && reached(use); }, ended);
  for (Use& use : uses_)
    if (reached(use)) use.writes = false;  // its stream may still get reads, with no word to us
}

const Use* UseList::LastWrite() const noexcept {
  const auto it = std::find_if(uses_.begin(), uses_.end(), [](const Use& use) { return use.writes; });
  return it == uses_.end() ? nullptr : &*it;
}

void UseList::EndBefore(const Stream& on) {
  Await(Access::kReadWrite, on);
  uses_.clear();
}

void UseList::EndBeforeHost() {
  for (const Use& use : uses_) use.Point().HostWait();
  uses_.clear();
}

bool UseList::TryEndBefore(const Stream& on) noexcept {
  std::erase_if(uses_, [&](const Use& use) {
    return use.stream() == on || Ended(use, [&] { use.Point().StreamWait(on); });
  });
  return uses_.empty();
}

bool UseList::TryEndBeforeHost() noexcept {
  std::erase_if(uses_, [&](const Use& use) { return Ended(use, [&] { use.Point().HostWait(); }); });
  return uses_.empty();
}

std::vector<StreamHandle> UseList::Streams() const {
  std::vector<StreamHandle> streams;
  streams.reserve(uses_.size());
  for (const Use& use : uses_) streams.push_back(use.stream().handle());
  return streams;
}

}  // namespace ferry::detail
