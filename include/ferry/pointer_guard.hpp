// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "ferry/detail/language.hpp"

namespace ferry {

enum class PointerGuard : std::uint8_t { kOff, kOn };

/// Whether host memory that is allocated from now on is guarded: a host pointer that was kept too long ends
/// the program with words. FERRY_GUARD=1 guards from the first memory on. Returns what was so before. Any
/// thread may call it.
///
/// Guarded bytes are out of reach while they are stale or on their way to the host, and may only be read
/// while a device holds them, too, page by page: where two parts share a page, the one that may do more
/// decides. A touch that breaks this says on stderr which memory and byte, what took the byte from the host
/// and at which line, and which access would have been right; then it goes the usual way of a SIGSEGV, by way
/// of the program's own handler if there is one. Set such a handler before the first guarded memory
/// and the first simulated device: one that is set later gets the signal instead of the report. Bytes that
/// were given back stay out of reach, as long as their addresses are not needed again.
///
/// On a simulated GPU with page_protection, the device's bytes are guarded, too: a kernel may touch what the
/// memory allowed when the kernel was queued. Bytes that are stale there, or not in use, are out of its
/// reach, and those that somebody else has, too, may only be read. Host code that touches device memory is
/// told the memory's name.
///
/// Guarded memory is pageable, so that its copies take longer, and starts at a page. Not guarded are the
/// memories of unified devices, of which the host is one, bytes that the program gives (said once in the
/// log), blocks of more than 32 GiB, and what goes beyond 8192 blocks or 64 GiB at once. The operating system
/// gets EFAULT for a pointer that is out of reach. The simulated GPU has no hand in guarded host bytes: its
/// options for pinned memory do not concern them, they begin as zeros, and a touch behind the end is seen
/// from the next page on. A process that is forked shares the guarded bytes of its parent, and what one of
/// the two writes there, the other has; memories that it makes itself are not guarded.
PointerGuard SetPointerGuard(PointerGuard guard);

}  // namespace ferry
