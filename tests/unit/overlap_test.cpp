// SPDX-License-Identifier: BSD-2-Clause
// What of a section's copies is hidden behind kernels, by a clock of the test's own, and by the simulated
// GPU's.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <deque>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "ferry/ferry.hpp"
#include "tests/unit/sim_fixture.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::ContainsSubstring;

/// Its measuring points are reached at the times of a list, in the order in which they are recorded.
class Scripted final : public ForwardingDevice {
 public:
  Scripted() : ForwardingDevice(MakeDevice("sim:0")) {}

  EventHandle RecordMeasuring(StreamHandle on) override {
    const EventHandle event = next().Record(on);
    if (script.empty()) {
      next().Release(event);
      throw DeviceError("Scripted", 1, "no time is left");
    }
    times_[event] = script.front();
    script.pop_front();
    return event;
  }
  std::int64_t Elapsed(EventHandle from, EventHandle to) override { return times_.at(to) - times_.at(from); }

  std::deque<std::int64_t> script;

 private:
  std::map<EventHandle, std::int64_t> times_;
};

/// Memories with bytes on the host, and streams for copies and kernels.
struct OverlapFixture {
  explicit OverlapFixture(std::deque<std::int64_t> script) {
    device.script = std::move(script);
    device.script.push_front(0);  // asked for by the section, to see whether there is a clock
    cpu.Overwrite(x);
    cpu.Overwrite(y);
    section.emplace(device);
  }

  int reset = (sim::Reset(), 0);
  Scripted device;
  Stream copies{device}, kernels{device}, more{device};
  Place cpu = Place::Cpu(device);
  Array<char> x{100, device, "x"}, y{100, device, "y"};
  std::optional<Overlap> section;
};

TEST_CASE("A copy is hidden as far as kernels of another stream are at work") {
  OverlapFixture f({1100, 1200, 1150, 1300});
  f.x.Prefetch(Side::kGpu, f.copies);
  { const Overlap::Kernels kernels(*f.section, f.kernels); }
  const OverlapTimes times = f.section->End();
  CHECK(times.bytes == 100);
  CHECK(times.untimed == 0);
  CHECK(times.copying_ns == 100);
  CHECK(times.hidden_ns == 50);
}

TEST_CASE("Kernels that run at once hide a copy once, and what comes before or after it hides nothing") {
  OverlapFixture f({120, 240, 0, 10, 150, 200, 100, 170, 245, 300, 230, 239});
  f.x.Prefetch(Side::kGpu, f.copies);
  for (int i = 0; i < 5; ++i) const Overlap::Kernels kernels(*f.section, i % 2 == 0 ? f.kernels : f.more);
  const OverlapTimes times = f.section->End();
  CHECK(times.copying_ns == 120);
  CHECK(times.hidden_ns == (200 - 120) + (239 - 230));
}

TEST_CASE("Times of several copies add up, of both directions") {
  OverlapFixture f({0, 10, 20, 50, 60, 100, 25, 70});
  f.x.Prefetch(Side::kGpu, f.copies);
  f.y.Prefetch(Side::kGpu, f.copies);
  Place(f.copies).ReadWrite(f.x);
  f.x.Prefetch(Side::kCpu, f.copies);
  { const Overlap::Kernels kernels(*f.section, f.kernels); }
  const OverlapTimes times = f.section->End();
  CHECK(times.bytes == 300);
  CHECK(times.copying_ns == 10 + 30 + 40);
  CHECK(times.hidden_ns == 25 + 10);
}

TEST_CASE("A wait for a copy is not taken for a kernel that hides it") {
  OverlapFixture f({10, 50, 20, 51, 90});
  f.x.Prefetch(Side::kGpu, f.copies);
  {
    const Overlap::Kernels kernels(*f.section, f.kernels);
    Place(f.kernels).Read(f.x);
  }
  const OverlapTimes times = f.section->End();
  CHECK(f.device.script.empty());
  CHECK(times.copying_ns == 40);
  CHECK(times.hidden_ns == 0);
}

TEST_CASE("Nor is a copy on the kernels' own stream") {
  OverlapFixture f({0, 100, 20, 30, 60, 61, 80, 90});
  f.x.Prefetch(Side::kGpu, f.copies);
  {
    const Overlap::Kernels kernels(*f.section, f.kernels);  // from 20 on
    Place(f.kernels).Read(f.y);                             // from 30 to 60, then begins again at 61, and 80
  }
  const OverlapTimes times = f.section->End();
  CHECK(f.device.script.empty());
  CHECK(times.copying_ns == 100 + 30);
  CHECK(times.hidden_ns == 10);
}

TEST_CASE("A copy that cannot be timed is made all the same, and said to be untimed") {
  OverlapFixture f({});
  f.x.Prefetch(Side::kGpu, f.copies);
  f.device.script = {0};
  f.y.Prefetch(Side::kGpu, f.copies);
  const OverlapTimes times = f.section->End();
  CHECK(times.bytes == 200);
  CHECK(times.untimed == 200);
  CHECK(times.copying_ns == 0);
  CHECK(f.x.memory()->head() == Head::SYNCED);
}

