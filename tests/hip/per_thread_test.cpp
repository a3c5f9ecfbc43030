// SPDX-License-Identifier: BSD-2-Clause
// ferry/hip.hpp in a program that is compiled for default streams per thread.
#define HIP_API_PER_THREAD_DEFAULT_STREAM
#include <catch2/catch_test_macros.hpp>

#include "ferry/backend.hpp"
#include "ferry/forwarding_device.hpp"
#include "ferry/hip.hpp"

namespace ferry {
namespace {

/// Says that it is HIP's, so that no GPU is needed.
class HipByName : public ForwardingDevice {
 public:
  HipByName() : ForwardingDevice(MakeDevice("sim")) { properties_.backend = "hip"; }
  const DeviceProperties& properties() const noexcept override { return properties_; }

 private:
  DeviceProperties properties_;
};

TEST_CASE(
    "The default stream of a thread is no other stream's, and the main stream keeps a name of its own") {
  HipByName device;
  const Stream mine = hip::Borrow(device, nullptr);
  CHECK(hip::Native(mine) == hipStreamPerThread);
  CHECK(mine != Stream::Main(device));
#ifdef hipStreamLegacy
  CHECK(hip::Native(Stream::Main(device)) == hipStreamLegacy);
  CHECK(hip::Borrow(device, hipStreamLegacy) == Stream::Main(device));
#endif
}

}  // namespace
}  // namespace ferry
