// SPDX-License-Identifier: BSD-2-Clause
// Concurrent const accesses, and others of disjoint parts; ThreadSanitizer looks on where the build has it.
#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstring>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "ferry/backend.hpp"
#include "scale.hpp"
#include "world.hpp"

namespace ferry::testing {
namespace {

constexpr std::size_t kBytes = 16, kKept = 5;

/// Host readers, readers on two streams, two for each, and a prefetch to either side, over bytes that one
/// writer left and over the tail that was added to them. The two on the main stream take no lock where they
/// find the bytes in place.
class Readers {
 public:
  Readers(const SyncedMemory& memory, Device& device, std::uint8_t written, std::size_t kept)
      : memory_(memory), main_(Stream::Main(device)), side_(device) {
    std::memset(expected_, written, kept);
    std::memset(expected_ + kept, 0, kBytes - kept);
  }

  /// Whether all that was read was right.
  bool Run() {
    std::vector<std::thread> threads;
    for (int number = 0; number < 8; ++number) threads.emplace_back([this, number] { Read(number); });
    for (auto& thread : threads) thread.join();
    sim::Drain();
    return right_;
  }
  /// How many readers gave up.
  int failed() const { return failed_; }

 private:
  void Read(int number) try {
    for (int again = 0; again < 3; ++again) {
      if ((number == 4 || number == 5) && again == 0)
        memory_.Prefetch(number == 4 ? Side::kCpu : Side::kGpu, side_);
      if (number % 2 == 0) {
        Check(memory_.cpu_data());
        continue;
      }
      const Stream& on = number == 1 || number == 7 ? main_ : side_;
      const void* const ptr = memory_.gpu_data(on);
      sim::Launch(on, {ptr}, [this, ptr] { Check(ptr); });
    }
  } catch (const std::exception&) {
    ++failed_;
  }
  void Check(const void* ptr) {
    if (std::memcmp(ptr, expected_, kBytes) != 0) right_ = false;
  }

