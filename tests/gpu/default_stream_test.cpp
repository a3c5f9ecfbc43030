// SPDX-License-Identifier: BSD-2-Clause
// Needs no GPU.
#include "tests/gpu/default_stream.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdint>

#include "ferry/backend.hpp"
#include "ferry/forwarding_device.hpp"

namespace ferry {
namespace {

/// Says that it is the vendor's.
class VendorByName : public ForwardingDevice {
 public:
  VendorByName() : ForwardingDevice(MakeDevice("sim")) {
    properties_.backend = FERRY_VENDOR;
    properties_.main_stream = StreamHandle{reinterpret_cast<std::uintptr_t>(vendor::kMainHandle)};
  }
  const DeviceProperties& properties() const noexcept override { return properties_; }

 private:
  DeviceProperties properties_;
};

TEST_CASE(
    "Each file of a program has the default stream that it is compiled for, whichever is linked first") {
  VendorByName device;
  CHECK(legacy::Borrow(device, nullptr) == Stream::Main(device));
  CHECK(per_thread::Borrow(device, nullptr) != Stream::Main(device));
  CHECK(per_thread::Native(per_thread::Borrow(device, nullptr)) == vendor::kPerThread);
  CHECK(legacy::Native(per_thread::Borrow(device, nullptr)) == vendor::kPerThread);
}

TEST_CASE(
    "The main stream keeps a name of its own in a file that is compiled for default streams per thread") {
  VendorByName device;
  CHECK(legacy::Native(Stream::Main(device)) == vendor::kMainHandle);
  CHECK(per_thread::Native(Stream::Main(device)) == vendor::kMainByName);
  if (vendor::kMainByName != nullptr) {
    CHECK(legacy::Borrow(device, vendor::kMainByName) == Stream::Main(device));
    CHECK(per_thread::Borrow(device, vendor::kMainByName) == Stream::Main(device));
  }
}

}  // namespace
}  // namespace ferry
