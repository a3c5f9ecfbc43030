// SPDX-License-Identifier: BSD-2-Clause
// Which stream gets which of the pool's blocks, and who waits for whom.
#include <catch2/catch_test_macros.hpp>

#include "tests/unit/pool_fixture.hpp"

using namespace ferry;
using namespace ferry::testing;

TEST_CASE("A stream's own block comes back to it without a call, though others lie free") {
  Pool pool;
  const StreamHandle a = pool.device->CreateStream(), b = pool.device->CreateStream();
  void* const its = pool.Take(kDevice, 64, a);
  void* const others = pool.Take(kDevice, 64, b);
  pool.Give(kDevice, others, 64, b);
  pool.Give(kDevice, its, 64, a);
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
