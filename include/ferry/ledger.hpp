// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ferry/observer.hpp"

namespace ferry {

/// What a LedgerEntry counts.
enum class LedgerKind : std::uint8_t { kCopy, kFill, kAllocation, kEviction, kWait };

/// All that a pair of sites did in one way to memories of one label, or made by one line and without a label.
struct LedgerEntry {
  LedgerKind kind;    ///< of what
  std::string label;  ///< of the memories; empty if nobody named them
  /// Of memories without a label, the line that made them, if that was seen.
  std::optional<Site> made;
  std::string from;  ///< of copies: "the host", "cuda:0"; else empty
  /// Of copies, the same as `from` where they are within one space. Of fills, allocations and evictions,
  /// their space. Of waits, the device that the program waited for, or else the host, which waits.
  std::string to;
  std::optional<Write> written;  ///< the write that made it necessary, if it was seen
  std::optional<Site> asked;     ///< the call that asked for it; nothing where a memory's end waited
  Access access;                 ///< of that
  Purpose purpose;               ///< of copies and fills, that of the access; else kAccess
  bool pageable;                 ///< copies of bytes that are the caller's, and not pinned
  std::uint64_t count = 0;       ///< how often
  std::uint64_t bytes = 0;       ///< of all together; of waits, those of the accesses that waited
  /// Of the copies, those that read-only access would have saved: where the copy goes the bytes were when
  /// `written` asked for them mutable elsewhere, and it brings back the same. These are not counted:
  /// - where a device asked for them, copies except those to the host for an access there;
  /// - copies of another range than was asked for;
  /// - copies of bytes that another line has since asked for, in place and for writing, or that an Assign
  ///   without a stream has read on the host;
  /// - copies of bytes that one of these has brought.
  ///
  /// Copies after these may differ, too, as bytes are then in other places. Counted by
  /// Ledger::Detail::kVerify.
  std::uint64_t unwritten = 0;
  /// Of the copies, those that undid the one before. One line had written the bytes, another one got them
  /// elsewhere to write them, and the first one now gets the same bytes back. A memory whose bytes go back
  /// only once has none.
  std::uint64_t returned = 0;
  /// Of copies by a Prefetch or a Release, those made in vain: nobody read their bytes (OutcomeRecord).
  std::uint64_t unread = 0;
  std::uint64_t pending = 0;  ///< of the same, those that nobody has read yet, and that still can be read
  /// Of the waits for a copy to the host, those that a Prefetch right after the write would have made
  /// needless: the host had already waited for the write's stream, and then did something else for at least
  /// as long as this wait took. Wrong where the bytes were written in place since, or where another thread
  /// queued the write while the host waited.
  std::uint64_t in_time = 0;
  /// What the host spent on all together, in nanoseconds: on waits, for evictions the wait for who used
  /// the block; else on the calls that allocate, copy and zero, or that queue it.
  std::int64_t took_ns = 0;
};

/// While it lives, it counts what moves, and for whom. A record takes some 80 to 100 ns on an idle Zen 3, and
/// more where the clock and locks take longer. It follows each live memory, as a whole or in parts: of more
/// than 32, the first 31 and the last one. It has at most 4096 entries. Where there would be more, half of
/// each kind, those with the least bytes, become one without label and sites, and `unread` and `pending` are
/// counted no further. Any thread may call.
class Ledger {
 public:
  /// What it looks at.
  enum class Detail : std::uint8_t {
    kRecords,  ///< what observers are told
    kVerify,   ///< the host's bytes, too, by a sum of 64 bits, to know whether the host, or a device, that
               ///< asked for them mutable has written; accesses for writing have no fast path meanwhile
  };

  /// Throws std::bad_alloc, and std::logic_error in a call of an observer.
  explicit Ledger(Detail detail = Detail::kRecords);
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  /// At the end of a program, after its last access: what is pending counts as unread, and `unread` and
  /// `pending` are counted no further. FERRY_LEDGER does so before it prints; what is read after that, in the
  /// destructors of objects that were there before the first access, comes too late.
  void CountPendingAsUnread();
  /// Those with the most bytes first, and after them those that took longest.
  std::vector<LedgerEntry> Entries() const;
  /// Sentences on what the records prove to be needless, and how to save it.
  std::vector<std::string> Advice() const;
  static constexpr std::size_t kAllRows = ~std::size_t{0};  ///< for Table
  /// The entries as a table, at most `rows` of each kind, and the advice.
  std::string Table(std::size_t rows = 20) const;
  /// {"entries": […], "advice": […]}. An entry has the members of LedgerEntry; an optional one without a
  /// value is left out, and so is "pageable" where it is false. Times are in nanoseconds, and a site is an
  /// object of "file", "line" and "function". In place of `access` and `purpose` stands how the two lines
  /// asked for the bytes: "written_as" is "mutable" or "overwrite"; "asked_as" is "read", "mutable",
  /// "overwrite", "prefetch" or "release", and is left out where the line asked for none, as of allocations
  /// and evictions.
  std::string Json() const;
  /// Json to a file that ends in .json, else the whole Table. A file that stdout or stderr goes to keeps what
  /// is there. Throws Error, which names the file, where it can't be written.
  void Write(const std::string& file) const;

 private:
  class Book;
  std::shared_ptr<Book> book_;
  Watch watch_;
};

}  // namespace ferry
