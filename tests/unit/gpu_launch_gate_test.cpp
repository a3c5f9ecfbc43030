// SPDX-License-Identifier: BSD-2-Clause
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <future>
#include <map>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/kernels/gpu/launch_gate.hpp"

namespace ferry::detail {
namespace {

/// As Kokkos: a map for all kernels without a lock, which a first launch on a device writes to.
class Library {
 public:
  /// Whether the kernel was prepared, and whether nobody else launched meanwhile.
  struct Seen {
    bool first, alone;
  };
  Seen Launch(int kernel, int device) {
    const int others = within_.fetch_add(1);
    const bool first = !prepared_.contains({kernel, device});
    if (first) prepared_[{kernel, device}] = true;
    if (first) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const bool alone = others == 0 && within_ == 1;
    --within_;
    return {first, alone};
  }

 private:
  std::atomic<int> within_ = 0;
  std::map<std::pair<int, int>, bool> prepared_;
};

TEST_CASE("the first launch of a kernel on a device is alone among all launches") {
  LaunchGate gate;
  Library library;
  constexpr int kThreads = 4, kKernels = 6, kDevices = 2;
  LaunchedOn launched[kKernels] = {};
  std::mutex streams[kThreads];
  std::atomic<int> crowded = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      for (int round = 0; round < 20; ++round)
        for (int kernel = 0; kernel < kKernels; ++kernel) {
          const int device = (round + thread) % kDevices;
          gate.Launch(streams[thread], launched[kernel], device, [&] {
            const auto seen = library.Launch(kernel, device);
            if (seen.first && !seen.alone) ++crowded;
          });
        }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(crowded == 0);
  for (const LaunchedOn& on : launched) CHECK(on == 3);
}

/// Runs a launch that stays within until the end; the constructor returns once it is.
class Lasting {
 public:
  Lasting(LaunchGate& gate, std::mutex& stream, LaunchedOn& kernel)
      : thread_([&] {
          gate.Launch(stream, kernel, 0, [&] {
            within_.set_value();
            end_.get_future().wait();
          });
        }) {
    within_.get_future().wait();
  }
  ~Lasting() {
    end_.set_value();
    thread_.join();
  }

 private:
  std::promise<void> within_, end_;
  std::thread thread_;
};

TEST_CASE("later launches on several streams run at once, and those on one stream in turn") {
  LaunchGate gate;
  LaunchedOn kernel = 1;
  std::mutex one, two;
  std::future<void> same;
  {
    const Lasting lasting(gate, one, kernel);
    bool ran = false;
    gate.Launch(two, kernel, 0, [&] { ran = true; });
    CHECK(ran);
    same = std::async(std::launch::async, [&] { gate.Launch(one, kernel, 0, [] {}); });
    CHECK(same.wait_for(std::chrono::milliseconds(20)) == std::future_status::timeout);
  }
  same.wait();
}

TEST_CASE("a first launch, and what is to run alone, waits for the launches that run") {
  LaunchGate gate;
  LaunchedOn kernel = 1, fresh = 0;
  std::mutex one, two;
  std::future<void> first, alone;
  {
    const Lasting lasting(gate, one, kernel);
    first = std::async(std::launch::async, [&] { gate.Launch(two, fresh, 0, [] {}); });
    alone = std::async(std::launch::async, [&] { gate.Alone([] {}); });
    CHECK(first.wait_for(std::chrono::milliseconds(20)) == std::future_status::timeout);
    CHECK(alone.wait_for(std::chrono::milliseconds(0)) == std::future_status::timeout);
  }
  first.wait();
  alone.wait();
  CHECK(fresh == 1);
}

TEST_CASE("who waits to run alone is not overtaken by launches that come later") {
  LaunchGate gate;
  LaunchedOn kernel = 1;
  std::mutex one, two;
  std::future<void> alone, later;
  {
    const Lasting lasting(gate, one, kernel);
    alone = std::async(std::launch::async, [&] { gate.Alone([] {}); });
    CHECK(alone.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout);
    later = std::async(std::launch::async, [&] { gate.Launch(two, kernel, 0, [] {}); });
    CHECK(later.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout);
  }
  alone.wait();
  later.wait();
}

TEST_CASE("a launch that stands aside lets others run alone, and comes back") {
  LaunchGate gate;
  LaunchedOn kernel = 1;
  std::mutex stream;
  gate.Launch(stream, kernel, 0, [&] {
    {
      const LaunchGate::Aside aside;
      std::thread([&] { gate.Alone([] {}); }).join();
    }
    const auto later = std::async(std::launch::async, [&] { gate.Alone([] {}); });
    CHECK(later.wait_for(std::chrono::milliseconds(20)) == std::future_status::timeout);
    const LaunchGate::Aside aside;
    later.wait();
  });
}

TEST_CASE("a launch that throws was not the first; those beyond the devices that are counted are all first") {
  LaunchGate gate;
  LaunchedOn kernel = 0;
  std::mutex stream;
  CHECK_THROWS_AS(gate.Launch(stream, kernel, 5, [] { throw std::runtime_error("no"); }), std::runtime_error);
  CHECK(kernel == 0);
  gate.Launch(stream, kernel, 5, [] {});
  CHECK(kernel == std::uint64_t{1} << 5);
  gate.Launch(stream, kernel, 64, [] {});
  CHECK(kernel == std::uint64_t{1} << 5);
}

TEST_CASE(
    "launches within launches, across streams and first ones too, block neither each other nor others") {
  LaunchGate gate;
  std::mutex streams[3];
  LaunchedOn outer[3] = {}, inner[3] = {};
  std::vector<std::thread> threads;
  std::atomic<int> ran = 0;
  for (std::size_t thread = 0; thread < 3; ++thread)
    threads.emplace_back([&, thread] {
      for (int round = 0; round < 200; ++round) {
        if (round % 50 == 0) inner[thread] = 0;
        gate.Launch(streams[thread], outer[thread], 0, [&] {
          gate.Launch(streams[(thread + 1) % 3], inner[thread], 0, [&] { gate.Alone([&] { ++ran; }); });
          gate.Launch(streams[thread], inner[thread], 0, [&] { ++ran; });
        });
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(ran == 2 * 3 * 200);
}

}  // namespace
}  // namespace ferry::detail