  const SyncedMemory& memory_;
  const Stream main_, side_;
  std::uint8_t expected_[kBytes];
  std::atomic<bool> right_{true};
  std::atomic<int> failed_{0};
};

void Write(SyncedMemory& memory, Side side, const Stream& on, std::uint8_t value) {
  if (side == Side::kCpu) {
    std::memset(memory.overwrite_cpu_data(), value, memory.size());
    return;
  }
  void* const ptr = memory.overwrite_gpu_data(on);
  sim::Launch(on, {ptr}, [ptr, value, size = memory.size()] { std::memset(ptr, value, size); });
}

TEST_CASE("concurrent readers see current bytes, and make one copy between them") {
  const int rounds = static_cast<int>(300 * std::max(Scale(), 0.2));
  for (int round = 0; round < rounds; ++round) {
    INFO("round " << round);
    const bool unified = round % 3 == 0, grown = round % 2 == 0;
    sim::Reset({.seed = static_cast<std::uint64_t>(round), .unified = unified});
    {
      Watch device(MakeSim(round % 5 == 0));
      const Stream writer(device);
      SyncedMemory memory(kBytes, device);
      for (std::uint8_t value = 1; value <= 4; ++value) {
        Write(memory, (value + round) % 4 < 2 ? Side::kCpu : Side::kGpu, writer, value);
        if (grown) memory.Resize(kKept), memory.Resize(kBytes);
        const long copies = device.copies;
        Readers readers(memory, device, value, grown ? kKept : kBytes);
        REQUIRE(readers.Run());
        REQUIRE(readers.failed() == 0);
        // Zeros that one side has written are bytes that the other one lacks.
        REQUIRE(device.copies - copies <= (unified ? 0 : grown ? 2 : 1));
      }
    }
    REQUIRE(Complaint() == "");
  }
}

TEST_CASE("concurrent readers of bytes that nobody wrote see zeros") {
  for (int round = 0; round < 40; ++round) {
    sim::Reset({.seed = static_cast<std::uint64_t>(round), .unified = round % 2 == 0});
    {
      const auto device = MakeSim();
      SyncedMemory memory(kBytes, *device);
      Readers readers(memory, *device, 0, kBytes);
      REQUIRE(readers.Run());
      REQUIRE(readers.failed() == 0);
    }
    REQUIRE(Complaint() == "");
  }
}

/// Readers at once of bytes that are on one side, while the n-th call of the runtime fails. Returns how many
/// calls there were before the readers, and how many of those gave up.
std::pair<long, int> ReadWhileOneFails(const sim::Options& options, Side side) {
  sim::Reset(options);
  std::pair<long, int> result;
  {
    const auto device = MakeSim();
    const Stream writer(*device);
    SyncedMemory memory(kBytes, *device);
    Write(memory, side, writer, 7);
    Readers readers(memory, *device, 7, kBytes);
    result.first = sim::Inspect().calls;
    CHECK(readers.Run());
    result.second = readers.failed();
    const auto last = [&]() -> const void* {
      try {
        return memory.cpu_data();
      } catch (const std::exception&) {  // the readers made fewer calls
        return memory.cpu_data();
      }
    };
    CHECK(static_cast<const std::uint8_t*>(last())[kBytes - 1] == 7);
  }
  CHECK(Complaint() == "");
  return result;
}

TEST_CASE("where one of several readers fails the others see current bytes, and all do afterwards") {
  int failed = 0;
  for (const Side side : {Side::kCpu, Side::kGpu})
    for (const bool unified : {false, true})
      for (const bool late : {false, true})
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
          sim::Options options{.seed = seed, .unified = unified, .fail_late = late};
          const long before = ReadWhileOneFails(options, side).first;
          for (long nth = 1; nth <= 16; ++nth) {
            options.fail_at = before + nth;
            INFO("side " << Name(side) << ", unified " << unified << ", late " << late << ", call " << nth);
            failed += ReadWhileOneFails(options, side).second;
          }
        }
  CHECK(failed > 20);
}

/// The kernel that the host reader waits for ends only when the other reader has its pointer: so it must not
/// run before.
TEST_CASE("a host reader that waits blocks no other reader") {
  for (const bool unified : {false, true}) {
    sim::Reset({.seed = 1, .order = sim::Order::kLate, .unified = unified});
    std::atomic<bool> started{false}, passed{false};
    {
      const auto device = MakeSim();
      const Stream side(*device);
      SyncedMemory memory(kBytes, *device);
      void* const ptr = memory.overwrite_gpu_data(side);
      sim::Launch(side, {ptr}, [&] {
        started = true;
        for (int ms = 0; ms < 5000 && !passed; ++ms)
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (!passed) throw std::runtime_error("the other reader did not pass");
      });
      (void)memory.gpu_data();
      std::thread host([&] {
        try {
          (void)memory.cpu_data();
        } catch (const std::exception&) {  // the kernel's error, reported below
        }
      });
      while (!started) std::this_thread::yield();
      (void)memory.gpu_data(side);  // the slow path: another stream was last
      passed = true;
      host.join();
    }
    CHECK(Complaint() == "");
  }
}

constexpr std::size_t kPart = 8, kWriters = 4, kParts = kWriters + 2;

/// Each thread writes a part of one memory, on the host, on streams of its device and on one of a second
/// device, and reads the parts that nobody writes.
class Writers {
 public:
  Writers(SyncedMemory& memory, Device& own, Device& second)
      : memory_(memory), streams_{Stream::Main(own), Stream(own), Stream(second), Stream::Main(second)} {}

  bool Run(std::uint64_t seed) {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < kWriters; ++i)
      threads.emplace_back([this, i, seed] {
        try {
          Write(i, seed);
        } catch (const std::exception&) {
          right_ = false;
        }
      });
    for (auto& thread : threads) thread.join();
    sim::Drain();
    return right_;
  }
  /// What the part must hold.
  std::uint8_t written(std::size_t part) const { return written_[part]; }
  void SetAll(std::uint8_t value) { std::fill(std::begin(written_), std::end(written_), value); }

