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

bool HostGuard::Table::Report(const void* address, FaultAccess access) noexcept {
  const auto* const at = static_cast<const std::byte*>(address);
  FaultLine line;
  line << "[ferry] [error] FERRY_GUARD: host code " << HostGuard::Words::Verb(access) << " ";
  if (!TryLockInHandler(mutex_)) {
    line << "guarded host memory; whose cannot be told while the guard is at work.\n";
    return line.Write(), false;
  }
  const auto block = Find(address);
  const bool allowed = within_reach_ || (block != blocks_.end() && block->second.Allows(address, access));
  if (block == blocks_.end())
    line << "guarded host memory that was given back long ago, or never allocated.";
  else
    Describe(line, block->second, at, access);
  mutex_.unlock();
  if (allowed) return true;
  line << "\n";
  return line.Write(), false;
}

void HostGuard::Table::Describe(FaultLine& line, const Block& block, const std::byte* at,
                                FaultAccess access) noexcept {
  const auto byte = static_cast<std::size_t>(at - block.begin);
  HostGuard::Words::NameByte(line, at - block.begin,
                             block.owner != nullptr ? block.owner->label() : block.label, block.bytes);
  if (block.released) {
    HostGuard::Words::NameSite(line, *block.released);
    line << " has released its host bytes.";
  } else if (block.owner == nullptr) {
    line << "the memory has ended, or was given other bytes.";
  } else if (byte >= block.bytes) {
    line << "nothing is there.";
  } else if (TryLockInHandler(block.owner->mutex_)) {
    HostGuard::Words::Of(*block.owner, kHost, byte).Describe(line, Side::kCpu, access);
    block.owner->mutex_.unlock();
  } else {
    line << "what happened to it cannot be told while a call is under way.";
  }
}

}  // namespace ferry::detail
