// SPDX-License-Identifier: BSD-2-Clause
// Random traces of accesses of ranges, in three spaces on three streams each: the bytes that move are those
// that must, and neighbours of one source move in one copy.
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "ferry/synced_memory.hpp"
#include "tests/property/clock_model.hpp"
#include "tests/property/necessary.hpp"
#include "tests/property/scale.hpp"

namespace ferry::testing {
namespace {

constexpr std::size_t kTraceSize = 32;
constexpr int kTraceSteps = 60, kWalks = 20000;

class Trace {
 public:
  enum class Second : std::uint8_t { kPeer, kApart, kOfAnotherBackend };

  explicit Trace(Second second) : kind_(second) {}

  void Run(std::mt19937& random) {
    machine_.Reset();
    model_.Reset();
    Necessary necessary(kTraceSize, kind_ == Second::kPeer ? Necessary::Peers::kYes : Necessary::Peers::kNo);
    {
      SyncedMemory memory(kTraceSize, first_);
      for (int step = 0; step < kTraceSteps; ++step) {
        const ByteRange range = Draw(random);
        const auto space = static_cast<unsigned>(random() % 3);
        const std::size_t queue = random() % 3;
        const auto access = static_cast<Access>(random() % 3);
        const std::vector<Stream>& streams = space == 2 ? of_second_ : of_first_;
        model_.Use(memory, range, access, space == 0 ? nullptr : &streams[queue]);
        necessary.Access(range, space, access);
      }
    }
    REQUIRE(machine_.wrong == "");
    REQUIRE(machine_.idle());
    REQUIRE(machine_.copied == necessary.bytes());
    REQUIRE(machine_.copies <= necessary.runs());
    moved += machine_.copied;
  }

  std::size_t moved = 0;  ///< in bytes

 private:
  /// Ends that meet, as those of slices do, and others.
  static ByteRange Draw(std::mt19937& random) {
    std::size_t first = random() % kTraceSize, last = first + 1 + random() % (kTraceSize - first);
    if (random() % 2 == 0) first &= ~std::size_t{7}, last = (last + 7) & ~std::size_t{7};
    return {first, last - first};
  }
  /// By index; those of another backend mean nothing.
  std::vector<int> PeersOf(int other) const {
    return kind_ == Second::kApart ? std::vector<int>{} : std::vector<int>{other};
  }

  const Second kind_;
  ClockMachine machine_{kTraceSize};
  ClockDevice first_{machine_, 0, 0, PeersOf(1)};
  ClockDevice second_{machine_, kind_ == Second::kOfAnotherBackend ? 1 : 0, 1, PeersOf(0)};
  const std::vector<Stream> of_first_{Stream::Main(first_), Stream(first_), Stream(first_)};
  const std::vector<Stream> of_second_{Stream::Main(second_), Stream(second_), Stream(second_)};
  ClockModel model_{machine_, kTraceSize};
};

void RunAll(Trace::Second second) {
  std::mt19937 random(3 + static_cast<unsigned>(second));
  Trace trace(second);
  const int walks = static_cast<int>(kWalks * Scale());
  for (int walk = 0; walk < walks; ++walk) {
    CAPTURE(walk);
    trace.Run(random);
  }
  CHECK(trace.moved > 0);
  std::printf("%d traces of %d accesses, of %d, moved %zu bytes\n", walks, kTraceSteps, kWalks, trace.moved);
}

TEST_CASE("between devices that reach each other no byte moves in vain, and neighbours move at once") {
  RunAll(Trace::Second::kPeer);
}
TEST_CASE("between devices that do not reach each other no byte moves in vain, and neighbours move at once") {
  RunAll(Trace::Second::kApart);
}
TEST_CASE("between devices of two backends no byte moves in vain, and neighbours move at once") {
  RunAll(Trace::Second::kOfAnotherBackend);
}

}  // namespace
}  // namespace ferry::testing
