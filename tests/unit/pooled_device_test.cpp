// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/pooled_device.hpp"

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <optional>
#include <set>
#include <thread>

#include "tests/unit/probe_device.hpp"

using namespace ferry;
using ferry::testing::ProbeDevice;
using enum MemoryKind;
using Calls = std::vector<std::string>;

namespace {

constexpr StreamHandle kMain{1}, kA{7}, kB{8};

/// A pool over a probe, and the pool alone.
struct Pool {
  Pool() { device.emplace(std::unique_ptr<Device>(probe_owner.release())); }
  std::unique_ptr<ProbeDevice> probe_owner = std::make_unique<ProbeDevice>();
  ProbeDevice& probe = *probe_owner;
  std::optional<PooledDevice> device;

  void* Take(MemoryKind kind, std::size_t bytes, StreamHandle on = kA) {
    return device->Allocate(kind, bytes, on);
  }
  void Give(MemoryKind kind, void* ptr, std::size_t bytes, StreamHandle on = kA) {
    device->Deallocate(kind, ptr, bytes, on);
  }
};

std::string Number(StreamHandle stream) { return std::to_string(static_cast<std::uintptr_t>(stream)); }

}  // namespace

TEST_CASE("The pool hands a freed block out again without a call to the next device") {
  Pool pool;
  void* const first = pool.Take(kManaged, 1000);
  pool.Give(kManaged, first, 1000);
  pool.probe.calls.clear();
  void* const second = pool.Take(kManaged, 1010);
  CHECK(second == first);
  CHECK(pool.probe.calls.empty());
  pool.Give(kManaged, second, 1010);
}

TEST_CASE("The pool wastes at most one eighth above 2 KiB, and less than 256 bytes below") {
  std::size_t classes = 0, previous = 0;
  for (std::size_t bytes = 1; bytes < 300'000; bytes += bytes < 5000 ? 1 : 37) {
    Pool pool;
    void* const block = pool.Take(kDevice, bytes);
    const std::size_t rounded = pool.probe.live;
    if (rounded < bytes || rounded < previous) FAIL(bytes << " became " << rounded);
    if (bytes <= 2048 ? rounded - bytes >= 256 : 8 * (rounded - bytes) > bytes)
      FAIL(bytes << " became " << rounded);
    pool.Give(kDevice, block, bytes);
    void* const again = pool.Take(kDevice, rounded);
    if (again != block) FAIL(rounded << " bytes are not of the class of " << bytes);
    pool.Give(kDevice, again, rounded);
    classes += rounded != previous;
    previous = rounded;
  }
  CHECK(classes < 75);
}

TEST_CASE("Of the free blocks of a stream, the newest is handed out first") {
  for (const MemoryKind kind : {kDevice, kPinnedHost, kManaged}) {
    Pool pool;
    void* const blocks[] = {pool.Take(kind, 1000), pool.Take(kind, 1000), pool.Take(kind, 1000)};
    for (void* const block : blocks) pool.Give(kind, block, 1000);
    void* const first = pool.Take(kind, 1000);
    CHECK(first == blocks[2]);
    void* const second = pool.Take(kind, 1000);
    CHECK(second == blocks[1]);
    for (void* const block : {first, second}) pool.Give(kind, block, 1000);
  }
}

TEST_CASE("The pool keeps the kinds of memory apart") {
  Pool pool;
  std::set<void*> blocks;
  for (const MemoryKind kind : {kDevice, kPinnedHost, kManaged}) {
    void* const block = pool.Take(kind, 64);
    pool.Give(kind, block, 64);
    blocks.insert(block);
  }
  CHECK(blocks.size() == 3);
}

TEST_CASE(
    "A block freed on a borrowed stream is recorded at once and waited for by its next owner's stream") {
  Pool pool;
  void* const block = pool.Take(kDevice, 64, kA);
  pool.probe.calls.clear();
  pool.Give(kDevice, block, 64, kA);
  CHECK(pool.probe.calls == Calls{"Record 7"});
  pool.probe.calls.clear();
  CHECK(pool.Take(kDevice, 64, kB) == block);
  CHECK(pool.probe.calls == Calls{"StreamWait 8", "Release"});
  pool.Give(kDevice, block, 64, kB);
}

