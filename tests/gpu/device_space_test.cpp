// SPDX-License-Identifier: BSD-2-Clause
// core/kernels with a Kokkos in Kokkos' place that has kernels for the vendor's GPUs
// (kokkos/Kokkos_Core.hpp).
#include "core/kernels/gpu/device_space.hpp"

#include <atomic>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "ferry/error.hpp"
#include "kernel.hpp"  // of tests/<backend>
#include "tests/gpu/device_space_world.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::ContainsSubstring;
using Kokkos::stand_in::Alone;

/// Comes first: it sees Kokkos initialised.
TEST_CASE("Kokkos is initialised for the device whose kernel comes first, and the current one stays") {
  World world;
  CHECK(Kokkos::stand_in::device == kOwn);
  CHECK(CurrentGpu() == 0);
  const int its = detail::WithGpuPutBack(std::nullopt, [](int index) { MakeCurrent(index + 1); });
  CHECK(its == 0);
  CHECK(CurrentGpu() == 0);
}

TEST_CASE("A kernel's device is current while it is launched, and no longer, and no context is left") {
  World world;
  const Stream side(*world.second);
  int current = -1;
  RunOnGpu(side, world.launched_on, [&](const DeviceSpace& space) {
    current = CurrentGpu();
    CHECK(space.stream() == vendor::Native(side));
    CHECK(space.device() == kOwn);
  });
  CHECK(current == kOwn);
  CHECK(world.launched_on == 1 << kOwn);
  CHECK(CurrentGpu() == 0);
  CHECK_FALSE(vendor::PopsContext());
}

TEST_CASE("A Kokkos that launches on one GPU alone is not asked to launch on another one") {
  World world;
  const int before = Kokkos::stand_in::instances;
  const auto launch = [&] {
    RunOnGpu(Stream::Main(*world.first), world.launched_on, [](const DeviceSpace&) {});
  };
  if (KOKKOS_VERSION >= vendor::kKokkosOfSeveral) {
    CHECK_NOTHROW(launch());
    return;
  }
  CHECK_THROWS_WITH(launch(), ContainsSubstring("a kernel on " + NameOf(0) + ", while Kokkos 4.2") &&
                                  ContainsSubstring(" was initialised for " + NameOf(kOwn)));
  CHECK_THROWS_AS(launch(), NoDevice);
  CHECK(Kokkos::stand_in::instances == before);
  CHECK(world.launched_on == 0);
}

TEST_CASE("The flags of a stream's reductions are zero when its first kernel runs, however busy the GPU is") {
  World world;
  const Stream main = Stream::Main(*world.second);
  MakeCurrent(kOwn);
  const vendor::Kernel delay("Delay");
  for (int i = 0; i < 16; ++i) {
    const Stream side(*world.second);
    delay.Launch(main, 0ULL);
    std::vector<unsigned char> flags(DeviceSpace::kFlags, 1);
    RunOnGpu(side, world.launched_on, [&](const DeviceSpace& space) {
      (void)Runtime::MemcpyAsync(flags.data(), space.flags(), flags.size(), Runtime::kDeviceToHost,
                                 space.stream());
    });
    side.Synchronize();
    CHECK(flags == std::vector<unsigned char>(DeviceSpace::kFlags, 0));
  }
  MakeCurrent(0);
}

TEST_CASE(
    "What Kokkos prepares at a first launch, and what its instances share, no two threads touch at once") {
  World world;
  std::vector<std::atomic<std::uint64_t>> kernels(30);
  const auto launch_all = [&] {
    const Stream on(*world.second);
    for (auto& kernel : kernels)
      RunOnGpu(on, kernel, [](const DeviceSpace&) {
        const Alone alone;
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      });
  };
  // The second time each kernel has been launched, and is launched by all at once.
  for (const bool prepared : {false, true}) {
    Alone::broken = false;
    std::thread other(launch_all);
    launch_all();
    other.join();
    CHECK(Alone::broken == prepared);
  }
}

TEST_CASE("What a kernel throws comes out, what Kokkos throws is the device's error, and it goes on") {
  World world;
  const Stream main = Stream::Main(*world.second);
  const auto launch = [&](auto error) {
    RunOnGpu(main, world.launched_on, [&](const DeviceSpace&) { throw error; });
  };
  CHECK_THROWS_AS(launch(std::out_of_range("the kernel's")), std::out_of_range);
  CHECK_THROWS_AS(launch(std::runtime_error("Kokkos'")), DeviceError);
  CHECK(CurrentGpu() == 0);
  CHECK_NOTHROW(RunOnGpu(main, world.launched_on, [](const DeviceSpace&) {}));
}

TEST_CASE("An instance goes with its stream, and with its device") {
  World world;
  const int before = Kokkos::stand_in::instances;
  const auto launch = [&](const Stream& on) { RunOnGpu(on, world.launched_on, [](const DeviceSpace&) {}); };
  Runtime::Stream own{};
  {
    const std::unique_ptr<Device> again = MakeDevice(NameOf(kOwn));
    MakeCurrent(kOwn);
    REQUIRE(Runtime::StreamCreate(&own) == Runtime::kSuccess);
    MakeCurrent(0);
    launch(vendor::Borrow(*again, own));
    CHECK(Kokkos::stand_in::instances == before + 1);
  }
  CHECK(Kokkos::stand_in::instances <= before);
  MakeCurrent(kOwn);
  REQUIRE(Runtime::StreamDestroy(own) == Runtime::kSuccess);
  MakeCurrent(0);
}

TEST_CASE("A capture of the program's survives that an instance is made, on another stream and on its own") {
  World world;
  const int mode = GENERATE(0, 1, 2);
  const bool own = GENERATE(false, true);
  const Stream captured(*world.second), other(*world.second);
  REQUIRE(vendor::BeginCapture(vendor::Native(captured), mode) == Runtime::kSuccess);
  CHECK_NOTHROW(RunOnGpu(own ? captured : other, world.launched_on, [](const DeviceSpace&) {}));
  CHECK(vendor::EndCapture(vendor::Native(captured)) == Runtime::kSuccess);
}

TEST_CASE("A kernel's body may run one on a stream whose instance another thread is making") {
  World world;
  const Stream outer(*world.second), inner(*world.second);
  std::atomic<std::uint64_t> others = 0;
  std::atomic<int> ran = 0;
  const auto run = [&](const DeviceSpace&) { ++ran; };
  std::optional<std::thread> other;
  const auto nest = [&](const DeviceSpace&) {
    other.emplace([&] { RunOnGpu(inner, others, run); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    RunOnGpu(inner, others, run);
  };
  RunOnGpu(outer, world.launched_on, nest);
  other->join();
  CHECK(ran == 2);
}

/// What comes of it shows at the program's end.
TEST_CASE("The instances of devices that live longer than Kokkos go before it does") {
  { const World world; }
  std::atomic<std::uint64_t> launched_on = 0;
  RunOnGpu(Stream::Main(GetDevice(NameOf(kOwn))), launched_on, [](const DeviceSpace&) {});
  CHECK(Kokkos::stand_in::instances == 1);
}

}  // namespace
}  // namespace ferry::testing
