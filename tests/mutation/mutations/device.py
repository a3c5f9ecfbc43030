# SPDX-License-Identifier: BSD-2-Clause
"""The device's adaptors."""

POOL = "core/device/pooled_device.cpp"
CHECKED = "core/device/checked_device.cpp"

MUTATIONS = [
    # The pool.
    (POOL, "        next().StreamWait(on, *block->idle);\n", "", "a block is handed out with work on it"),
    (POOL, "        Keep(kind, size, *block);\n        throw;", "        throw;",
     "a block whose wait fails is lost"),
    (POOL, "      next().Release(*block->idle);\n", "", "a block that is handed out leaks its event"),
    (POOL, "      block.idle = next().Record(on);", "      (void)on;", "a freed block has no point to wait for"),
    (POOL, "    Trim();\n  }\n  try", "  }\n  try", "memory runs out while blocks lie free"),
    (POOL, "      next().StreamWait(main, *block.idle);\n", "", "a block is given back with work on it"),
    (POOL, "        next().HostWait(*block.idle);\n", "",
     "a block that cannot be ordered is given back with work on it"),

    # No host memory.
    (CHECKED, "    unmake();\n", "    (void)unmake;\n", "what cannot be noted is lost"),
    (POOL, "  } catch (const std::bad_alloc&) {\n    GiveBack(kind, size, block);\n",
     "  } catch (const std::bad_alloc&) {\n", "a block that cannot be kept is lost"),
]
