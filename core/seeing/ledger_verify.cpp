// SPDX-License-Identifier: BSD-2-Clause
// How a ledger that verifies knows that somebody asked for bytes mutable and wrote none.
#include <algorithm>
#include <cstring>
#include <utility>

#include "core/seeing/ledger.hpp"
#include "ferry/stream.hpp"
#include "ferry/synced_memory.hpp"

namespace ferry {
namespace {

/// FNV-1a, of 8 bytes at a time.
std::uint64_t SumOf(const void* from, std::size_t bytes) noexcept {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  std::uint64_t sum = 0xcbf29ce484222325;
  const auto* at = static_cast<const unsigned char*>(from);
  for (; bytes >= 8; at += 8, bytes -= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    sum = (sum ^ word) * kPrime;
    sum ^= sum >> 29;
  }
  for (; bytes != 0; ++at, --bytes) sum = (sum ^ *at) * kPrime;
  return sum;
}

}  // namespace

/// Where the bytes are copied because they were lent: how they were. Else null.
const Ledger::Book::Lent* Ledger::Book::LentFor(const Memory& memory,
                                                const std::optional<ferry::Write>& written,
                                                ByteRange range) noexcept {
  const Lent* const lent = memory.lent.Of(range);
  const bool of_it = lent != nullptr && written && written->access == Access::kReadWrite &&
                     detail::Same(lent->by, written->site);
  return of_it ? lent : nullptr;
}

/// Whether a device gets what it had when the host asked for it mutable: the host has not changed it.
bool Ledger::Book::InVain(const CopyRecord& copy, const Memory& memory) {
  const Lent* const lent = LentFor(memory, copy.written, copy.range);
  return copy.source != nullptr && lent != nullptr && lent->by_host &&
         std::find(lent->holders.begin(), lent->holders.end(), copy.to) != lent->holders.end() &&
         SumOf(copy.source, copy.range.bytes) == lent->sum;
}

/// The same of the host, which sees bytes only once they have come; who overwrites may not wait for them.
bool Ledger::Book::InVain(const AccessRecord& access, const Arrived& arrived, const Memory& memory) {
  const Lent* const lent = LentFor(memory, arrived.key.written, arrived.range);
  if (access.side != Side::kCpu || access.access == Access::kOverwrite || access.bytes_on_host == nullptr ||
      lent == nullptr || lent->by_host || !detail::Within(arrived.range, access.range))
    return false;
  const auto* const bytes = static_cast<const std::byte*>(access.bytes_on_host);
  return SumOf(bytes + (arrived.range.first - access.range.first), arrived.range.bytes) == lent->sum;
}

void Ledger::Book::Verify(const AccessRecord& access, Memory& memory) {
  if (access.in_place) {  // reading alone, or at another place, who asked before it would have saved nothing
    const auto meets = [&](const auto& note) { return detail::Meet(note.range, access.range); };
    const auto is = [&](const Site& site) { return detail::Same(site, access.site); };
    memory.lent.RemoveIf([&](const Lent& lent) { return meets(lent) && !is(lent.by); });
    memory.trips.RemoveIf(
        [&](const Trip& trip) { return meets(trip) && !is(trip.written) && !is(trip.asked); });
    return;
  }
  const auto arrived = std::exchange(memory.arrived, std::nullopt);
  if (arrived && InVain(access, *arrived, memory)) {
    LedgerEntry* const entry = Find(arrived->key);
    if (entry != nullptr && entry->unwritten < entry->count) ++entry->unwritten;
    if (entry != nullptr && entry->returned >= arrived->returned) entry->returned -= arrived->returned;
    memory.trips.Remove(arrived->range);
  }
  if (access.access != Access::kRead) {
    const bool host_alone = access.before == Head::HEAD_AT_CPU || access.before == Head::UNINITIALIZED;
    const bool has_bytes = access.bytes_on_host != nullptr;
    if (access.side == Side::kCpu && has_bytes && host_alone) memory.held.Remove(access.range);
    memory.lent.Remove(access.range);
    if (has_bytes && access.access == Access::kReadWrite)
      memory.lent.Put({access.site, access.range, SumOf(access.bytes_on_host, access.range.bytes),
                       access.side == Side::kCpu, memory.held.HoldersOf(access.range)});
    memory.held.Remove(access.range);
  }
  if (access.on != nullptr && access.purpose == Purpose::kAccess)
    memory.held.Add(&access.on->device(), access.range);
}

}  // namespace ferry
