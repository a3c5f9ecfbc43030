// SPDX-License-Identifier: BSD-2-Clause
#include "core/blob/reshaping.hpp"

#include <algorithm>

namespace ferry::detail {

Reshaping::Reshaping(Storage& data, Storage& diff, std::size_t before, std::size_t after, Device& device,
                     Room room)
    : changes_{Change{data, data != nullptr ? data->size() : 0, before},
               Change{diff, diff != nullptr ? diff->size() : 0, before}},
      after_(after) {
  for (Change& change : changes_) {
    const Storage& old = change.storage;
    const bool spare = room == Room::kExact && old.use_count() == 1 && old->capacity() > after;
    if (old == nullptr || old->capacity() < after || spare)
      change.fresh = std::make_shared<SyncedMemory>(after, device);
  }
}

Reshaping::~Reshaping() {
  if (committed_) return;
  for (const Change& change : changes_)
    if (change.fresh == nullptr) change.storage->Resize(change.size);
}

void* Reshaping::Write(Part part, Access access) {
  Change& change = changes_[static_cast<std::size_t>(part)];
  SyncedMemory& memory = change.target();
  // Growth can be undone if the access fails, and a cut can not: the larger size first, the new one at last.
  memory.Resize(std::max(memory.size(), after_));
  const bool others_bytes = !change.sole() && memory.size() > after_;
  const bool overwrite = (access == Access::kOverwrite && !others_bytes) || change.fresh != nullptr;
  void* const ptr = overwrite ? memory.overwrite_cpu_data() : memory.mutable_cpu_data();
  change.keep = after_;
  return ptr;
}

void Reshaping::Copy(Part part, const SyncedMemory& from) {
  Change& change = changes_[static_cast<std::size_t>(part)];
  SyncedMemory& to = change.target();
  if (after_ == 0 || &from == &to) return;
  to.Assign(from, after_, change.sole() ? SyncedMemory::Rest::kDropped : SyncedMemory::Rest::kKept);
  change.keep = after_;
}

void Reshaping::Commit() noexcept {
  committed_ = true;
  for (Change& change : changes_) {
    if (change.fresh != nullptr) {
      change.storage = std::move(change.fresh);
    } else if (change.sole()) {
      change.storage->Resize(change.keep);  // what lies beyond is nobody's, and must not come back
      change.storage->Resize(after_);
    } else if (change.storage->size() < after_) {
      change.storage->Resize(after_);
    }
  }
}

}  // namespace ferry::detail
