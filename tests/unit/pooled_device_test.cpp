// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/pooled_device.hpp"

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <limits>
#include <set>
#include <thread>

#include "tests/sanitized.hpp"
#include "tests/unit/pool_fixture.hpp"

using namespace ferry;
using namespace ferry::testing;

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
  constexpr std::size_t kStep = kSanitized ? 7 : 1;
  std::size_t classes = 0, previous = 0;
  for (std::size_t bytes = 1; bytes < 300'000; bytes += bytes < 5000 ? kStep : 97 * kStep) {
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

TEST_CASE("What no stream can wait for, the host waits for before it is given back") {
  Pool pool;
  pool.Give(kDevice, pool.Take(kDevice, 64), 64);
  pool.probe.calls.clear();
  pool.probe.failing = "StreamWait";
  pool.device->Trim();
  const std::string own = pool.probe.calls.at(1).substr(sizeof "StreamWait");
  CHECK(pool.probe.calls == Calls{"StreamWait 1", "StreamWait " + own, "HostWait", "Deallocate 1",
                                  "DestroyStream " + own, "Release", "Synchronize 1", "Trim"});
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
