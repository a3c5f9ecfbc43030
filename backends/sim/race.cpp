// SPDX-License-Identifier: BSD-2-Clause
#include "race.hpp"

#include <algorithm>

namespace ferry::sim {

void Clock::Join(const std::shared_ptr<Timeline>& of, std::uint64_t until) {
  if (!Entry{of, until}.matters()) return;
  for (Entry& entry : entries_)
    if (entry.of == of) return void(entry.until = std::max(entry.until, until));
  entries_.push_back({of, until});
}

void Clock::Join(const Clock& other) {
  std::erase_if(entries_, [](const Entry& entry) { return !entry.matters(); });
  for (const Entry& entry : other.entries_) Join(entry.of, entry.until);
}

bool Clock::Covers(const Timeline& of, std::uint64_t number) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& entry) { return entry.of.get() == &of && entry.until >= number; });
}

void Clock::ShowToHost() const {
  for (const Entry& entry : entries_) entry.of->seen = std::max(entry.of->seen, entry.until);
}

template <class Which>
void RaceCheck::Erase(Accesses& accesses, Which which) {
  std::erase_if(accesses, [&](const Access& access) {
    if (!which(access)) return false;
    --access.of->remembered;
    return true;
  });
}

void RaceCheck::Reset(int devices, bool on) {
  on_ = on;
  newest_ = 0;
  seen_.assign(static_cast<std::size_t>(devices), 0);
  accesses_.clear();
}

bool RaceCheck::SeenByHost(const Access& access) const {
  return access.number <= std::max(access.of->seen, seen_[static_cast<std::size_t>(access.of->device)]);
}

std::vector<std::string> RaceCheck::Note(const Call& call, const std::vector<Use>& uses,
                                         const std::shared_ptr<Timeline>& of, const Clock& clock) {
  std::vector<std::string> races;
  if (!on_ || uses.empty()) return races;
  of->newest = ++newest_;
  for (const Use& use : uses) {
    Accesses& accesses = accesses_[use.block];
    Erase(accesses, [&](const Access& old) {
      if (SeenByHost(old)) return true;
      const bool conflicts =
          old.first < use.last && use.first < old.last && (old.writes || use.writes) && old.of != of;
      if (conflicts && !clock.Covers(*old.of, old.number)) {
        races.push_back("a race with " + old.call.text() + " for bytes " +
                        std::to_string(std::max(old.first, use.first)) + " to " +
                        std::to_string(std::min(old.last, use.last) - 1) + " of those made by " +
                        use.block->made.text() + ": nothing orders the two streams");
        return true;  // said once
      }
      // Whoever is unordered with the old access, and conflicts with it, is and does so with this one.
      const bool covered = use.first <= old.first && old.last <= use.last && (use.writes || !old.writes);
      return covered && (old.of == of || clock.Covers(*old.of, old.number));
    });
    if (accesses.size() == kMost) {
      --accesses.front().of->remembered;
      accesses.erase(accesses.begin());
    }
    accesses.push_back({use.first, use.last, use.writes, of, newest_, call});
    ++of->remembered;
  }
  return races;
}

void RaceCheck::Forget(const Block& block) {
  const auto it = accesses_.find(&block);
  if (it == accesses_.end()) return;
  Erase(it->second, [](const Access&) { return true; });
  accesses_.erase(it);
}

}  // namespace ferry::sim
