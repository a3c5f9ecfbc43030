// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace ferry::sim {

class Machine;

/// From now on a SIGSEGV at an address of the machine's memory says on stderr whose memory that is, and then
/// takes the way that it would have taken: to the handler that the program had, or to the process' end.
///
/// Called for each new machine, as test frameworks put handlers away and set them again. It leaves alone a
/// handler that the program has set since. The machine must never go.
void ReportStrayAccesses(Machine& machine) noexcept;

}  // namespace ferry::sim