TEST_CASE("A stream's own block comes back to it without a call, though others lie free") {
  Pool pool;
  const StreamHandle a = pool.device->CreateStream(), b = pool.device->CreateStream();
  void* const its = pool.Take(kDevice, 64, a);
  void* const others = pool.Take(kDevice, 64, b);
  pool.Give(kDevice, its, 64, a);
  pool.Give(kDevice, others, 64, b);
  pool.probe.calls.clear();
  CHECK(pool.Take(kDevice, 64, a) == its);
  CHECK(pool.probe.calls.empty());
  CHECK(pool.Take(kDevice, 64, a) == others);
  CHECK(pool.probe.calls == Calls{"Record " + Number(b), "StreamWait " + Number(a), "Release"});
  pool.Give(kDevice, its, 64, kMain);
  pool.probe.calls.clear();
  CHECK(pool.Take(kDevice, 64, kMain) == its);
  CHECK(pool.probe.calls.empty());
  pool.Give(kDevice, its, 64, a);
  pool.Give(kDevice, others, 64, a);
  pool.device->DestroyStream(a);
  pool.device->DestroyStream(b);
}

TEST_CASE("The end of a stream is recorded once for all the blocks that were freed on it") {
  Pool pool;
  const StreamHandle a = pool.device->CreateStream();
  void* const small = pool.Take(kDevice, 64, a);
  void* const large = pool.Take(kDevice, 5000, a);
  pool.Give(kDevice, small, 64, a);
  pool.Give(kDevice, large, 5000, a);
  pool.probe.calls.clear();
  pool.device->DestroyStream(a);
  CHECK(pool.probe.calls == Calls{"Record " + Number(a), "DestroyStream " + Number(a)});
  pool.probe.calls.clear();
  CHECK(pool.Take(kDevice, 64, kB) == small);
  CHECK(pool.Take(kDevice, 5000, kB) == large);
  CHECK(pool.probe.calls == Calls{"StreamWait 8", "StreamWait 8", "Release"});
  pool.Give(kDevice, small, 64, kB);
  pool.Give(kDevice, large, 5000, kB);
}

TEST_CASE("What a stream that ends can't be asked for goes back in its order before it ends") {
  Pool pool;
  const StreamHandle a = pool.device->CreateStream();
  pool.Give(kDevice, pool.Take(kDevice, 64, a), 64, a);
  pool.probe.failing = "Record";
  pool.probe.calls.clear();
  pool.device->DestroyStream(a);
  CHECK(pool.probe.calls ==
        Calls{"Record " + Number(a), "Deallocate " + Number(a), "DestroyStream " + Number(a)});
  CHECK(pool.probe.live == 0);
}

TEST_CASE("Blocks of a stream that can't be asked stay free, and a new one takes their place") {
  Pool pool;
  const StreamHandle a = pool.device->CreateStream();
  void* const its = pool.Take(kDevice, 64, a);
  pool.Give(kDevice, its, 64, a);
  pool.probe.failing = "Record";
  void* const other = pool.Take(kDevice, 64, kMain);
  CHECK(other != its);
  pool.device->Trim();  // in the order of the stream itself
  CHECK(pool.probe.calls == Calls{"Allocate " + Number(a), "Record " + Number(a), "Allocate 1",
                                  "Record " + Number(a), "Deallocate " + Number(a), "Synchronize 1", "Trim"});
  pool.probe.failing.clear();
  pool.Give(kDevice, other, 64, kMain);
  pool.device->DestroyStream(a);
}

TEST_CASE("What fits without a pool fits with it") {
  Pool pool;
  pool.probe.room = std::size_t{70} << 20;
  constexpr std::size_t kMost = std::size_t{66} << 20;
  for (const MemoryKind kind : {kDevice, kPinnedHost, kManaged}) {
    void* const block = pool.Take(kind, kMost);
    CHECK(pool.probe.live == kMost);
    pool.Give(kind, block, kMost);
    CHECK(pool.probe.live == 0);  // not kept: it is of no class' size
  }
}

TEST_CASE("An abandoned block is passed on as large as it is") {
  Pool pool;
  void* const block = pool.Take(kDevice, 65);
  pool.device->Abandon(kDevice, block, 65, std::vector{kA, kB});
  CHECK(pool.probe.live == 0);
}

TEST_CASE("Pooled memory of the other kinds is idle, and needs no event") {
  Pool pool;
  for (const MemoryKind kind : {kPinnedHost, kManaged}) {
    void* const block = pool.Take(kind, 64);
    pool.probe.calls.clear();
    pool.Give(kind, block, 64);
    pool.Give(kind, pool.Take(kind, 64), 64);
    CHECK(pool.probe.calls.empty());
  }
}

TEST_CASE("A block whose event cannot be recorded is passed on in its stream's order") {
  Pool pool;
  void* const block = pool.Take(kDevice, 64);
  pool.probe.calls.clear();
  pool.probe.failing = "Record";
  pool.Give(kDevice, block, 64, kA);
  CHECK(pool.probe.calls == Calls{"Record 7", "Deallocate 7"});
  CHECK(pool.probe.live == 0);
}

