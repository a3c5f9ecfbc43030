# SPDX-License-Identifier: BSD-2-Clause
"""The simulated GPU's memory, and what it says of stray accesses."""

MEMORY = "backends/sim/memory.cpp"
MACHINE = "backends/sim/machine.cpp"
STRAY = "backends/sim/stray_access.cpp"

MUTATIONS = [
    # Where blocks lie.
    (MEMORY, "block.begin + (block.span - RoundUp(block.bytes, alignment))", "block.begin",
     "a block ends before its pages do"),
    (MEMORY, "(block.span - RoundUp(block.bytes, alignment))", "(block.span - block.bytes)", "a block is not aligned"),
    (MACHINE, "options.align_to_256 ? kMost : ", "", "an option is ignored"),
    (MEMORY, "Take(guarded_, Taken(block))", "Take(guarded_, block.span)", "no page lies behind a block"),
    (MEMORY, "if (!IsPattern(Work(block.end()), ", "if (false && !IsPattern(Work(block.end()), ",
     "a write behind a block goes unnoticed"),
    (MEMORY, "return IsPattern(Work(block.begin), Work(block.address)) ?", "return true ?",
     "a write in front of a block goes unnoticed"),

    # The system's limit of mappings.
    (MEMORY, "host && host_guarded_ == kGuarded", "false", "each block of the host's takes two mappings"),
    (MEMORY, "if (!Protect(made.begin, made.span, PROT_READ | PROT_WRITE)) return",
     "if (!Protect(made.begin, made.span, PROT_READ | PROT_WRITE) && false) return",
     "a block that could not be put within reach is handed out"),
    (MEMORY, "    --host_guarded_;\n", "", "guards that were given back are lost"),
    (MEMORY, "  host_guarded_ = 0;\n", "", "a new machine lacks the guards of the old one"),
    (MEMORY, "Protect(block.begin, block.span, writes ? PROT_READ | PROT_WRITE : PROT_READ)",
     "(Protect(block.begin, block.span, writes ? PROT_READ | PROT_WRITE : PROT_READ), true)",
     "a kernel runs with its memory out of reach"),
    (MEMORY, "if (block.live && block.guarded && block.kind != MemoryKind::kDevice)", "if (false)",
     "memory of an old machine stays within reach"),

    # Stray accesses.
    (MACHINE, "  ReportStrayAccesses(*this);\n", "", "a stray access ends the process without a word"),
    (MEMORY, "return byte - before->end() < behind->address - byte ? before : behind;", "return before;",
     "an access in front of a block is taken for one far behind another"),
    (STRAY, "    watched->mutex.unlock();\n", "", "the report keeps the lock"),
    (STRAY, "  if (previous.sa_handler == SIG_IGN && sent) return;\n", "", "a signal that is ignored ends the process"),
    (STRAY, "  if (sent) (void)raise(signal);\n", "", "a signal that was sent is lost"),
    (STRAY, "handles(ours) || set_since", "handles(ours)", "a handler that the program set later is displaced"),
    (STRAY, " && !handles(previous);", ";", "a test framework's handler that is set again displaces the report"),
    (STRAY, "ours.sa_flags |= SA_SIGINFO", "ours.sa_flags = SA_SIGINFO",
     "a handler runs with other flags than it was set with"),
]
