// SPDX-License-Identifier: BSD-2-Clause
// A new machine behind the same devices, and when there can be none.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "backends/sim/sim_backend.hpp"
#include "ferry/backend.hpp"
#include "ferry/error.hpp"
#include "ferry/synced_memory.hpp"
#include "sim_fixture.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::Message;

/// Work of every kind, as far as the machine can tell whether it is right.
void Use(Device& device) {
  SyncedMemory memory(kBytes, device);
  const Stream side(device);
  std::memset(memory.overwrite_cpu_data(), 1, kBytes);
  auto* const bytes = static_cast<char*>(memory.mutable_gpu_data(side));
  sim::Launch(side, {bytes}, [bytes] { bytes[1] = 2; });
  Event(side).HostWait();
  CHECK(static_cast<const char*>(memory.cpu_data())[1] == 2);
}
void NothingWrong() {
  sim::Drain();
  CHECK(sim::Inspect().misuse.empty());
  CHECK(sim::Inspect().leaks.empty());
}
auto Says(const std::string& what) {
  return Message("ferry::sim::Reset: there are " + what +
                 " on simulated devices. They must end first; the machine stays as it is");
}

TEST_CASE("a device stays when the machine is renewed, and is the new one's") {
  sim::Reset();
  Device& device = GetDevice("sim");
  const auto own = MakeDevice("sim");
  Use(device);
  Use(*own);
  NothingWrong();
  sim::Reset({.memory = 1000, .unified = true, .wavefront = 64});
  CHECK(&GetDevice("sim") == &device);
  for (Device* const each : {&device, own.get()}) {
    CHECK(each->properties().memory == 1000);
    CHECK(each->properties().unified);
    CHECK(each->properties().wavefront == 64);
    Use(*each);
  }
  NothingWrong();
  sim::Reset();
  CHECK_FALSE(device.properties().unified);
  Use(device);
  NothingWrong();
}

TEST_CASE("a machine is not renewed while memories are alive, and nothing changes") {
  sim::Reset({.seed = 3});
  Device& device = GetDevice("sim");
  auto weights = std::make_unique<SyncedMemory>(kBytes, device, "weights");
  std::memset(weights->overwrite_cpu_data(), 5, kBytes);
  weights->gpu_data();
  const long copies = sim::Inspect().copies;
  CHECK(copies == 1);
  {
    const SyncedMemory other(kBytes, device), third(kBytes, device, "third");
    CHECK_THROWS_MATCHES(sim::Reset(), std::logic_error,
                         Says(R"(3 memories ("third", "weights" and 1 more), 1 event)"));
  }
  CHECK(sim::Inspect().copies == copies);
  weights->mutable_gpu_data();
  CHECK(static_cast<const char*>(weights->cpu_data())[kBytes - 1] == 5);
  weights->set_label("w");
  CHECK_THROWS_AS(sim::Reset(), std::logic_error);
  weights.reset();
  NothingWrong();
  sim::Reset();
  CHECK(sim::Inspect().copies == 0);
}

TEST_CASE("each of a memory, a stream and an event alone keeps the machine") {
  sim::Reset();
  Device& device = GetDevice("sim");
  {
    const SyncedMemory memory(kBytes, device);
    CHECK_THROWS_MATCHES(sim::Reset(), std::logic_error, Says("1 memory"));
  }
  {
    const Stream stream(device), copy = stream;
    CHECK_THROWS_MATCHES(sim::Reset(), std::logic_error, Says("1 stream"));
  }
  {
    const Event event(Stream::Main(device)), copy = event;
    CHECK_THROWS_MATCHES(sim::Reset(), std::logic_error, Says("1 event"));
  }
  sim::Reset();
  const auto own = MakeDevice("sim");
  const Stream stream(*own), main = Stream::Main(device);
  CHECK_THROWS_MATCHES(sim::Reset(), std::logic_error, Says("1 stream"));
}

TEST_CASE("what is of no simulated device, and a main stream, keep no machine") {
  sim::Reset();
  const SyncedMemory host(kBytes, GetDevice("host"), "on the host");
  const Stream main = Stream::Main(GetDevice("sim"));
  CHECK_NOTHROW(sim::Reset());
}