 private:
  void Write(std::size_t part, std::uint64_t seed) {
    std::mt19937 random(static_cast<unsigned>(seed * kWriters + part));
    for (int step = 0; step < 6; ++step) {
      const auto place = random() % (streams_.size() + 1);
      const Stream* const on = place == streams_.size() ? nullptr : &streams_[place];
      const std::size_t other = kWriters + random() % 2;
      switch (random() % 3) {
        case 0:
          Use(on, Ask(Access::kRead, other, on), other, written_[other], false);
          break;
        case 1:
          Use(on, Ask(Access::kReadWrite, part, on), part, written_[part], true);
          break;
        default:
          Use(on, Ask(Access::kOverwrite, part, on), part, std::nullopt, true);
      }
    }
  }
  std::uint8_t* Ask(Access access, std::size_t part, const Stream* on) {
    const ByteRange range{part * kPart, kPart};
    if (access == Access::kRead) {
      const SyncedMemory& memory = memory_;
      const void* const ptr = on == nullptr ? memory.cpu_data(range) : memory.gpu_data(range, *on);
      return static_cast<std::uint8_t*>(const_cast<void*>(ptr));
    }
    const bool all = access == Access::kOverwrite;
    if (on == nullptr)
      return static_cast<std::uint8_t*>(all ? memory_.overwrite_cpu_data(range)
                                            : memory_.mutable_cpu_data(range));
    return static_cast<std::uint8_t*>(all ? memory_.overwrite_gpu_data(range, *on)
                                          : memory_.mutable_gpu_data(range, *on));
  }
  void Use(const Stream* on, std::uint8_t* ptr, std::size_t part, std::optional<std::uint8_t> expected,
           bool writes) {
    const auto value = static_cast<std::uint8_t>(writes ? written_[part] + 1 : 0);
    const auto work = [this, ptr, expected, writes, value] {
      if (expected && std::any_of(ptr, ptr + kPart, [&](std::uint8_t byte) { return byte != *expected; }))
        right_ = false;
      if (writes) std::memset(ptr, value, kPart);
    };
    if (writes) written_[part] = value;
    constexpr auto kCount = static_cast<std::int64_t>(kPart);
    const Touch touch = writes ? Touch(ptr, kCount) : Touch(static_cast<const std::uint8_t*>(ptr), kCount);
    on == nullptr ? work() : sim::Launch(*on, {touch}, work);
  }

  SyncedMemory& memory_;
  const std::array<Stream, 4> streams_;
  std::uint8_t written_[kParts] = {};
  std::atomic<bool> right_{true};
};

TEST_CASE("threads may write disjoint parts of one memory at once, and read those that nobody writes") {
  const int rounds = static_cast<int>(300 * std::max(Scale(), 0.2));
  for (int round = 0; round < rounds; ++round) {
    INFO("round " << round);
    const auto seed = static_cast<std::uint64_t>(round);
    sim::Reset(
        {.seed = seed, .devices = 2, .unified_devices = round % 3 == 0 ? 1 : 0, .peers = round % 2 == 0});
    {
      const auto own = MakeDevice("sim:0"), second = MakeDevice("sim:1");
      SyncedMemory memory(kParts * kPart, *own);
      Writers writers(memory, *own, *second);
      if (round % 4 != 0) {
        // Else the first that is known of it is told by several threads at once.
        Write(memory, round % 4 == 1 ? Side::kCpu : Side::kGpu, Stream::Main(*own), 7);
        writers.SetAll(7);
      }
      REQUIRE(writers.Run(seed));
      const auto* const bytes = static_cast<const std::uint8_t*>(memory.cpu_data());
      for (std::size_t i = 0; i < memory.size(); ++i) REQUIRE(bytes[i] == writers.written(i / kPart));
    }
    REQUIRE(Complaint() == "");
  }
}

}  // namespace
}  // namespace ferry::testing
