// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <utility>

#include "ferry/stream.hpp"
#include "vendor.hpp"

/// The vendor's header in two files of one program: one compiled as it is, one for default streams per
/// thread.
namespace ferry {

using VendorStream = decltype(vendor::Native(std::declval<const Stream&>()));

namespace legacy {
Stream Borrow(Device& device, VendorStream stream);
VendorStream Native(const Stream& stream);
}  // namespace legacy

namespace per_thread {
Stream Borrow(Device& device, VendorStream stream);
VendorStream Native(const Stream& stream);
}  // namespace per_thread

}  // namespace ferry
