// SPDX-License-Identifier: BSD-2-Clause
// Each allocation of host memory that Ferry makes in a short sequence fails once.
#include "tests/property/host_memory.hpp"

#include <catch2/catch_test_macros.hpp>
#include <utility>

#include "ferry/detail/take.hpp"
#include "sequences.hpp"

namespace ferry::testing {
namespace {

/// The access is made again or given up. Returns how many allocations there are.
long EachAllocationFails(World::Options options, const std::vector<Step>& steps) {
  options.make = MakeShielded;
  long last = 1;
  for (const bool again : {false, true}) {
    options.again = again;
    for (long nth = 1; nth <= last; ++nth) {
      allocations = 0;
      fails_at = nth;
      const auto wrong = Run(options, steps);
      fails_at = 0;
      if (!wrong.empty())
        FAIL(wrong << ", allocation " << nth << (again ? ", again" : "")
                   << (options.machine.unified ? ", unified" : "") << ", seed " << options.machine.seed
                   << '\n'
                   << Describe(steps));
      last = allocations;
    }
  }
  return last;
}

void AllSequences(std::size_t length, bool stacked) {
  for (const bool unified : {false, true}) {
    long failed = 0;
    const auto ran = EachSequenceOn(unified, stacked, length, [&](const auto& options, const auto& steps) {
      failed += EachAllocationFails(options, steps);
    });
    CHECK(failed > static_cast<long>(ran));
  }
}

TEST_CASE("no host memory at any point loses no side, no byte and no resource") {
  for (std::size_t length = 1; length <= 3; ++length) AllSequences(length, false);
}

TEST_CASE("no host memory at any point in the adaptors loses no side, no byte and no resource") {
  for (std::size_t length = 1; length <= 2; ++length) AllSequences(length, true);
}

TEST_CASE("no host memory while streams are folded, bytes adopted, copied and resized loses nothing") {
  for (const bool unified : {false, true})
    for (const bool late_kernels : {false, true})
      CHECK(EachAllocationFails(
                {.machine = {.seed = 5, .unified = unified}, .memories = 2, .late_kernels = late_kernels},
                Eventful()) > 20);
}

TEST_CASE("no host memory in a call whose operands cut each other's bytes loses nothing") {
  ForEachFailedAllocation([](const auto& happens) {
    sim::Reset({.order = sim::Order::kLate});
    const auto device = MakeShielded(false);
    const Stream a(*device), b(*device);
    SyncedMemory memory(300, *device);
    void* const written = memory.overwrite_gpu_data(a);
    sim::Launch(a, {written}, [=] { std::memset(written, 3, 300); });
    const detail::Request requests[] = {{&memory, {100, 200}, Access::kRead},
                                        {&memory, {0, 200}, Access::kRead}};
    void* ptrs[2] = {};
    happens([&] { detail::Take(requests, &b, ptrs); });
    detail::Take(requests, &b, ptrs);
    int seen = 0;
    sim::Launch(b, {static_cast<const void*>(ptrs[1])},
                [&, ptr = static_cast<const unsigned char*>(ptrs[1])] { seen = ptr[199]; });
    void* const again = memory.overwrite_gpu_data(a);  // waits for it
    sim::Launch(a, {again}, [=] { std::memset(again, 4, 300); });
    a.Synchronize(), b.Synchronize();
    CHECK(seen == 3);
    CHECK(sim::Inspect().misuse.empty());
  });
}

TEST_CASE("no host memory in a read of parts that several streams have written loses nothing") {
  ForEachFailedAllocation([](const auto& happens) {
    sim::Reset({.order = sim::Order::kLate});
    const auto device = MakeShielded(false);
    const Stream a(*device), b(*device), reader(*device);
    SyncedMemory memory(300, *device);
    for (const auto& [first, on] : {std::pair(0U, &a), std::pair(100U, &b), std::pair(200U, &a)}) {
      auto* const ptr = static_cast<char*>(memory.overwrite_gpu_data({first, 100}, *on));
      sim::Launch(*on, {Touch(ptr, 100)}, [=] { std::memset(ptr, 3, 100); });
    }
    const unsigned char* ptr = nullptr;
    const auto read = [&] { ptr = static_cast<const unsigned char*>(memory.gpu_data(reader)); };
    if (!happens(read)) read();
    int seen = 0;
    sim::Launch(reader, {static_cast<const void*>(ptr)}, [&, ptr] { seen = ptr[299]; });
    reader.Synchronize();
    CHECK(seen == 3);
    CHECK(sim::Inspect().misuse.empty());
  });
}

TEST_CASE("no host memory for a point in a borrowed stream, and the next one is good") {
  ForEachFailedAllocation([](const auto& happens) {
    sim::Reset({.order = sim::Order::kLate, .events_need_stream = true});
    {
      const auto device = MakeSim();
      const StreamHandle handle = sim::CreateBlockingStream(*device);
      const Stream lent = Stream::Borrow(*device, handle);
      happens([&] { const Event point(lent); });
      Event(lent).HostWait();
      device->DestroyStream(handle);
    }
    CHECK(sim::Inspect().leaks.empty());
    CHECK(sim::Inspect().misuse.empty());
  });
}

}  // namespace
}  // namespace ferry::testing
