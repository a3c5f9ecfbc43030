// SPDX-License-Identifier: BSD-2-Clause
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <future>
#include <stdexcept>
#include <thread>

#include "backends/gpu/per_stream.hpp"
#include "sim_fixture.hpp"

namespace ferry::testing {
namespace {

struct Thing {};
struct Other {};

/// What is made, which lives as long as it is kept.
template <class T = Thing>
std::weak_ptr<T> Keep(const Stream& on) {
  return gpu::PerStream<T>(on, [] { return std::make_shared<T>(); });
}

/// Forgets at its end what the test has kept.
struct World : SimWorld {
  ~World() { gpu::ForgetDevice(0); }
};

TEST_CASE("a stream has one thing of a type, and another one than other streams and types") {
  World world;
  const auto thing = Keep(world.main).lock();
  CHECK(Keep(world.main).lock() == thing);
  CHECK(Keep(world.side).lock() != thing);
  CHECK(static_cast<void*>(Keep<Other>(world.main).lock().get()) != thing.get());
}

TEST_CASE("what is kept is forgotten by stream, by device and by type") {
  World world;
  const auto thing = Keep(world.main), of_side = Keep(world.side);
  const auto other = Keep<Other>(world.main);
  gpu::ForgetStream(0, world.side.handle());
  CHECK(of_side.expired());
  CHECK_FALSE(thing.expired());
  gpu::ForgetAll(typeid(Thing));
  CHECK(thing.expired());
  CHECK_FALSE(other.expired());
  CHECK_FALSE(Keep(world.main).expired());
  gpu::ForgetDevice(0);
  CHECK(other.expired());
}

TEST_CASE("the main streams of two devices have things of their own") {
  sim::Reset({.devices = 2});
  SimDevice first(0), second(1);
  const Stream one = Stream::Borrow(first, StreamHandle{7}), same = Stream::Borrow(second, StreamHandle{7});
  const auto of_first = Keep(one), of_second = Keep(same);
  CHECK(of_first.lock() != of_second.lock());
  gpu::ForgetStream(0, StreamHandle{7});
  CHECK(of_first.expired());
  CHECK_FALSE(of_second.expired());
  const auto again = Keep(one);
  gpu::ForgetDevice(0);
  CHECK(again.expired());
  CHECK_FALSE(of_second.expired());
  gpu::ForgetDevice(1);
}

TEST_CASE("a thing that cannot be made is tried again") {
  World world;
  CHECK_THROWS_AS(
      gpu::PerStream<Thing>(world.main, []() -> std::shared_ptr<void> { throw std::runtime_error("no"); }),
      std::runtime_error);
  CHECK_FALSE(Keep(world.main).expired());
}

TEST_CASE("of the default stream per thread each thread has its own thing, which ends with the thread") {
  World world;
  const Stream per_thread = Stream::Borrow(world.device, gpu::kPerThreadStream);
  const auto ours = Keep(per_thread), of_main = Keep(world.main);
  std::weak_ptr<Thing> theirs;
  std::thread([&] {
    theirs = Keep(per_thread);
    CHECK(theirs.lock() != ours.lock());
    CHECK(Keep(per_thread).lock() == theirs.lock());
    CHECK(Keep(world.main).lock() == of_main.lock());
  }).join();
  CHECK(theirs.expired());
  CHECK_FALSE(ours.expired());
  CHECK_FALSE(of_main.expired());
}

TEST_CASE("things of different streams are made at once, and one of a stream only once") {
  World world;
  std::promise<void> making, go_on;
  std::atomic<int> made = 0;
  const auto slow = [&] {
    ++made;
    making.set_value();
    go_on.get_future().wait();
    return std::make_shared<Thing>();
  };
  std::thread first([&] { gpu::PerStream<Thing>(world.side, slow); });
  making.get_future().wait();
  std::thread same([&] { gpu::PerStream<Thing>(world.side, slow); });
  CHECK_FALSE(Keep(world.main).expired());  // waits for neither
  go_on.set_value();
  first.join();
  same.join();
  CHECK(made == 1);
}

TEST_CASE("a thing is destroyed outside the lock, and may keep another one as it goes") {
  World world;
  struct Leaver {
    const Stream* stream;
    ~Leaver() { Keep(*stream); }
  };
  gpu::PerStream<Leaver>(world.side, [&] { return std::make_shared<Leaver>(Leaver{&world.main}); });
  gpu::ForgetStream(0, world.side.handle());
  CHECK_FALSE(Keep(world.main).expired());
}

TEST_CASE("a stream that follows the main one sees what the main one was given, under capture too") {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    sim::Reset({.seed = seed});
    SimDevice device(0);
    const Stream main = Stream::Main(device), side(device);
    bool zeroed = false, seen = false;
    sim::Launch(main, {}, [&] { zeroed = true; });
    gpu::FollowMain(side);
    sim::Launch(side, {}, [&] { seen = zeroed; });
    side.Synchronize();
    CHECK(seen);

    zeroed = false;
    sim::Launch(main, {}, [&] { zeroed = true; });
    sim::BeginCapture(side);
    gpu::FollowMain(side);
    CHECK(zeroed);
    sim::EndCapture(side);
    gpu::FollowMain(main);
    CHECK(sim::Inspect().misuse.empty());
  }
}

}  // namespace
}  // namespace ferry::testing
