// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace ferry::sim {

class Machine;

/// From now on a SIGSEGV at an address of the machine's memory says on stderr whose memory that is, as
/// detail::ReportFaults says. Called for each new machine. The machine must never go.
void ReportStrayAccesses(Machine& machine) noexcept;

}  // namespace ferry::sim
