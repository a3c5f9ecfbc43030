// SPDX-License-Identifier: BSD-2-Clause
// Any text is a net, a solver or a NetError.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/nets/format/text.hpp"
#include "ferry/nets/error.hpp"
#include "ferry/nets/upgrade.hpp"
#include "tests/fuzz/rewrite.hpp"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  ferry::testing::SilenceLogs();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    ferry::SolverParameter solver;
    ferry::detail::ParseText(text, "solver", &solver);
    ferry::UpgradeSolverAsNeeded("solver", &solver);
  } catch (const ferry::NetError&) {  // NOLINT(bugprone-empty-catch): it may be a net
  }
  ferry::NetParameter net;
  try {
    ferry::detail::ParseText(text, "net", &net);
  } catch (const ferry::NetError&) {
    return 0;
  }
  ferry::testing::Rewrite(net);
  return 0;
}
