// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <string_view>

#include "tools/report/trace.hpp"

namespace ferry::report {

/// One HTML page that needs nothing else. `file` is the trace's name.
std::string PageOf(const Trace& trace, std::string_view file);

/// What page.js draws, as JSON that may stand within <script>.
std::string DataOf(const Trace& trace, std::string_view file);

/// Of the copies of one space, in microseconds.
struct Overlap {
  double copies = 0;         ///< how long they took, all together
  double hidden = 0;         ///< while a kernel of the same space was queued or running
  std::size_t left_out = 0;  ///< accesses by pointers, and kernels, that have no time by the copies' clock
};
Overlap OverlapOf(const Space& space);

/// What was live when most was.
struct Peak {
  double at = 0, bytes = 0;
  std::map<std::uint32_t, double> labels;  ///< bytes of each
};
Peak PeakOf(const Space& space);

}  // namespace ferry::report
