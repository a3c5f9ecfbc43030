// SPDX-License-Identifier: BSD-2-Clause
#include "core/blob/reshaping.hpp"

#include <algorithm>
#include <utility>

#include "core/memory/guard.hpp"
#include "ferry/detail/dependents.hpp"
#include "ferry/detail/take.hpp"

namespace ferry::detail {

std::string LabelOf(const std::string& name, BlobPart part) {
  return part == BlobPart::kData || name.empty() ? name : name + ".diff";
}

Reshaping::Reshaping(Storage data, Storage diff, std::size_t before, std::size_t after, Device& device,
                     const std::string& name, Room room, const Site& site)
    : changes_{Change{data, 0, 0}, Change{diff, 0, 0}}, site_(site), after_(after) {
  for (const BlobPart part : {BlobPart::kData, BlobPart::kDiff}) {
    Change& change = changes_[static_cast<std::size_t>(part)];
    const MemoryPtr& old = change.storage.memory;
    const std::size_t first = change.storage.first;
    const bool lacks = old == nullptr || old->capacity() < first || old->capacity() - first < after;
    const bool spare = room == Room::kExact && !lacks && change.sole() && old->capacity() > after;
    if (lacks || spare) {
      change.fresh = std::make_shared<SyncedMemory>(after, device, LabelOf(name, part), site);
      continue;
    }
    change.size = old->size();
    // Whoever has the memory may have made it smaller than the blob.
    change.keep = std::min({change.size, first + before, first + after});
    const std::size_t kept = change.sole() ? change.keep : change.size;
    if (kept < first + after) old->PrepareGrowth(kept);
  }
}

Reshaping::~Reshaping() {
  if (committed_) return;
  for (const Change& change : changes_)
    if (change.fresh == nullptr) change.storage.memory->Resize(change.size);
}

/// Growth can be undone if what follows fails, and a cut can not: the larger size first, the new one at last.
Reshaping::Change& Reshaping::Grown(BlobPart part) {
  Change& change = changes_[static_cast<std::size_t>(part)];
  SyncedMemory& memory = change.target();
  memory.Resize(std::max(memory.size(), change.first() + after_));
  return change;
}

void Reshaping::Write(std::span<const BlobPart> parts, std::span<void*> ptrs, const Site& site) {
  std::array<Request, 2> requests{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Change& change = Grown(parts[i]);
    requests[i] = {&change.target(), {change.first(), after_}, Access::kOverwrite};
  }
  Take(std::span(requests).first(parts.size()), nullptr, ptrs, site);
  for (const BlobPart part : parts) {
    Change& change = changes_[static_cast<std::size_t>(part)];
    change.keep = change.first() + after_;
  }
}

void Reshaping::Copy(BlobPart part, const SyncedMemory& from, std::size_t from_first, const Stream* on,
                     const Site& site) {
  if (after_ == 0) return;
  Change& change = Grown(part);
  change.target().Assign({change.first(), after_}, from, from_first, on, site);
  change.keep = change.first() + after_;
}

void Reshaping::Commit() noexcept {
  committed_ = true;
  for (Change& change : changes_) {
    SyncedMemory& memory = change.target();
    if (change.fresh != nullptr) {
      if (const MemoryPtr& old = change.storage.memory; old.use_count() == 1)
        HostGuard::NoteReplaced(*old, HostGuard::Instead::kOfBlob, site_);
      change.storage.memory = std::move(change.fresh);
      change.storage.first = 0;
    } else if (change.sole()) {
      memory.Resize(change.keep);  // what lies beyond is nobody's, and must not come back
      memory.Resize(change.first() + after_);
    } else {
      memory.Resize(std::max(memory.size(), change.first() + after_));
    }
  }
}

void Reshaping::SetLabels(const MemoryPtr& data, const MemoryPtr& diff, const std::string& name) {
  auto of_data = std::make_unique<Label>(Label{LabelOf(name, BlobPart::kData)});
  auto of_diff = std::make_unique<Label>(Label{LabelOf(name, BlobPart::kDiff)});
  if (data != nullptr) data->SetLabel(std::move(of_data));
  if (diff != nullptr) diff->SetLabel(std::move(of_diff));
}

}  // namespace ferry::detail
