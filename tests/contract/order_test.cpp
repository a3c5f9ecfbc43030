// SPDX-License-Identifier: BSD-2-Clause
// What device.hpp promises of order: streams, events, and the destruction of either.
#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/contract/world.hpp"

using namespace ferry;
using namespace ferry::contract;
using enum MemoryKind;
using enum CopyKind;
using namespace std::chrono_literals;

TEST_CASE("Work on one stream runs in the order in which it was queued") {
  World world;
  const Stream stream(world.device());
  const Block block(kDevice, kBytes, stream);
  const Block first(kPinnedHost, kBytes, stream), second(kPinnedHost, kBytes, stream);
  Fill(stream, block, 1);
  Copy(stream, kDeviceToHost, first, block);
  Fill(stream, block, 2);
  Copy(stream, kDeviceToHost, second, block);
  Copy(stream, kHostToDevice, block, first);
  Copy(stream, kDeviceToHost, first, block);
  stream.Synchronize();
  CHECK(Holds(first, 1));
  CHECK(Holds(second, 2));
}

TEST_CASE("The main stream is a stream like others") {
  World world;
  const Block block(kDevice, kBytes, world.main());
  const Block seen(kPinnedHost, kBytes, world.main());
  Fill(world.main(), block, 5);
  Copy(world.main(), kDeviceToHost, seen, block);
  world.main().Synchronize();
  CHECK(Holds(seen, 5));
}

TEST_CASE("The host that waits for an event sees the work queued before it") {
  World world;
  const Stream stream(world.device());
  const Block block(kDevice, kBytes, stream);
  const Block seen(kPinnedHost, kBytes, stream);
  Fill(stream, block, 3);
  Copy(stream, kDeviceToHost, seen, block);
  const Event done(stream);
  Fill(stream, block, 4);
  done.HostWait();
  CHECK(Holds(seen, 3));
  done.HostWait();
  CHECK(Holds(seen, 3));
}

TEST_CASE("A stream that waits for an event reads what was written before it") {
  World world;
  const Stream writer(world.device()), reader(world.device());
  const Block block(kDevice, kBytes, writer);
  const Block seen(kPinnedHost, kBytes, reader);
  Fill(writer, block, 7);
  const Event written(writer);
  written.StreamWait(reader);
  Copy(reader, kDeviceToHost, seen, block);
  reader.Synchronize();
  CHECK(Holds(seen, 7));
}

TEST_CASE("A stream that waits for a reader's event does not overwrite what is still to be read") {
  World world;
  const Stream reader(world.device()), writer(world.device());
  const Block block(kDevice, kBytes, reader);
  const Block seen(kPinnedHost, kBytes, reader);
  Fill(reader, block, 1);
  Copy(reader, kDeviceToHost, seen, block);
  Event(reader).StreamWait(writer);
  Fill(writer, block, 2);
  writer.Synchronize();
  reader.Synchronize();
  CHECK(Holds(seen, 1));
}

TEST_CASE("Order passes through a chain of streams") {
  World world;
  std::vector<Stream> streams;
  for (int i = 0; i < 5; ++i) streams.emplace_back(world.device());
  const Block block(kDevice, kBytes, streams[0]);
  const Block seen(kPinnedHost, kBytes, streams[0]);
  Fill(streams[0], block, 9);
  for (std::size_t i = 1; i < streams.size(); ++i) Event(streams[i - 1]).StreamWait(streams[i]);
  Copy(streams.back(), kDeviceToHost, seen, block);
  streams.back().Synchronize();
  CHECK(Holds(seen, 9));
}

TEST_CASE("One event serves many streams, its own too") {
  World world;
  const Stream writer(world.device());
  const std::vector<Stream> readers{Stream(world.device()), world.main(), Stream(world.device()), writer};
  const Block block(kDevice, kBytes, writer);
  Fill(writer, block, 6);
  const Event written(writer);
  for (const Stream& reader : readers) {
    const Block seen(kPinnedHost, kBytes, reader);
    written.StreamWait(reader);
    Copy(reader, kDeviceToHost, seen, block);
    reader.Synchronize();
    CHECK(Holds(seen, 6));
  }
  for (const Stream& reader : readers) Event(reader).StreamWait(writer);
}