TEST_CASE("A section ends once, after its kernels, and what comes later is not its") {
  OverlapFixture f({0, 10, 5, 20});
  f.x.Prefetch(Side::kGpu, f.copies);
  {
    const Overlap::Kernels kernels(*f.section, f.kernels);
    CHECK_THROWS_AS(f.section->End(), std::logic_error);
  }
  CHECK(f.section->End().hidden_ns == 5);
  f.y.Prefetch(Side::kGpu, f.copies);
  CHECK(f.section->End().bytes == 100);
  CHECK(f.section->End().hidden_ns == 5);
  CHECK_THROWS_WITH(Overlap::Kernels(*f.section, f.kernels), ContainsSubstring("the section has ended"));
}

TEST_CASE("A section is of one device") {
  OverlapFixture f({0, 10});
  const auto other = MakeDevice("host");
  CHECK_THROWS_AS(Overlap::Kernels(*f.section, Stream::Main(*other)), std::invalid_argument);
  const auto second = MakeDevice("sim:0");
  Array<char> z(100, *second);
  Place::Cpu(*second).Overwrite(z);
  Place(*second).Read(z);
  f.x.Prefetch(Side::kGpu, f.copies);
  CHECK(f.section->End().bytes == 100);
}

TEST_CASE("Nothing is recorded where no section is open") {
  OverlapFixture f({});
  f.section.reset();
  f.device.script = {1, 2, 3};
  Place(f.kernels).Read(f.x);
  CHECK(f.device.script.size() == 3);
}

TEST_CASE("By the simulated GPU's own clock, no more is hidden than copied, in any order") {
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    sim::Reset({.seed = seed});
    {
      const auto device = MakeDevice("sim");
      const Stream copies(*device), kernels(*device);
      Array<float> x(1000, *device), y(1000, *device);
      Place::Cpu(*device).Overwrite(x);
      Place::Cpu(*device).Overwrite(y);
      Overlap section(*device);
      x.Prefetch(Side::kGpu, copies);
      for (int i = 0; i < 4; ++i) {
        const Overlap::Kernels busy(section, kernels);
        const float* const ptr = Place(kernels).Read(i == 0 ? y : x).data();
        sim::Launch(kernels, {ptr}, [] { std::this_thread::sleep_for(std::chrono::microseconds(50)); });
      }
      const OverlapTimes times = section.End();
      CHECK(times.bytes == 8000);
      CHECK(times.untimed == 0);
      CHECK(times.copying_ns > 0);
      CHECK(times.hidden_ns >= 0);
      CHECK(times.hidden_ns <= times.copying_ns);
    }
    CHECK(sim::Inspect().misuse.empty());
    CHECK(sim::Inspect().leaks.empty());
  }
}

TEST_CASE("Kernels that are captured have no time, and the capture goes on") {
  sim::Reset();
  const auto device = MakeDevice("sim");
  const Stream captured(*device), copies(*device);
  Array<float> x(1000, *device), y(1000, *device);
  Place(captured).Overwrite(x);
  Place::Cpu(*device).Overwrite(y);
  Overlap section(*device);
  sim::BeginCapture(captured);
  {
    const Overlap::Kernels kernels(section, captured);
    Place(captured).Read(x);
    y.Prefetch(Side::kGpu, copies);
  }
  sim::EndCapture(captured);
  const OverlapTimes times = section.End();
  CHECK(times.bytes == 4000);
  CHECK(times.untimed == 0);
  CHECK(times.hidden_ns == 0);
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("A borrowed stream may go before the section ends") {
  sim::Reset({.order = sim::Order::kLate, .events_need_stream = true});
  {
    const auto owner = std::make_unique<SimDevice>(0);  // ThreadSanitizer mixes up locks of one stack address
    SimDevice& device = *owner;
    Array<float> x(1000, device), y(1000, device);
    Place::Cpu(device).Overwrite(x);
    Place::Cpu(device).Overwrite(y);
    Overlap section(device);
    const StreamHandle handles[] = {sim::CreateBlockingStream(device), sim::CreateBlockingStream(device)};
    const Stream copies = Stream::Borrow(device, handles[0]), kernels = Stream::Borrow(device, handles[1]);
    x.Prefetch(Side::kGpu, copies);
    {
      const Overlap::Kernels busy(section, kernels);
      Place(kernels).Read(y);
    }
    x.memory()->Forget(copies);
    y.memory()->Forget(kernels);
    for (const StreamHandle handle : handles) device.DestroyStream(handle);
    const OverlapTimes times = section.End();
    CHECK(times.bytes == 8000);
    CHECK(times.untimed == 0);
    CHECK(times.copying_ns > 0);
  }
  CHECK(sim::Inspect().misuse.empty());
  CHECK(sim::Inspect().leaks.empty());
}

}  // namespace
}  // namespace ferry::testing
