// SPDX-License-Identifier: BSD-2-Clause
// What is said of a touch of host bytes that the guard forbids. In a signal's handler: nothing is allocated.
#include "core/memory/guard_table.hpp"
#include "core/memory/guard_words.hpp"

namespace ferry::detail {

bool HostGuard::Table::Block::Allows(const void* address, FaultAccess access) const noexcept {
  const auto at = static_cast<std::size_t>(static_cast<const std::byte*>(address) - begin);
  if (owner == nullptr || at >= bytes) return false;
  const Access now = pages[at / Pages::page()];
  if (access == FaultAccess::kUnknown) return false;
  return now == Access::kReadWrite || (now == Access::kRead && access == FaultAccess::kRead);
}

/// Lets go of the table before it waits for a memory: a call that has the memory may need the table to end.
bool HostGuard::Table::Report(const void* address, FaultAccess access) noexcept {
  FaultLine begin;
  begin << "[ferry] [error] FERRY_GUARD: host code " << HostGuard::Words::Verb(access) << " ";
  FaultLine line = begin;
  line << "guarded host memory; whose cannot be told while the guard is at work.";
  bool found = false, allowed = false;
  const bool told = TryInHandler([&] {
    if (!mutex_.try_lock()) return false;
    const std::lock_guard lock(mutex_, std::adopt_lock);
    const auto block = Find(address);
    if (!std::exchange(found, true))
      allowed = within_reach_ || (block != blocks_.end() && block->second.Allows(address, access));
    line = begin;
    if (block != blocks_.end())
      return allowed || Describe(line, block->second, static_cast<const std::byte*>(address), access);
    line << "guarded host memory that was given back long ago, or never allocated.";
    return true;
  });
  if (allowed) return true;
  if (found && !told) line << "what happened to it cannot be told while a call is under way.";
  line << "\n";
  return line.Write(), false;
}

bool HostGuard::Table::Describe(FaultLine& line, const Block& block, const std::byte* at,
                                FaultAccess access) noexcept {
  const auto byte = static_cast<std::size_t>(at - block.begin);
  HostGuard::Words::NameByte(line, at - block.begin,
                             block.owner != nullptr ? block.owner->label() : block.label, block.bytes);
  if (block.owner == nullptr && block.taken) {
    HostGuard::Words::NameSite(line, block.taken->by);
    line << block.taken->how << ". Call " << HostGuard::Words::RightAccess(Side::kCpu, access)
         << " again after that.";
  } else if (block.owner == nullptr) {
    line << "the memory has ended, and its pointers with it.";
  } else if (byte >= block.bytes) {
    line << "nothing is there.";
  } else {
    if (!block.owner->mutex_.try_lock()) return false;
    HostGuard::Words::Of(*block.owner, kHost, byte).Describe(line, Side::kCpu, access);
    block.owner->mutex_.unlock();
  }
  return true;
}

}  // namespace ferry::detail