TEST_CASE("a memory of the host that has been on a simulated GPU keeps the machine") {
  sim::Reset();
  {
    SyncedMemory memory(kBytes, GetDevice("host"), "of the host");
    memory.gpu_data(Stream::Main(GetDevice("sim")));
    CHECK_THROWS_MATCHES(sim::Reset(), std::logic_error, Says("1 memory"));
  }
  CHECK_NOTHROW(sim::Reset());
}

TEST_CASE("of many labels, the first ones are said") {
  sim::Reset();
  std::array<std::optional<SyncedMemory>, 10> memories;
  for (std::size_t i = 0; i < memories.size(); ++i)
    memories[i].emplace(kBytes, GetDevice("sim"), std::string(1, static_cast<char>('a' + i)));
  CHECK_THROWS_MATCHES(sim::Reset(), std::logic_error,
                       Says(R"(10 memories ("j", "i", "h", "g", "f", "e", "d", "c" and 2 more))"));
  memories[9].reset();
  memories[4].reset();
  memories[0].reset();
  CHECK_THROWS_MATCHES(sim::Reset(), std::logic_error,
                       Says(R"(7 memories ("i", "h", "g", "f", "d", "c", "b"))"));
}

TEST_CASE("a renewed device costs no call of the new machine, and meets none of its faults") {
  GetDevice("sim");
  sim::Reset({.fail_at = 1, .fail_call = "any", .fail_forever = true});
  CHECK(sim::Inspect().runtime_calls == 0);
  CHECK(sim::Inspect().calls == 0);
  CHECK(sim::Inspect().faults == 0);
  CHECK_THROWS_AS(Stream(GetDevice("sim")), DeviceError);
  sim::Reset();
}

TEST_CASE("a device that the new machine lacks fails, and works again once there is one") {
  sim::Reset({.devices = 2});
  Device& second = GetDevice("sim:1");
  Use(second);
  sim::Reset();
  CHECK_THROWS_MATCHES(GetDevice("sim:1"), NoDevice,
                       Message("no device \"sim:1\"; the last one is \"sim:0\""));
  CHECK_THROWS_AS(Stream(second), DeviceError);
  sim::Reset({.devices = 2, .memory = 500});
  CHECK(&GetDevice("sim:1") == &second);
  CHECK(second.properties().memory == 500);
  Use(second);
  NothingWrong();
}

TEST_CASE("a device opens its peers anew for each machine, and those that earlier ones lacked") {
  sim::Reset();
  Use(GetDevice("sim"));  // alone
  for (int machine = 0; machine < 2; ++machine) {
    sim::Reset({.devices = 2});
    {
      SyncedMemory memory(kBytes, GetDevice("sim"));
      memory.overwrite_gpu_data();
      memory.mutable_gpu_data(Stream::Main(GetDevice("sim:1")));  // a copy in each direction
      memory.gpu_data();
    }
    NothingWrong();
    CHECK(sim::Inspect().staged_copies == 0);
  }
  sim::Reset();
}

TEST_CASE("what a device keeps for a capture goes with the machine") {
  sim::Reset();
  auto device = sim::kBackend.make(0);
  const StreamHandle captured = device->CreateStream();
  {
    SyncedMemory memory(kBytes, *device);
    memory.mutable_gpu_data(Stream::Borrow(*device, captured));
    sim::BeginCapture(Stream::Borrow(*device, captured));
  }
  CHECK(sim::Inspect().leaks.size() == 2);  // the stream and its block
  sim::Reset();
  NothingWrong();
  Use(*device);
  device.reset();  // gives back what it has kept
  NothingWrong();
}

TEST_CASE("a device's kept events are no leak, and its lost ones are") {
  sim::Reset();
  Device& device = GetDevice("sim");
  { const Event kept(Stream::Main(device)); }
  CHECK(sim::Inspect().leaks.empty());
  const EventHandle lost = device.Record(device.properties().main_stream);  // the kept one again
  CHECK(sim::Inspect().leaks.size() == 1);
  device.Release(lost);
  sim::Reset();
}

TEST_CASE("a fail_call that is none leaves the machine") {
  sim::Reset({.memory = 77});
  CHECK_THROWS_AS(sim::Reset({.fail_call = "Nonsense"}), std::invalid_argument);
  CHECK(GetDevice("sim").properties().memory == 77);
  sim::Reset();
}

}  // namespace
}  // namespace ferry::testing
