// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/seeing/by_range.hpp"
#include "core/seeing/held_bytes.hpp"
#include "core/seeing/spaces.hpp"
#include "ferry/ledger.hpp"

namespace ferry {

/// The entries, by what they have in common; and what must be known of each memory to count them.
class Ledger::Book : public Observer {
 public:
  explicit Book(Detail detail) : detail_(detail) {}

  using Observer::On;
  void On(const CopyRecord& copy) override;
  void On(const FillRecord& fill) override;
  void On(const AccessRecord& access) override;
  void On(const CallRecord& call) override;
  void On(const OutcomeRecord& outcome) override;
  void On(const WaitRecord& wait) override;
  void On(const SyncRecord& sync) override;
  void On(const LifeRecord& life) override;

  void CountPendingAsUnread();
  std::vector<LedgerEntry> Entries() const;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kMost = 4096, kKinds = 5;
  /// What entries call a memory.
  struct Name {
    std::string label;
    std::optional<Site> made{};  ///< of one without a label, if it was seen
    bool operator==(const Name& other) const noexcept;
  };
  /// What entries differ by. Sites are compared by their addresses, which may give one line several entries;
  /// they are joined when they are asked for.
  struct Key {
    LedgerKind kind;
    const Name* name;  ///< one of names_
    std::size_t from = detail::Spaces::kHost, to = detail::Spaces::kHost;
    std::optional<ferry::Write> written{};
    std::optional<Site> asked{};
    Access access = Access::kRead;
    Purpose purpose = Purpose::kAccess;
    bool pageable = false;
    bool operator==(const Key& other) const noexcept;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const noexcept;
    std::size_t operator()(const Name& name) const noexcept;
  };
  using Counted = std::pair<const Key, LedgerEntry>;
  /// Of a copy: from the site that had written the bytes to the one that asked for them.
  struct Trip {
    Site written, asked;
    const Device *from, *to;
    ByteRange range;
    unsigned returns;  ///< of both directions in turn, up to this one
  };
  /// Of a device, at the line that queued it.
  struct Work {
    Site site;
    ByteRange range;
    Clock::time_point at;
    detail::StreamId on;
  };
  /// A copy to the host, for an access there.
  struct Fetch {
    Site site;
    ByteRange range;
    detail::StreamId on;
  };
  /// What the host knows of a stream: all that was queued there until `until` is done. It knows that since
  /// `since`. The last Work was queued there at `queued`.
  struct Done {
    Clock::time_point until{}, since{}, queued{};
  };
  /// A copy to the host, where the ledger verifies: which entry has counted it, and as how many returns.
  struct Arrived {
    Key key;
    ByteRange range;
    unsigned returned;
  };
  /// What the host had when bytes were asked for mutable.
  struct Lent {
    Site by;
    ByteRange range;
    std::uint64_t sum;
    bool by_host;
    std::vector<const Device*> holders;  ///< the devices that had them then
  };
  /// Of a live memory.
  struct Memory {
    const Name* name = nullptr;              ///< as it was last
    std::optional<Site> made{};              ///< if that was seen
    detail::ByRange<Work> written{};         ///< by a device, when it was told last
    std::optional<Fetch> fetched{};          ///< the last one, unless the host has waited since
    detail::ByRange<Trip> trips{};           ///< of the last copies that a write was seen of
    std::array<Counted*, kKinds> counted{};  ///< the entry of each kind that has counted last, or null
    // Where the ledger verifies.
    detail::HeldBytes held{};
    detail::ByRange<Lent> lent{};      ///< by the last who asked for them mutable
    std::optional<Arrived> arrived{};  ///< the last copy, unless an access has been told since
  };

  static unsigned Returns(const CopyRecord& copy, detail::ByRange<Trip>& trips);
  static const Lent* LentFor(const Memory& memory, const std::optional<ferry::Write>& written,
                             ByteRange range) noexcept;
  static bool InVain(const CopyRecord& copy, const Memory& memory);
  static bool InVain(const AccessRecord& access, const Arrived& arrived, const Memory& memory);
  void Verify(const AccessRecord& access, Memory& memory);
  static void NoteEnd(const Device* device, Memory& memory);
  void NoteWork(Memory& memory, const Work& work);
  Done& DoneOf(detail::StreamId on);
  void NoteDone(detail::StreamId on, std::int64_t waited_ns);
  bool WasDone(const Work& work, std::int64_t before_ns) const;
  Key KeyOf(const CopyRecord& copy, const Name* name);
  Counted& EntryOf(const Key& key);
  LedgerEntry* Find(const Key& key);
  static LedgerEntry& Add(LedgerEntry& entry, std::uint64_t bytes, std::int64_t took_ns) noexcept;
  static void AddTo(LedgerEntry& sum, const LedgerEntry& entry) noexcept;
  /// Whether it is counted which copies are unread. Once copies are summed, it may be another entry that has
  /// counted one.
  bool Follows() const noexcept {
    return !ended_ && small_[static_cast<std::size_t>(LedgerKind::kCopy)].count == 0;
  }
  void SumSmallest(const Name* wanted);
  void ForgetNames(const Name* wanted = nullptr);
  /// One more, of a memory or of none.
  LedgerEntry& Count(Memory& memory, const Key& key, std::uint64_t bytes, std::int64_t took_ns);
  LedgerEntry& Count(const Key& key, std::uint64_t bytes, std::int64_t took_ns);
  Memory& MemoryOf(const SyncedMemory& memory);
  const Name* NameOf(const std::string& label, const std::optional<Site>& made = {});

  const Detail detail_;
  mutable std::mutex mutex_;
  std::unordered_map<Key, LedgerEntry, Hash> entries_;
  std::array<LedgerEntry, kKinds> small_{};  ///< of each kind, those that had the least when there were kMost
  bool ended_ = false;                       ///< by CountPendingAsUnread
  std::unordered_set<Name, Hash> names_;
  std::size_t most_names_ = kMost;  ///< before those that are not used are forgotten
  detail::Spaces spaces_;
  std::unordered_map<const SyncedMemory*, Memory> memories_;
  std::unordered_map<detail::StreamId, Done> done_;  ///< of at most kMost streams
};

namespace detail {

/// See Ledger.
std::vector<std::string> AdviceOn(const std::vector<LedgerEntry>& entries);
std::string TableOf(const std::vector<LedgerEntry>& entries, std::size_t most);
std::string JsonOf(const std::vector<LedgerEntry>& entries);

}  // namespace detail
}  // namespace ferry
