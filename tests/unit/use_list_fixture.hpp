// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "core/memory/runs.hpp"
#include "ferry/detail/use_list.hpp"
#include "synced_memory_device.hpp"

namespace ferry::detail {

using testing::Calls;
using testing::LogDevice;
using enum Access;

/// A list of uses, and three streams that may use the bytes.
struct UseFixture {
  LogDevice device;
  Stream main = Stream::Main(device), a{device}, b{device};
  UseList uses;
  Dying dying;
  UseFixture() { device.Take(); }

  /// Returns whether the access had to be noted.
  bool Add(Access access, const Stream& on, Bytes bytes = {}) {
    const bool covered = uses.Covers(bytes, access, on.id());
    if (!covered) uses.Prepare(bytes, access, on, dying);
    if (!covered || access == kRead) uses.Note(bytes, access, on, dying);
    uses.Settle(bytes, dying);
    return !covered;
  }
  /// With its exact point.
  void AddCopy(Access access, const Stream& on, Bytes bytes = {}) {
    uses.Prepare(bytes, access, on, dying);
    const auto serial = uses.Note(bytes, access, on, dying);
    uses.SetPoint(bytes, serial, Event(on));
    uses.Settle(bytes, dying);
  }
  void Forget(const Stream& lent) {
    const StreamId id = StreamNote(lent).id();
    if (uses.Has(id)) uses.Replace(id, StreamNote(Event(lent)));
  }
  auto BeforeHost(Access access, Bytes bytes = {}) { return uses.BeforeHost(bytes, access, dying); }
  /// Without the wait.
  void Reach(const std::vector<UseList::Awaited>& awaited, Access access, Bytes bytes = {}) {
    uses.Reached(bytes, awaited, access, dying);
  }
};

}  // namespace ferry::detail