TEST_CASE("A block that cannot be waited for stays in the pool, and a new one takes its place") {
  Pool pool;
  void* const block = pool.Take(kDevice, 64);
  pool.Give(kDevice, block, 64);
  pool.probe.failing = "StreamWait";
  void* const other = pool.Take(kDevice, 64);
  CHECK(other != block);
  CHECK(pool.probe.events == 1);
  pool.probe.failing.clear();
  pool.probe.calls.clear();
  CHECK(pool.Take(kDevice, 64, kB) == block);
  CHECK(pool.probe.calls == Calls{"StreamWait 8", "Release"});
  pool.Give(kDevice, block, 64);
  pool.Give(kDevice, other, 64);
}

TEST_CASE("Where memory runs out, the pool gives back what it keeps, waits and tries again") {
  Pool pool;
  pool.probe.room = 4096;
  void* const small = pool.Take(kDevice, 1024);
  void* const pinned = pool.Take(kPinnedHost, 1024);
  pool.Give(kDevice, small, 1024, kA);
  pool.Give(kPinnedHost, pinned, 1024);
  pool.probe.calls.clear();
  void* const large = pool.Take(kDevice, 4096, kB);
  CHECK(pool.probe.calls == Calls{"Allocate 8", "StreamWait 1", "Deallocate 1", "Release", "Deallocate 1",
                                  "Synchronize 1", "Trim", "Allocate 8"});
  pool.Give(kDevice, large, 4096);
}

TEST_CASE("What does not fit at all is OutOfMemory, and later a smaller one fits") {
  Pool pool;
  pool.probe.room = 4096;
  try {
    pool.Take(kDevice, 8190);
    FAIL("allocated");
  } catch (const OutOfMemory& error) {
    CHECK(error.bytes() == 8190);  // what was asked for, not what the pool rounds it to
  }
  CHECK(pool.probe.live == 0);
  pool.Give(kDevice, pool.Take(kDevice, 4096), 4096);
}

TEST_CASE("More than the largest class passes through the pool as it is") {
  Pool pool;
  for (const std::size_t bytes : {(std::size_t{1} << 51) + 1, std::numeric_limits<std::size_t>::max()}) {
    try {
      pool.Take(kDevice, bytes);
      FAIL("allocated " << bytes);
    } catch (const OutOfMemory& error) {
      CHECK(error.bytes() == bytes);
    }
  }
}

TEST_CASE("Trim gives back all that the pool keeps") {
  Pool pool;
  for (const MemoryKind kind : {kDevice, kPinnedHost, kManaged})
    for (const std::size_t bytes : {1U, 300U, 5000U, 1U << 20})
      pool.Give(kind, pool.Take(kind, bytes), bytes);
  CHECK(pool.probe.live > 0);
  pool.device->Trim();
  CHECK(pool.probe.live == 0);
  CHECK(pool.probe.events == 0);
  CHECK(pool.probe.calls.back() == "Trim");
}

TEST_CASE("What the main stream cannot wait for, the host waits for before it is given back") {
  Pool pool;
  pool.Give(kDevice, pool.Take(kDevice, 64), 64);
  pool.probe.calls.clear();
  pool.probe.failing = "StreamWait";
  pool.device->Trim();
  CHECK(pool.probe.calls ==
        Calls{"StreamWait 1", "HostWait", "Deallocate 1", "Release", "Synchronize 1", "Trim"});
}

namespace {

/// Tells what the pool did last, though the pool owns it and goes before it could be asked.
class LastWords final : public ForwardingDevice {
 public:
  explicit LastWords(Calls& heard) : ForwardingDevice(std::make_unique<ProbeDevice>()), heard_(heard) {}
  ~LastWords() override { heard_ = static_cast<ProbeDevice&>(next()).calls; }

 private:
  Calls& heard_;
};

}  // namespace

TEST_CASE("The end of a pool gives back its blocks after their work") {
  Calls heard;
  {
    PooledDevice pool(std::make_unique<LastWords>(heard));
    pool.Deallocate(kDevice, pool.Allocate(kDevice, 64, kA), 64, kA);
  }
  CHECK(heard == Calls{"Allocate 7", "Record 7", "StreamWait 1", "Deallocate 1", "Release"});
}

TEST_CASE("Threads that share a pool never share a block") {
  PooledDevice pool(std::make_unique<host::HostDevice>());
  std::atomic<int> shared{0};
  std::vector<std::thread> threads;
  for (int thread = 1; thread <= 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < 3000; ++round) {
        auto* const block = static_cast<unsigned char*>(pool.Allocate(kDevice, 64, kMain));
        std::memset(block, thread, 64);
        if (round % 8 == 0) std::this_thread::yield();
        for (int i = 0; i < 64; ++i) shared += block[i] != thread;
        pool.Deallocate(kDevice, block, 64, kMain);
        if (round % 500 == 0) pool.Trim();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(shared == 0);
}
