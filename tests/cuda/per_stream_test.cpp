// SPDX-License-Identifier: BSD-2-Clause
// On simulated GPUs: what is kept for streams needs no CUDA.
#include "backends/gpu/per_stream.hpp"

#include <catch2/catch_test_macros.hpp>
#include <optional>
#include <stdexcept>

#include "backends/sim/sim_backend.hpp"
#include "ferry/sim.hpp"

namespace ferry::gpu {
namespace {

struct Thing {};
struct Other {};

/// A device that forgets, and the things that it knows, which are alive as long as they are kept.
class World {
 public:
  explicit World(int index = 0) : device(std::make_unique<PerStreamDevice>(sim::kBackend.make(index))) {}

  template <class T = Thing>
  std::weak_ptr<T> Keep(const Stream& on) {
    return PerStream<T>(on, [] { return std::make_shared<T>(); });
  }

  std::unique_ptr<Device> device;
};

TEST_CASE("A stream has one thing of a type, and another one than other streams and types") {
  sim::Reset();
  World world;
  const Stream main = Stream::Main(*world.device), stream(*world.device);
  const auto thing = world.Keep(main).lock();
  CHECK(world.Keep(main).lock() == thing);
  CHECK(world.Keep(stream).lock() != thing);
  CHECK(static_cast<void*>(world.Keep<Other>(main).lock().get()) != thing.get());
}

TEST_CASE("What is kept for a stream goes with the stream, and the rest with the device") {
  sim::Reset();
  World world;
  std::optional<Stream> stream(*world.device);
  const auto of_main = world.Keep(Stream::Main(*world.device)), of_stream = world.Keep(*stream);
  stream.reset();
  CHECK(of_stream.expired());
  CHECK_FALSE(of_main.expired());
  world.device.reset();
  CHECK(of_main.expired());
}

TEST_CASE("The main streams of two devices have things of their own") {
  sim::Reset({.devices = 2});
  World first(0), second(1);
  const auto of_first = first.Keep(Stream::Main(*first.device)),
             of_second = second.Keep(Stream::Main(*second.device));
  CHECK(of_first.lock() != of_second.lock());
  first.device.reset();
  CHECK(of_first.expired());
  CHECK_FALSE(of_second.expired());
}

TEST_CASE("All of a type can be given back, and are made again") {
  sim::Reset();
  World world;
  const Stream main = Stream::Main(*world.device);
  const auto thing = world.Keep(main);
  const auto other = world.Keep<Other>(main);
  ForgetAll(typeid(Thing));
  CHECK(thing.expired());
  CHECK_FALSE(other.expired());
  CHECK_FALSE(world.Keep(main).expired());
}

TEST_CASE("A thing that cannot be made is tried again") {
  sim::Reset();
  World world;
  const Stream main = Stream::Main(*world.device);
  CHECK_THROWS_AS(PerStream<Thing>(main, []() -> std::shared_ptr<void> { throw std::runtime_error("no"); }),
                  std::runtime_error);
  CHECK_FALSE(world.Keep(main).expired());
}

}  // namespace
}  // namespace ferry::gpu
