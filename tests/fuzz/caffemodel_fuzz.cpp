// SPDX-License-Identifier: BSD-2-Clause
// Any bytes are a net, or an error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/nets/format/binary.hpp"
#include "ferry/error.hpp"
#include "ferry/nets/error.hpp"
#include "tests/fuzz/rewrite.hpp"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  ferry::testing::SilenceLogs();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ferry::NetParameter net;
  try {
    ferry::detail::ParseBinary({reinterpret_cast<const char*>(data), size}, "net", &net);
  } catch (const ferry::FormatError&) {
    return 0;
  } catch (const ferry::NetError&) {
    return 0;
  }
  ferry::testing::Rewrite(net);
  return 0;
}
