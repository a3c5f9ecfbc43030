// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/detail/use_list.hpp"

#include <algorithm>

namespace ferry::detail {
namespace {

/// Runs `wait`; if that fails, the host waits for the whole stream; if that fails too, the driver is gone,
/// and its work with it.
template <class Wait>
void EndUse(const Use& use, Wait wait) noexcept {
  try {
    wait();
  } catch (...) {
    try {
      use.stream().Synchronize();
    } catch (...) {
    }
  }
}

}  // namespace

Use* UseList::Add(Access access, const Stream& on) {
  const bool reads = access == Access::kRead;
  if (reads) {
    for (Use& use : uses_) {
      if (!(use.stream() == on) || (use.writes && use.point)) continue;
      use.point.reset();
      use.serial = ++serial_;
      return nullptr;
    }
  }
  for (const Use& use : uses_)
    if ((use.writes || !reads) && !(use.stream() == on)) use.Point().StreamWait(on);
  if (!reads) uses_.clear();  // which keeps their room
  uses_.push_back({StreamNote(on), !reads, std::nullopt, ++serial_});
  return &uses_.back();
}

std::vector<UseList::Awaited> UseList::BeforeHost(Access access) const {
  std::vector<Awaited> awaited;
  for (const Use& use : uses_)
    if (use.writes || access != Access::kRead) awaited.push_back({use.serial, use.Point()});
  return awaited;
}

void UseList::Reached(const std::vector<Awaited>& awaited, Access access) {
  const auto reached = [&](const Use& use) {
    return std::any_of(awaited.begin(), awaited.end(),
                       [&](const Awaited& a) { return a.serial == use.serial; });
  };
  if (access != Access::kRead) {
    std::erase_if(uses_, reached);
    return;
  }
  std::erase_if(uses_, [&](const Use& use) { return use.writes && use.point && reached(use); });
  for (Use& use : uses_)
    if (reached(use)) use.writes = false;  // its stream may still get reads, with no word to us
}

const Use* UseList::LastWrite() const noexcept {
  const auto it = std::find_if(uses_.begin(), uses_.end(), [](const Use& use) { return use.writes; });
  return it == uses_.end() ? nullptr : &*it;
}

void UseList::EndBefore(const Stream& on) noexcept {
  for (const Use& use : uses_)
    if (!(use.stream() == on)) EndUse(use, [&] { use.Point().StreamWait(on); });
  uses_.clear();
}

void UseList::EndBeforeHost() noexcept {
  for (const Use& use : uses_) EndUse(use, [&] { use.Point().HostWait(); });
  uses_.clear();
}

}  // namespace ferry::detail
