// SPDX-License-Identifier: BSD-2-Clause
// The adaptors over a simulated GPU whose calls fail, each in its turn, and whose memory is short.
#include <memory>

#include "backends/sim/sim_backend.hpp"
#include "ferry/backend.hpp"
#include "ferry/error.hpp"
#include "ferry/pooled_device.hpp"
#include "ferry/sim.hpp"
#include "tests/contract/world.hpp"

using namespace ferry;
using namespace ferry::contract;
using enum MemoryKind;
using enum CopyKind;

namespace {

/// Host memory may go when no work uses it. The one fault that there is may hit the first try.
struct Quiet {
  const Stream& stream;
  ~Quiet() {
    try {
      stream.Synchronize();
    } catch (const DeviceError&) {
      stream.Synchronize();
    }
  }
};

/// Blocks that come and go on streams that come and go, with their work still queued.
void UseAndGiveBack(Device& device, int value) {
  const Stream stream(device), other(device);
  const Block seen(kPinnedHost, kBytes, stream), seen_too(kPinnedHost, kBytes, other);
  const Quiet quiet{stream}, quiet_too{other};
  {
    const Block block(kDevice, kBytes, stream);
    Fill(stream, block, value);
    Copy(stream, kDeviceToHost, seen, block);
  }
  {
    const Block block(kDevice, kBytes, other);
    Fill(other, block, value + 1);
    Copy(other, kDeviceToHost, seen_too, block);
  }
  stream.Synchronize();
  Event(other).HostWait();
  CHECK(Holds(seen, value));
  CHECK(Holds(seen_too, value + 1));
}

std::unique_ptr<Device> MakePooled() { return std::make_unique<PooledDevice>(sim::kBackend.make(0)); }
std::unique_ptr<Device> MakeWhole() { return MakeDevice("sim"); }

}  // namespace

TEST_CASE("A call that fails costs nothing but itself: nothing leaks, no order is lost") {
  const auto make = GENERATE(MakePooled, MakeWhole);
  const bool late = GENERATE(false, true);
  long failures = 0;
  for (long fail_at = 1, calls = fail_at; fail_at <= calls; ++fail_at) {
    sim::Reset({.seed = static_cast<std::uint64_t>(fail_at), .fail_at = fail_at, .fail_late = late});
    INFO("call " << fail_at << (late ? ", late" : ""));
    try {
      const auto device = make();
      for (int round = 0; round < 4; ++round) try {
          UseAndGiveBack(*device, 10 * round);
        } catch (const std::exception&) {  // DeviceError or OutOfMemory
          ++failures;
        }
    } catch (const DeviceError&) {
      ++failures;  // no device
    }
    sim::Drain();
    calls = sim::Inspect().calls;
    CHECK(SimFaults() == "");
  }
  CHECK(failures > 20);
}

TEST_CASE("A full device fetches back what its pool keeps, though work still uses it") {
  constexpr std::size_t kRoom = 1 << 20;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    sim::Reset({.seed = seed, .memory = kRoom});
    {
      const auto device = MakePooled();
      const Stream stream(*device);
      for (const std::size_t bytes : {kRoom / 4, kRoom / 2}) {
        const Block block(kDevice, bytes, stream);
        Fill(stream, block, 1);
      }
      const Block whole(kDevice, kRoom, stream);
      CHECK_THROWS_AS(Block(kDevice, 1, stream), OutOfMemory);
      Fill(stream, whole, 2);
    }
    sim::Drain();
    CHECK(SimFaults() == "");
  }
}
