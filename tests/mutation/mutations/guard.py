# SPDX-License-Identifier: BSD-2-Clause
"""Host pointers that were kept too long."""

GUARD = "core/memory/guard.cpp"
KERNELS = "core/memory/kernel_guard.cpp"
PAGES = "core/device/pages.cpp"
LEVELS = "core/memory/guard_levels.hpp"
QUEUE = "backends/sim/queue.cpp"
WORDS = "core/memory/guard_words.cpp"
REPORT = "core/memory/guard_report.cpp"
FAULT = "core/device/fault.cpp"
ARRIVE = "core/memory/arrival.cpp"
MEMORY = "core/memory/synced_memory.cpp"

MUTATIONS = [
    ("core/memory/guard.cpp", "  if (getpid() != process_) return nullptr;", "", "a forked process wipes what its parent has"),
    ("core/memory/guard_words.cpp", "label.substr(0, kMost)", "label", "a long label leaves no room for the right access"),
    (LEVELS, "if ((holders & Only(space_)) == 0) return", "if (false) return", "stale bytes are within reach"),
    (LEVELS, "const bool alone = holders == Only(space_);", "const bool alone = true;", "bytes that another space has, too, may be written"),
    (LEVELS, "alone ? Access::kReadWrite : Access::kRead);", "Access::kReadWrite);", "a kernel may write what the host has, too"),
    (LEVELS, "if (bytes.last >= memory.size_ + Pages::page()) least_ = Access::kNone;", "", "pages that are not in use may be touched"),
    (LEVELS, "Note(uses.Quiet(run, ferry::Access::kRead) ? Access::kRead : Access::kNone,", "Note(Access::kRead,",
     "what is on its way in one part is within reach in the next"),
    (LEVELS, "uses.AnyQuiet(run, ferry::Access::kRead) ? Access::kRead : Access::kNone);", "Access::kRead);",
     "bytes on their way to the host are within reach"),
    ("core/memory/guard.cpp", "On() && memory.unified_ &&", "false &&", "what a GPU comes to share with the host device is unguarded without a word"),
    ("core/memory/buffer.cpp", "AnyBuffer([](const Buffer& one) { return one.kind == MemoryKind::kDevice; })", "false", "what the host device comes to share with a GPU is unguarded without a word"),
    (LEVELS, "const bool shared = memory.SharersOf(space) != Only(space);", "const bool shared = false;", "a unified device cannot use the host's bytes"),
    (LEVELS, "shared || bytes.first >= memory.size_", "shared", "what lies behind the bytes in use is within reach"),
    (GUARD, "  Apply(block, 0, block.pages.size(), Access::kNone);\n", "", "bytes that were given back are within reach"),
    (PAGES, "  if (munlock(work, bytes) != 0) return;", "  return;", "locked pages keep the memory of what is gone"),
    (PAGES, "  (void)mlock2(work, bytes, MLOCK_ONFAULT);\n", "", "a program that locks all it has loses the lock of what it reuses"),
    (GUARD, "if (open_ || live_ == kMost) return nullptr;", "if (open_) return nullptr;",
     "guarded blocks use up the system's mappings"),
    (GUARD, "std::byte* begin = Room(span + Pages::page());", "std::byte* begin = Room(span);",
     "no page lies behind a block"),
    (GUARD, "  if (on && !watched.exchange(true)) ++detail::watchers;", "", "nobody notes who wrote"),
    (GUARD, "begin == nullptr && !gone_.empty()", "false", "blocks that were given back use up the addresses"),
    (GUARD, "if (bytes > pages_.size() / 2) return nullptr;", "", "a size beyond all bounds is rounded up to nothing"),
    (ARRIVE, "    detail::HostGuard::Refresh(*this, bytes);  // before anybody gets the pointer\n", "",
     "an observer that looks at the bytes finds them out of reach"),
    (REPORT, "block.owner == nullptr && block.taken", "false", "no line is named of what a memory does not have any more"),
    ("core/blob/reshaping.cpp", "old.use_count() == 1)\n        HostGuard", "old != nullptr)\n        HostGuard", "a blob that departed from others is said to have taken their bytes"),
    ("core/memory/adopt.cpp", "if (&buffer == &cpu_) detail::HostGuard::NoteReplaced", "if (false) detail::HostGuard::NoteReplaced", "bytes that make room for the program's are said to have ended"),
    (REPORT, "now == Access::kRead && access == FaultAccess::kRead", "now == Access::kRead", "a forbidden write is made again for ever"),
    (REPORT, "    block.owner->mutex_.unlock();\n", "", "the report keeps the memory's lock"),
    (REPORT, "if (!mutex_.try_lock()) return false;\n    const std::lock_guard lock(mutex_, std::adopt_lock);", "if (!mutex_.try_lock()) return false;", "the report keeps the guard's lock"),
    (REPORT, "if (!block.owner->mutex_.try_lock()) return false;", "if (!TryLockInHandler(block.owner->mutex_)) return false;",
     "a report keeps a call from its end that it waits for"),
    ("core/device/fault.cpp", "  SendAgain(signal, info);\n", "  if (sent) SendAgain(signal, info);\n", "a touch that was reported goes through if the bytes have come meanwhile"),
    (FAULT, "(machine->gregs[REG_ERR] & kWrites) != 0", "(machine->gregs[REG_ERR] & kWrites) == 0", "a write is taken for a read"),
    (ARRIVE, "detail::PageableFor(src, on.device()) && !src.uses.Quiet(bytes, Access::kRead)", "false",
     "a copy reads pageable bytes before they are written"),
    ("core/memory/arrival.hpp", "!SameBackend(*source.device, copier)", "false",
     "a copy reads what another backend has allocated before it is written"),
    ("core/memory/guard.cpp", "    NoteUnguarded(memory, true);\n    Refresh", "    Refresh", "a guard ends unsaid where a unified device comes"),
    ("core/memory/guard_words.cpp", "    words.alone_ = std::has_single_bit(others);\n", "", "of two devices one alone has the bytes"),
    ("core/memory/guard.cpp", "    RefreshPages(memory, {});\n", "",
     "a unified device finds the host's bytes out of reach"),
    (MEMORY, "    if (cpu_.guarded) detail::HostGuard::Lose(*this, cpu_.ptr);\n", "", "a report asks a memory that is gone"),

    # Kernels of the simulated GPU.
    (KERNELS, "begin_ <= at && at < begin_ + bytes_ &&", "", "a byte behind a block is one of the block's"),
    (KERNELS, "|| access != FaultAccess::kRead);", ");", "a write that the guard forbids is called the launch's fault"),
    (KERNELS, "if (!HostGuard::On() || buffer.kind", "if (buffer.kind", "who is not guarded pays for the guard"),
    (KERNELS, "  table.blocks.erase(static_cast<const std::byte*>(ptr));\n", "", "a kernel asks a memory that is gone"),
    (KERNELS, "while (&memory.BufferOf(space) != block.buffer) ++space;", "", "of two devices the first one counts"),
    (KERNELS, "levels.least() != levels.most() && to - from > 1", "false", "the page that may do most speaks for all"),
    (KERNELS, "const Bytes bytes{from * page - std::min(from * page, before), to * page - before};",
     "const Bytes bytes{from * page, to * page};", "blocks begin with a page"),
    (KERNELS, "  if (memory.size_ < block.bytes)\n", "  if (false)\n", "nothing is said of bytes that are not in use"),
    (QUEUE, "      in_reach = detail::Pages::Open(begin, bytes, allowed) && in_reach;\n", "      (void)allowed;\n", "a kernel may touch all"),
    ("backends/sim/sim.cpp", "if (m.options.page_protection) op.guards = std::move(guards);", "", "a queued kernel is not guarded"),
    ("backends/sim/sim.cpp", "if (m.options.page_protection) op.guards", "op.guards", "a guard closes pages that nobody opens again"),
    ("backends/sim/stray_access.cpp", "      if (!InKernel()) detail::KernelGuard::NameForHost(line, address);\n", "",
     "the host is not told whose device memory it touched"),
    (WORDS, "  if (byte >= memory.size_) {", "  if (false) {", "bytes that are not in use are said to be nobody's"),
]
