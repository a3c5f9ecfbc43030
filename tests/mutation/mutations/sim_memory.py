# SPDX-License-Identifier: BSD-2-Clause
"""The simulated GPU's memory, and what it says of stray accesses."""

MEMORY = "backends/sim/memory.cpp"
MACHINE = "backends/sim/machine.cpp"
STRAY = "backends/sim/stray_access.cpp"
FAULT = "core/device/fault.cpp"

MUTATIONS = [
    # Where blocks lie.
    (MEMORY, "block.begin + (block.span - RoundUp(block.bytes, alignment))", "block.begin",
     "a block ends before its pages do"),
    (MEMORY, "(block.span - RoundUp(block.bytes, alignment))", "(block.span - block.bytes)", "a block is not aligned"),
    (MACHINE, "options.align_to_256 ? kMost : ", "", "an option is ignored"),
    (MEMORY, "Take(guarded_, Taken(block))", "Take(guarded_, block.span)", "no page lies behind a block"),
    (MEMORY, "if (!IsPattern(pages_.Work(block.end()), ", "if (false && !IsPattern(pages_.Work(block.end()), ",
     "a write behind a block goes unnoticed"),
    (MEMORY, "return IsPattern(pages_.Work(block.begin), pages_.Work(block.address)) ?", "return true ?",
     "a write in front of a block goes unnoticed"),

    # The system's limit of mappings.
    (MEMORY, "host && host_guarded_ == kGuarded", "false", "each block of the host's takes two mappings"),
    (MEMORY, "if (!Pages::Open(made.begin, made.span, Pages::Access::kReadWrite))",
     "if (!Pages::Open(made.begin, made.span, Pages::Access::kReadWrite) && false)",
     "a block that could not be put within reach is handed out"),
    (MEMORY, "    --host_guarded_;\n", "", "guards that were given back are lost"),
    (MEMORY, "  host_guarded_ = 0;\n", "", "a new machine lacks the guards of the old one"),
    (MEMORY, "writes ? Pages::Access::kReadWrite : Pages::Access::kRead)",
     "writes ? Pages::Access::kReadWrite : Pages::Access::kRead) || true",
     "a kernel runs with its memory out of reach"),
    (MEMORY, "if (block.live && block.guarded && block.kind != MemoryKind::kDevice)", "if (false)",
     "memory of an old machine stays within reach"),

    # Stray accesses.
    (MACHINE, "  ReportStrayAccesses(*this);\n", "", "a stray access ends the process without a word"),
    (MEMORY, "return byte - before->end() < behind->address - byte ? before : behind;", "return before;",
     "an access in front of a block is taken for one far behind another"),
    (STRAY, "      machine.mutex.unlock();\n", "", "the report keeps the lock"),
    (FAULT, "  if (previous.sa_handler == SIG_IGN && sent) return;\n", "", "a signal that is ignored ends the process"),
    (FAULT, "  SendAgain(signal, info);\n", "  if (!sent) SendAgain(signal, info);\n", "a signal that was sent is lost"),
    (FAULT, "handles(ours) || set_since", "handles(ours)", "a handler that the program set later is displaced"),
    (FAULT, " && !handles(previous);", ";", "a test framework's handler that is set again displaces the report"),
    (FAULT, "ours.sa_flags |= SA_SIGINFO", "ours.sa_flags = SA_SIGINFO",
     "a handler runs with other flags than it was set with"),
]
