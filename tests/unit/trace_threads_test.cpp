// SPDX-License-Identifier: BSD-2-Clause
// Slices of work that several threads give one stream.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstddef>
#include <latch>
#include <optional>
#include <thread>

#include "ferry/detail/kernel_place.hpp"
#include "ferry/forwarding_device.hpp"
#include "tests/unit/trace_fixture.hpp"

namespace ferry::testing {
namespace {

/// Queues copies of so many bytes when it is let.
struct Held : FullForwardingDevice {
  static constexpr std::size_t kBytes = 64;
  Held() : FullForwardingDevice(MakeDevice("sim:0")) {}
  std::optional<EventHandle> CopyAndRecord(CopyKind kind, void* dst, const void* src, std::size_t bytes,
                                           StreamHandle on) override {
    if (bytes == kBytes) asked.count_down(), go.wait();
    return next().CopyAndRecord(kind, dst, src, bytes, on);
  }
  std::latch asked{1}, go{1};
};

TEST_CASE("Of two threads, the one whose copy is queued last has the later slice, which a wait ends") {
  constexpr std::chrono::milliseconds kPause(20);
  TraceFixture f;
  Held device;
  SyncedMemory last(Held::kBytes, device, "last"), first(32, device, "first");
  last.mutable_cpu_data(), first.mutable_cpu_data();
  std::thread asks_first([&] { last.Prefetch(Side::kGpu, Stream::Main(device)); });
  device.asked.wait();
  first.gpu_data();
  std::this_thread::sleep_for(kPause);
  device.go.count_down();
  asks_first.join();
  last.mutable_cpu_data();
  std::this_thread::sleep_for(kPause);
  const auto events = f.Events();
  const auto copies = Only(events, "X", "copy"), waits = Only(events, "X", "wait");
  REQUIRE((copies.size() == 2 && waits.size() == 1));
  CHECK(ArgsOf(copies[0]).Text("label") == "first");
  CHECK(copies[1].Number("ts") >= EndOf(copies[0]) + 20'000);
  CHECK(EndOf(copies[1]) <= EndOf(waits[0]) + 0.002);
}

TEST_CASE("A copy that was asked for before a wait, and queued after it, begins after it") {
  TraceFixture f;
  Held device;
  SyncedMemory last(Held::kBytes, device, "last"), first(32, device, "first");
  last.mutable_cpu_data();
  first.mutable_cpu_data(), first.Prefetch(Side::kGpu, Stream::Main(device));
  std::thread asks_first([&] { last.Prefetch(Side::kGpu, Stream::Main(device)); });
  device.asked.wait();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  first.mutable_cpu_data();  // ends the slice of its copy
  device.go.count_down();
  asks_first.join();
  const auto copies = Only(f.Events(), "X", "copy");
  REQUIRE(copies.size() == 2);
  CHECK(ArgsOf(copies[0]).Text("label") == "first");
  CHECK(copies[1].Number("ts") >= EndOf(copies[0]));
}

/// A kernel that writes x, and works where it is called.
template <class Work>
void Run(const Place& place, Array<float>& x, Work work) {
  const detail::Request request = Overwrite(x).request();
  std::array<void*, 1> ptrs{};
  const detail::KernelCall call(place, {&request, 1}, ptrs);
  work();
}

TEST_CASE("Kernels that run where they are called have their length, and waits are for their begin") {
  constexpr std::chrono::milliseconds kShort(1), kLong(20);
  TraceFixture f;
  const auto host = MakeDevice("host:0");
  const Place place(*host);
  Array<float> x(10, *host, "x"), y(10, *host, "y");
  std::latch begun(1), done(1);
  std::thread other([&] {
    begun.wait();
    Run(place, y, [&] { std::this_thread::sleep_for(kShort); });
    done.count_down();
  });
  Run(place, x, [&] {
    begun.count_down(), done.wait();
    std::this_thread::sleep_for(kLong);
  });
  other.join();
  Place::Cpu(*host).Read(x);
  const auto events = f.Events();
  const auto flows = Only(events, "s", "wait");
  const auto kernels = Only(events, "X", "kernel");
  REQUIRE((kernels.size() == 2 && flows.size() == 1));
  CHECK(OnOneTrack(kernels[0], kernels[1]));
  CHECK(kernels[0].Number("dur") >= 1'000);
  CHECK(kernels[1].Number("dur") >= 20'000);
  CHECK(flows[0].Number("ts") == kernels[1].Number("ts"));
}

}  // namespace
}  // namespace ferry::testing
