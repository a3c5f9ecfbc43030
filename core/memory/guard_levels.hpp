// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>

#include "core/memory/guard.hpp"
#include "ferry/detail/pages.hpp"

namespace ferry::detail {

/// How far a space may reach what is in a range of a locked memory: nowhere further than `most`, and
/// everywhere as far as `least`. On the host that depends on who still uses the bytes, too; kernels are in
/// the order of their streams.
class HostGuard::Levels {
 public:
  using Access = Pages::Access;

  Levels(const SyncedMemory& memory, unsigned space, Bytes bytes) noexcept : space_(space) {
    const bool shared = memory.SharersOf(space) != Only(space);  // to the other one they are its own
    if (shared || bytes.first >= memory.size_) {
      Note(shared ? Access::kReadWrite : Access::kNone);
      return;
    }
    if (bytes.last >= memory.size_ + Pages::page()) least_ = Access::kNone;  // pages that are not in use
    bytes.last = std::min(bytes.last, memory.size_);
    memory.holders_.Each(bytes, [&](Bytes run, Spaces holders) { return Note(memory, run, holders), true; });
  }
  Access least() const noexcept { return least_; }
  Access most() const noexcept { return most_; }

 private:
  void Note(const SyncedMemory& memory, Bytes run, Spaces holders) noexcept {
    if ((holders & Only(space_)) == 0) return Note(Access::kNone);
    const bool alone = holders == Only(space_);
    if (space_ != kHost) return Note(alone ? Access::kReadWrite : Access::kRead);
    const UseList& uses = memory.cpu_.uses;
    if (alone && uses.AnyQuiet(run, ferry::Access::kReadWrite))
      return Note(uses.Quiet(run, ferry::Access::kReadWrite) ? Access::kReadWrite : Access::kNone,
                  Access::kReadWrite);
    Note(uses.Quiet(run, ferry::Access::kRead) ? Access::kRead : Access::kNone,
         uses.AnyQuiet(run, ferry::Access::kRead) ? Access::kRead : Access::kNone);
  }
  void Note(Access all) noexcept { Note(all, all); }
  void Note(Access least, Access most) noexcept {
    least_ = std::min(least_, least);
    most_ = std::max(most_, most);
  }

  unsigned space_;
  Access least_ = Access::kReadWrite, most_ = Access::kNone;
};

}  // namespace ferry::detail
