# SPDX-License-Identifier: BSD-2-Clause
"""What observers are told, and what they make of it."""

GUARD = "core/seeing/transfer_guard.cpp"
LEDGER = "core/seeing/ledger.cpp"
OBSERVERS = "core/memory/observers.cpp"
OVERLAP = "core/seeing/overlap.cpp"
RECORDS = "core/memory/records.cpp"
CLOCK = "core/seeing/device_times.cpp"
TIMES = "core/seeing/trace_times.cpp"
TOLD = "core/memory/told_call.cpp"
TRACE = "core/seeing/trace.cpp"

MUTATIONS = [
    (RECORDS, "if (arrival.in_place || ", "if (", "observers are told of operands that were in place"),
    (RECORDS, "if (!arrival.written) arrival.written = written;", "", "an access does not say who made its bytes stale"),
    (RECORDS, ".pageable = (from == nullptr || to == nullptr) && host.adopted()", ".pageable = false", "given bytes count as pinned"),
    (RECORDS, "if (arrival.access != Access::kRead) NoteWriter(arrival);", "NoteWriter(arrival);", "who reads has written"),
    (RECORDS, ".evicted = !begins && site != nullptr", ".evicted = false", "no block is ever evicted"),
    (OBSERVERS, "    while (calls.count != 0) Detach(calls.leaving[--calls.count]);\n", "",
     "an observer that throws is told again"),
    ("core/memory/writers.hpp", "    writes_.Isolate(bytes);\n", "", "a write of a part is one of the whole"),
    (GUARD, "if (innermost == guard_) Apply", "Apply", "an outer guard speaks, too"),
    (GUARD, "~Innermost() { innermost = outer_; }", "~Innermost() = default;", "a guard goes on after its end"),
    (OVERLAP, "    counted_to = last;\n", "", "two kernels hide a copy twice"),
    (OVERLAP, "  BeginAgain(*access.on);\n", "", "a wait for a copy is a kernel that hides it"),
    (OVERLAP, "    if (kernel.begin >= copy.end) break;\n", "    break;\n", "nothing is ever hidden"),
    ("core/seeing/ranges.cpp", "OnFailure(const CopyRecord&) override { End(); }", "OnFailure(const CopyRecord&) override {}",
     "the range of a copy that failed never ends"),
    (LEDGER, "  entry.took_ns += copy.took_ns;\n", "", "a ledger's copies take no time"),
    (LEDGER, "  entry.took_ns += access.zeroing_ns;\n", "", "a ledger's fills take no time"),
    (LEDGER, "  entry.took_ns += life.took_ns;\n", "", "a ledger's allocations take no time"),
    (LEDGER, "if (access.zeroed == 0) return;", "if (access.action != Action::kZero) return;", "zeros beside a copy are not counted"),
    (LEDGER, "    memory.lent = {0, 0};\n", "", "a ledger compares with bytes from before another write"),
    (LEDGER, "if (entries_.size() == kMost || key.label == kNoLabel) {", "if (false) {", "a ledger grows for ever"),
    (LEDGER, "labels_.size() == kMost ? kNoLabel", "false ? kNoLabel", "a ledger keeps all labels"),
    (LEDGER, "memory.lenders.Has(copy.to, copy.range) &&", "true &&", "a copy to who has never had the bytes is needless"),
    (LEDGER, "    memory.lenders.Remove(life.device);\n", "", "a copy of what was given back is needless"),
    (LEDGER, "detail::Same(wait.written->site, memory.written->site)", "true", "a Prefetch before the last write would do"),
    ("core/seeing/held_bytes.hpp", " && part.first + part.bytes <= whole.first + whole.bytes;", ";", "who has a part has all"),
    (LEDGER, "goes_on ? trip->from : copy.from", "copy.from", "a copy by way of the host is two trips"),
    (LEDGER, "return returns && !goes_on;", "return returns;", "one line at three places goes back and forth"),
    (LEDGER, "detail::Same(written, trip->asked) &&", "true &&", "who only reads writes in turn"),
    (LEDGER, "&& detail::Same(asked, trip->written);\n  trip", ";\n  trip", "any way back is a ping-pong"),
    (LEDGER, "trip->range.first == copy.range.first && trip->range.bytes == copy.range.bytes", "true", "two parts are one"),
    (TRACE, "label = std::move(block->label);", "label = life.memory->label();",
     "a block ends under another label than it had"),
    ("core/memory/in_place.cpp", "  if (writers_ != nullptr) detail::Records::NoteUse(*this, bytes, here);\n", "",
     "what was prefetched and used in place counts as unread"),
    (RECORDS, "one.to == &here && one.bytes.first < bytes.last", "one.to == &here && one.bytes.last <= bytes.last",
     "who uses a part of what was prefetched does not count"),
    ("core/memory/arrival.cpp", "if (record && record->purpose == Purpose::kPrefetch && !dst.adopted())", "if (false)", "no Prefetch is ever in vain"),
    ("core/memory/arrival.hpp", "only_of == 0 ? Purpose::kPrefetch : Purpose::kRelease", "Purpose::kPrefetch", "a Release is a Prefetch"),
    ("core/memory/synced_memory.cpp", "    if (detail::Watched()) detail::Records::NoteLoss(*this, {});\n", "", "a Prefetch that nobody used is forgotten"),

    # Calls, and what fails.
    (TOLD, "    if (range.bytes != 0) operands_", "    operands_", "an operand without bytes is told"),
    (TOLD, "  record_.operands = operands_;\n", "", "a call is told without its operands"),
    (TOLD, "  if (std::uncaught_exceptions() > exceptions_) return TellFailure(record_);\n", "", "a call that failed is told as over"),
    (TOLD, "  TellStart(record_);\n", "", "no call starts"),
    ("core/memory/told_call.hpp", "if (state_ == State::kWatched) [[unlikely]]", "if (false)", "no call is told"),
    ("core/memory/observers.hpp", "    TellFailure(copy);\n", "", "a copy that failed never ends"),
    (RECORDS, "                          .first = buffer.ptr,\n", "                          .first = nullptr,\n", "a block has no address"),
    ("core/memory/assign.cpp", "on == nullptr && !detail::Watched()", "on == nullptr", "a copy of bytes in place is not told"),
    ("core/memory/assign.cpp", "  target.in_place = InPlace(Access::kOverwrite, queue, to) != nullptr;\n", "", "a copy of bytes in place is told as an access"),
    ("core/memory/assign.cpp", "  ToldCall told(ToldCall::Kind::kCopy, queue, operands, site);\n",
     "  ToldCall told(ToldCall::Kind::kCopy, nullptr, operands, site);\n", "a copy within a device is the host's"),

    # Times of devices.
    (TIMES, "  if (on.device().properties().kernels_at_once) return;\n", "", "the host's exact times are said twice"),
    (TIMES, "if (const Turn turn(*this); turn) copies_begun_.erase(std::this_thread::get_id());", "", "a copy that failed begins the next one"),
    (TIMES, "      if (which == Which::kOver && !work.over()) break;\n", "", "who sees a memory end waits for kernels under its lock"),
    (TIMES, "if (track.measured.size() > kMostMeasured) track.measured.pop_front();", "", "what nobody waits for piles up"),
    (TIMES, "if (track.lane.space == space) std::erase_if(track.measured, ends);", ";", "events outlive their device"),
    (CLOCK, "return Period{at_ - since - length, at_ - since};", "return Period{at_ - since, at_ - since + length};", "work ends where it began"),
    (CLOCK, "const std::chrono::nanoseconds since(Elapsed(work.end, event_));", "const std::chrono::nanoseconds since(0);", "work ended when it was looked at"),
    (TRACE, "  EndMeasuring(copies_begun_, *copy.on, text);\n", "", "copies have the host's times alone"),
    ("tools/report/trace.cpp", "kind == Kind::kCopy && clock == ClockOf::kHost && args", "kind == Kind::kCopy && args", "a table counts copies twice"),
    (TRACE, "  if (!file_.ours() || ended_.exchange(true)) return;\n", "  if (ended_.exchange(true)) return;\n", "a forked process ends its parent's trace"),
    (TRACE, "  if (events.ended_ || !events.file_.ours()) return;\n", "  if (events.ended_) return;\n", "a forked process writes into its parent's trace"),
    (CLOCK, "      if (asked > until) return best;\n", "", "who looks at a busy device looks for ever"),
    (TIMES, "return one.work.may_end();", "return true;", "the end of a memory takes the work of others"),
    (TRACE, "wait.side == Side::kCpu && wait.access == Access::kRead && !work.writes", "wait.access == Access::kRead && !work.writes",
     "a wait for the caller's bytes ends nothing"),
    (TRACE, "call.kind == CallRecord::Kind::kKernel ? \"kernel\" : \"call\"", "\"kernel\"", "a copy within a device is a kernel"),
    ("core/seeing/spaces.hpp", "space.index == own.index && space.backend == own.backend", "space.backend == own.backend",
     "devices of one backend are one"),
    ("core/seeing/ledger.cpp", "if (host_alone) memory.held.Remove(access.range);", "", "a device keeps what a Resize took"),
    ("core/seeing/ledger.cpp", "if (copy.to == nullptr) memory.fetched = copy.site;", "", "no wait is for a copy"),
    ("core/seeing/ledger.cpp", " &&\n                     detail::Same(*memory.fetched, wait.site)", "", "a Prefetch that was made is wanted"),
    (OBSERVERS, "told++ < noted.count && ", "", "who came after a copy is told that nobody used it"),
    (OBSERVERS, " && noted.departures == observers().departures", "", "what was not watched all the time is told to be unused"),
    (TIMES, "if (!anchor || !anchor->IsOf(work.end.device()))", "if (!anchor)", "of two devices of one name the first one counts"),
]