TEST_CASE("An event outlives its stream") {
  World world;
  std::optional<Stream> brief(world.device());
  const Stream reader(world.device());
  const Block block(kDevice, kBytes, world.main());
  const Block first(kPinnedHost, kBytes, world.main()), second(kPinnedHost, kBytes, world.main());
  Event(world.main()).StreamWait(*brief);
  Fill(*brief, block, 8);
  Copy(*brief, kDeviceToHost, first, block);
  const Event done(*brief);
  brief.reset();
  done.StreamWait(reader);
  Copy(reader, kDeviceToHost, second, block);
  reader.Synchronize();
  CHECK(Holds(second, 8));
  done.HostWait();
  CHECK(Holds(first, 8));
}

TEST_CASE("A destroyed stream finishes its work") {
  World world;
  const Block block(kDevice, kBytes, world.main());
  const Block seen(kPinnedHost, kBytes, world.main());
  world.main().Synchronize();
  {
    const Stream brief(world.device());
    Fill(brief, block, 4);
    Copy(brief, kDeviceToHost, seen, block);
  }
  world.Drain();
  CHECK(Holds(seen, 4));
}

TEST_CASE("Streams and events that live at once have handles of their own") {
  World world;
  const Stream a(world.device()), b(world.device());
  CHECK_FALSE(a == b);
  CHECK_FALSE(a == world.main());
  for (const Stream& stream : {a, b, world.main()}) CHECK(stream.handle() < StreamHandle::kHost);
  CHECK(a.handle() != StreamHandle{});
  const Event first(a), second(a);
  CHECK(first.handle() != second.handle());
}

TEST_CASE("Measuring points are points like others, and have a time between them") {
  World world;
  const Stream stream(world.device());
  const Block block(kDevice, kBytes, stream), seen(kPinnedHost, kBytes, stream);
  const auto launch = world.device().properties().launch;
  const bool at_once = world.device().properties().kernels_at_once;
  for (int round = 0; round < 2; ++round) {  // points come again
    const Event from = Event::Measuring(stream);
    const Event plain(stream);
    Fill(stream, block, round);
    Copy(stream, kDeviceToHost, seen, block);
    if (launch != nullptr)
      launch(world.index(), stream.handle(), {}, [] { std::this_thread::sleep_for(2ms); });
    else if (at_once)
      std::this_thread::sleep_for(2ms);
    const Event to = Event::Measuring(stream);
    const std::int64_t time = Elapsed(from, to);
    CHECK(Holds(seen, round));
    CHECK(time >= (launch != nullptr || at_once ? 1'999'000 : 0));  // a float of milliseconds
    CHECK(Elapsed(to, from) == -time);
    CHECK(Elapsed(to, to) == 0);
    CHECK_THROWS_AS(Elapsed(plain, to), std::logic_error);
    CHECK_THROWS_AS(Elapsed(from, plain), std::logic_error);
  }
}

TEST_CASE("A measuring point is waited for by the host and by streams") {
  World world;
  const Stream writer(world.device()), reader(world.device());
  const Block block(kDevice, kBytes, writer);
  const Block first(kPinnedHost, kBytes, writer), second(kPinnedHost, kBytes, reader);
  Fill(writer, block, 3);
  Copy(writer, kDeviceToHost, first, block);
  const Event written = Event::Measuring(writer);
  written.StreamWait(reader);
  Copy(reader, kDeviceToHost, second, block);
  const Event read = Event::Measuring(reader);
  written.HostWait();
  CHECK(Holds(first, 3));
  CHECK(Elapsed(written, read) >= 0);
  CHECK(Holds(second, 3));
}

TEST_CASE("Host code that is launched runs in its stream's order") {
  World world;
  const auto launch = world.device().properties().launch;
  if (launch == nullptr) return;  // what is host code there runs at once
  const Stream stream(world.device());
  const Block block(kDevice, kBytes, stream);
  const Block seen(kPinnedHost, kBytes, stream);
  Fill(stream, block, 1);
  launch(world.index(), stream.handle(), {block.data()}, [&] { Set(block, Holds(block, 1) ? 2 : 3); });
  Copy(stream, kDeviceToHost, seen, block);
  stream.Synchronize();
  CHECK(Holds(seen, 2));
}
