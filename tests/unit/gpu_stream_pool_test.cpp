// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "backends/gpu/current_device_by.hpp"
#include "backends/gpu/per_stream.hpp"
#include "backends/gpu/stream_pool.hpp"
#include "ferry/error.hpp"
#include "sim_fixture.hpp"

namespace ferry::testing {
namespace {

using sim::SimRuntime;
using SimCurrent = gpu::CurrentDeviceBy<SimRuntime>;

struct OfStream {};
std::weak_ptr<OfStream> KeepOfStream(const Stream& on) {
  return gpu::PerStream<OfStream>(on, [] { return std::make_shared<OfStream>(); });
}

/// The first device of a new machine, in a pool.
std::unique_ptr<Device> PooledSim(const sim::Options& options = {}) {
  sim::Reset(options);
  return std::make_unique<gpu::StreamPoolDevice>(std::make_unique<SimDevice>(0), SimCurrent::StateOf);
}

std::vector<Stream> Streams(Device& device, std::size_t count) {
  std::vector<Stream> streams;
  while (streams.size() < count) streams.emplace_back(device);
  return streams;
}

TEST_CASE("a stream that was given back comes again, with what was kept for it") {
  const auto device = PooledSim();
  std::optional<Stream> stream(*device);
  const StreamHandle handle = stream->handle();
  const auto thing = KeepOfStream(*stream).lock();
  const Stream other(*device);
  CHECK(other.handle() != handle);
  stream.emplace(*device);
  CHECK(stream->handle() == handle);
  CHECK(KeepOfStream(*stream).lock() == thing);
}

TEST_CASE("a stream with work comes again when the work is done, so that the new one follows no old work") {
  const auto device = PooledSim();
  std::optional<Stream> stream(*device);
  const StreamHandle handle = stream->handle();
  for (int i = 0; i < 9; ++i) sim::Launch(*stream, {}, [] {});  // more than the pool asks for the stream
  stream.reset();
  CHECK(Stream(*device).handle() != handle);
  sim::Drain();
  const auto both = Streams(*device, 2);
  CHECK(std::any_of(both.begin(), both.end(), [&](const Stream& s) { return s.handle() == handle; }));
}

TEST_CASE("of the idle streams the one that was given back first comes first") {
  const auto device = PooledSim();
  auto streams = Streams(*device, 3);
  const std::array handles{streams[1].handle(), streams[0].handle(), streams[2].handle()};
  for (const StreamHandle handle : handles)
    std::erase_if(streams, [&](const Stream& stream) { return stream.handle() == handle; });
  streams = Streams(*device, 3);
  for (std::size_t i = 0; i < handles.size(); ++i) CHECK(streams[i].handle() == handles[i]);
}

TEST_CASE("no more streams are kept than the most; the others go, and what was kept for them") {
  const auto device = PooledSim();
  auto streams = Streams(*device, gpu::StreamPoolDevice::kMostKept + 5);
  std::vector<std::weak_ptr<OfStream>> things;
  for (const Stream& stream : streams) things.push_back(KeepOfStream(stream));
  streams.clear();
  CHECK(std::count_if(things.begin(), things.end(), [](const auto& thing) { return thing.expired(); }) == 5);
  CHECK(sim::Inspect().leaks.size() == gpu::StreamPoolDevice::kMostKept);
}

TEST_CASE("a stream under capture is destroyed") {
  const auto device = PooledSim();
  std::optional<Stream> stream(*device);
  const auto thing = KeepOfStream(*stream);
  sim::BeginCapture(*stream);
  stream.reset();
  CHECK(thing.expired());
  CHECK(sim::Inspect().leaks.empty());
}

TEST_CASE("a device that has failed keeps no stream, and gives none out") {
  const auto device = PooledSim();
  std::optional<Stream> kept(*device), stream(*device);
  kept.reset();
  sim::Launch(*stream, {}, [] { throw 1; });
  sim::Drain();
  CHECK_THROWS_AS(Stream(*device), DeviceError);
  const auto thing = KeepOfStream(*stream);
  stream.reset();
  CHECK(thing.expired());
}

TEST_CASE("the pool's streams go with the device, and all that was kept, and no last error stays") {
  auto device = PooledSim();
  const auto of_main = KeepOfStream(Stream::Main(*device)), of_stream = KeepOfStream(Stream(*device));
  CHECK_FALSE(of_stream.expired());
  device.reset();
  CHECK(of_stream.expired());
  CHECK(of_main.expired());
  CHECK(SimRuntime::GetLastError() == SimRuntime::kSuccess);
  const sim::Report report = sim::Inspect();
  CHECK(report.leaks.empty());
  CHECK(report.misuse.empty());
}

TEST_CASE("the pool asks about a stream on its own device, whichever is current") {
  sim::Reset({.devices = 2});
  SimRuntime::SetDevice(0);  // in use, so that it is put back
  gpu::StreamPoolDevice device(std::make_unique<SimDevice>(1), SimCurrent::StateOf);
  const StreamHandle handle = Stream(device).handle();
  CHECK(Stream(device).handle() == handle);
  CHECK(SimCurrent::Current() == 0);
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("threads take streams and give them back at once, and none is two threads'") {
  const auto device = PooledSim();
  std::array<std::atomic<int>, 4096> users{};
  std::atomic<bool> shared = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 200; ++n) {
        const Stream stream(*device);
        auto& its = users[static_cast<std::size_t>(stream.handle()) / 16 % users.size()];
        if (++its != 1) shared = true;
        --its;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK_FALSE(shared);
  CHECK(sim::Inspect().misuse.empty());
}

}  // namespace
}  // namespace ferry::testing
