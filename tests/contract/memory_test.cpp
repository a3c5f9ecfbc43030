// SPDX-License-Identifier: BSD-2-Clause
// What device.hpp promises of memory: kinds, ranges, the order in which it comes and goes, and its end.
#include <atomic>
#include <cstdint>
#include <limits>
#include <list>
#include <optional>
#include <thread>
#include <vector>

#include "ferry/error.hpp"
#include "tests/contract/world.hpp"

using namespace ferry;
using namespace ferry::contract;
using enum MemoryKind;
using enum CopyKind;

namespace {

std::uintptr_t Begin(const Block& block) { return reinterpret_cast<std::uintptr_t>(block.data()); }

bool ShareBytes(const Block& a, const Block& b) {
  return Begin(a) < Begin(b) + b.bytes() && Begin(b) < Begin(a) + a.bytes();
}

}  // namespace

TEST_CASE("A device says what it is") {
  World world;
  const DeviceProperties& properties = world.device().properties();
  CHECK_FALSE(properties.backend.empty());
  CHECK_FALSE(properties.name.empty());
  CHECK(properties.index == world.index());
  CHECK(properties.main_stream < StreamHandle::kHost);
}

TEST_CASE("Blocks that live at once do not overlap") {
  World world;
  std::list<Block> blocks;
  for (const MemoryKind kind : {kDevice, kPinnedHost, kManaged})
    for (const std::size_t bytes : {1U, 7U, 256U, 257U, 2048U, 2049U, 4096U, 70'000U})
      for (int twice = 0; twice < 2; ++twice) blocks.emplace_back(kind, bytes, world.main());
  for (auto a = blocks.begin(); a != blocks.end(); ++a)
    for (auto b = std::next(a); b != blocks.end(); ++b) CHECK_FALSE(ShareBytes(*a, *b));
}

TEST_CASE("The host can use pinned and managed memory at once") {
  World world;
  for (int again = 0; again < 3; ++again) {
    for (const MemoryKind kind : {kPinnedHost, kManaged}) {
      const Block block(kind, kBytes, world.main());
      Set(block, again);
      CHECK(Holds(block, again));
    }
  }
}

TEST_CASE("Managed memory is the device's and the host's") {
  World world;
  const Stream stream(world.device());
  const Block block(kManaged, kBytes, stream), seen(kPinnedHost, kBytes, stream);
  Set(block, 1);
  Copy(stream, kDeviceToHost, seen, block);
  Fill(stream, block, 2);
  stream.Synchronize();
  CHECK(Holds(seen, 1));
  CHECK(Holds(block, 2));
}

TEST_CASE("Copies and fills write their range and nothing else") {
  World world;
  const Stream stream(world.device());
  const Block source(kPinnedHost, kBytes, stream), seen(kPinnedHost, kBytes, stream);
  const Block a(kDevice, kBytes, stream), b(kDevice, kBytes, stream);
  Set(source, 1);
  Fill(stream, a, 0);
  Fill(stream, b, 0);
  Device& device = world.device();
  device.Copy(kHostToDevice, a.data() + 10, source.data(), 5, stream.handle());
  Fill(stream, a.data() + 20, 3, 2);
  device.Copy(kDeviceToDevice, b.data() + 1, a.data() + 9, 20, stream.handle());
  device.Copy(kDeviceToHost, seen.data(), b.data(), kBytes, stream.handle());
  stream.Synchronize();
  for (std::size_t i = 0; i < kBytes; ++i) {
    const int expected = i >= 2 && i < 7 ? 1 : i >= 12 && i < 15 ? 2 : 0;
    CHECK(std::to_integer<int>(seen.data()[i]) == expected);
  }
}

TEST_CASE("Pageable host memory can be copied from and to") {
  World world;
  const Stream stream(world.device());
  const Block block(kDevice, kBytes, stream);
  std::vector<char> source(kBytes, 'x'), seen(kBytes, ' ');
  world.device().Copy(kHostToDevice, block.data(), source.data(), kBytes, stream.handle());
  world.device().Copy(kDeviceToHost, seen.data(), block.data(), kBytes, stream.handle());
  stream.Synchronize();
  CHECK(seen == source);
}

TEST_CASE("Memory that a driver has not pinned is pageable, where there is one that can tell") {
  World world;
  Device& device = world.device();
  const Block pinned(kPinnedHost, kBytes, world.main());
  CHECK_FALSE(device.Pageable(pinned.data()));
  CHECK_FALSE(device.Pageable(pinned.data() + kBytes - 1));
  const std::vector<char> pageable(kBytes);
  CHECK(device.Pageable(pageable.data()) == (device.properties().backend != "host"));
}

TEST_CASE("Device memory comes and goes in its stream's order") {
  World world;
  const Stream stream(world.device());
  const Block first(kPinnedHost, kBytes, stream), second(kPinnedHost, kBytes, stream);
  for (const auto& [seen, value] : {std::pair(&first, 1), std::pair(&second, 2)}) {
    const Block brief(kDevice, kBytes, stream);
    Fill(stream, brief, value);
    Copy(stream, kDeviceToHost, *seen, brief);
  }
  stream.Synchronize();
  CHECK(Holds(first, 1));
  CHECK(Holds(second, 2));
}

TEST_CASE("A block freed on one stream is nobody else's before its work is done") {
  World world;
  std::vector<Stream> streams;
  for (int i = 0; i < 4; ++i) streams.emplace_back(world.device());
  std::list<Block> seen;
  int value = 0;
  for (int round = 0; round < 6; ++round) {
    for (const Stream& stream : streams) {
      seen.emplace_back(kPinnedHost, kBytes, stream);
      const Block brief(kDevice, kBytes, stream);
      Fill(stream, brief, ++value);
      Copy(stream, kDeviceToHost, seen.back(), brief);
    }
  }
  for (auto stream = streams.rbegin(); stream != streams.rend(); ++stream) stream->Synchronize();
  int expected = 0;
  for (const Block& block : seen) CHECK(Holds(block, ++expected));
}

TEST_CASE("A block freed on a stream that is gone is nobody else's before its work is done") {
  World world;
  const Stream last(world.device());
  std::list<Block> seen;
  for (int value = 1; value <= 8; ++value) {
    const Stream brief(world.device());
    seen.emplace_back(kPinnedHost, kBytes, last);
    const Block block(kDevice, kBytes, brief);
    Fill(brief, block, value);
    Copy(brief, kDeviceToHost, seen.back(), block);
  }
  const Block block(kDevice, kBytes, last);
  Fill(last, block, 99);
  last.Synchronize();
  world.Drain();
  int expected = 0;
  for (const Block& earlier : seen) CHECK(Holds(earlier, ++expected));
}

TEST_CASE("Memory that is freed while another stream still waits for it comes back whole") {
  World world;
  const Stream writer(world.device()), reader(world.device());
  const Block seen(kPinnedHost, kBytes, reader);
  {
    const Block block(kDevice, kBytes, reader);  // so that it is freed in the reader's order
    Event(reader).StreamWait(writer);
    Fill(writer, block, 1);
    Event(writer).StreamWait(reader);
    Copy(reader, kDeviceToHost, seen, block);
  }
  const Block next(kDevice, kBytes, writer);
  Fill(writer, next, 2);
  writer.Synchronize();
  reader.Synchronize();
  CHECK(Holds(seen, 1));
}

TEST_CASE("More memory than there can be is OutOfMemory, and the device stays usable") {
  World world;
  for (const MemoryKind kind : {kDevice, kPinnedHost, kManaged}) {
    if (kind == kManaged && !world.simulated()) continue;  // some drivers hang
    for (const std::size_t bytes : {std::numeric_limits<std::size_t>::max(),
                                    std::numeric_limits<std::size_t>::max() / 2, std::size_t{1} << 50}) {
      try {
        world.device().Allocate(kind, bytes, world.main().handle());
        FAIL("allocated " << bytes << " bytes");
      } catch (const OutOfMemory& error) {
        CHECK(error.bytes() >= bytes);
      }
    }
    const Block block(kind, kBytes, world.main());
    if (kind != kPinnedHost) Fill(world.main(), block, 1);
    world.main().Synchronize();
  }
}

TEST_CASE("Threads with a stream each do not disturb each other") {
  World world;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      const Stream stream(world.device());
      for (int round = 0; round < 20; ++round) {
        const int value = thread * 20 + round;
        const Block seen(kPinnedHost, kBytes, stream), block(kDevice, kBytes, stream);
        Fill(stream, block, value);
        Copy(stream, kDeviceToHost, seen, block);
        Event(stream).HostWait();
        if (!Holds(seen, value)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("A thread can wait for an event that another recorded") {
  World world;
  const Stream stream(world.device());
  const Block block(kDevice, kBytes, stream), seen(kPinnedHost, kBytes, stream);
  Fill(stream, block, 3);
  Copy(stream, kDeviceToHost, seen, block);
  const Event done(stream);
  bool right = false;
  std::thread([&] {
    done.HostWait();
    right = Holds(seen, 3);
  }).join();
  CHECK(right);
}
