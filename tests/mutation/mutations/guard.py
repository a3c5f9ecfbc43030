# SPDX-License-Identifier: BSD-2-Clause
"""Host pointers that were kept too long."""

GUARD = "core/memory/guard.cpp"
REPORT = "core/memory/guard_report.cpp"
FAULT = "core/device/fault.cpp"
ARRIVE = "core/memory/arrival.cpp"
MEMORY = "core/memory/synced_memory.cpp"

MUTATIONS = [
    (GUARD, "if ((holders & Only(kHost)) == 0) return", "if (false) return", "stale bytes are within reach"),
    (GUARD, "const bool alone = holders == Only(kHost);", "const bool alone = true;", "bytes that a device has, too, may be written"),
    (GUARD, "Note(uses.Quiet(run, ferry::Access::kRead) ? Access::kRead : Access::kNone,", "Note(Access::kRead,",
     "what is on its way in one part is within reach in the next"),
    (GUARD, "uses.AnyQuiet(run, ferry::Access::kRead) ? Access::kRead : Access::kNone);", "Access::kRead);",
     "bytes on their way to the host are within reach"),
    (GUARD, "if (memory.SharersOf(kHost) != Only(kHost))", "if (false)", "a unified device cannot use the host's bytes"),
    (GUARD, "bytes.last = std::min(bytes.last, memory.size_);", "", "what lies behind the bytes in use is within reach"),
    (GUARD, "  Apply(block, 0, block.pages.size(), Access::kNone);\n", "", "bytes that were given back are within reach"),
    (GUARD, "if (open_ || live_ == kMost) return nullptr;", "if (open_) return nullptr;",
     "guarded blocks use up the system's mappings"),
    (GUARD, "std::byte* begin = Room(span + Pages::page());", "std::byte* begin = Room(span);",
     "no page lies behind a block"),
    (GUARD, "  if (on && !watched.exchange(true)) ++detail::watchers;", "", "nobody notes who wrote"),
    (GUARD, "begin == nullptr && !gone_.empty()", "false", "blocks that were given back use up the addresses"),
    (GUARD, "if (bytes > pages_.size() / 2) return nullptr;", "", "a size beyond all bounds is rounded up to nothing"),
    (ARRIVE, "    detail::HostGuard::Refresh(*this, bytes);  // before anybody gets the pointer\n", "",
     "an observer that looks at the bytes finds them out of reach"),
    (REPORT, "now == Access::kRead && access == FaultAccess::kRead", "now == Access::kRead", "a forbidden write is made again for ever"),
    (REPORT, "    block.owner->mutex_.unlock();\n", "", "the report keeps the memory's lock"),
    (REPORT, "  mutex_.unlock();\n", "", "the report keeps the guard's lock"),
    (FAULT, "(machine->gregs[REG_ERR] & kWrites) != 0", "(machine->gregs[REG_ERR] & kWrites) == 0", "a write is taken for a read"),
    (ARRIVE, "src.pageable() && !src.uses.Quiet(bytes, Access::kRead)", "false",
     "a copy reads pageable bytes before they are written"),
    (ARRIVE, "  if (unified) detail::HostGuard::Refresh(*this, {});\n", "",
     "a unified device finds the host's bytes out of reach"),
    (MEMORY, "    detail::HostGuard::Lose(*this, cpu_.ptr);\n", "", "a report asks a memory that is gone"),
]
