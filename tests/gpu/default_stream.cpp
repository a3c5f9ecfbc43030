// SPDX-License-Identifier: BSD-2-Clause
// Compiled twice: FERRY_COMPILED is legacy or per_thread.
#include "tests/gpu/default_stream.hpp"

namespace ferry {

Stream FERRY_COMPILED::Borrow(Device& device, VendorStream stream) { return vendor::Borrow(device, stream); }
VendorStream FERRY_COMPILED::Native(const Stream& stream) { return vendor::Native(stream); }

}  // namespace ferry
