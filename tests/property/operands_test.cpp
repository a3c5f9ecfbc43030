// SPDX-License-Identifier: BSD-2-Clause
// A call with operands in mixed states, in every order of the operands and at every place, while each of its
// calls of the device and each of its allocations fails once: it takes all of them or none.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ferry/backend.hpp"
#include "ferry/detail/take.hpp"
#include "ferry/error.hpp"
#include "tests/property/host_memory.hpp"
#include "tests/property/scale.hpp"

namespace ferry::testing {
namespace {

constexpr std::size_t kSize = 16, kMemories = 3, kOperands = 5;
using Bytes = std::array<std::uint8_t, kSize>;

struct Part {
  std::size_t memory, first, last;
  Access access;
};
/// Of the first memory all is overwritten, of the second all is read, and the third has one of each.
constexpr std::array<Part, kOperands> kParts{{{0, 0, 16, Access::kOverwrite},
                                              {1, 0, 16, Access::kRead},
                                              {2, 0, 4, Access::kRead},
                                              {2, 4, 12, Access::kReadWrite},
                                              {2, 12, 16, Access::kOverwrite}}};
using Order = std::array<std::size_t, kOperands>;

enum class Fault : std::uint8_t { kCall, kCallLate, kDeviceMemory, kHostMemory };
enum class Place : std::uint8_t { kHost, kMain, kStream, kSecondDevice };

class OperandsWorld {
 public:
  explicit OperandsWorld(const sim::Options& options) {
    sim::Reset(options);
    const auto backends = Backends();
    const auto sim = std::find_if(backends.begin(), backends.end(), [](const Backend& backend) {
      return std::string_view(backend.name) == "sim";
    });
    for (int i = 0; i < 2; ++i) devices_.push_back(std::make_unique<Below>(sim->make(i)));
    streams_ = {Stream::Main(*devices_[0]), Stream(*devices_[0]), Stream(*devices_[1])};
    for (std::size_t i = 0; i < kMemories; ++i) {
      memories_.push_back(std::make_unique<SyncedMemory>(kSize, *devices_[0]));
      Fill(i);
    }
  }
  ~OperandsWorld() {
    memories_.clear();
    streams_.clear();
    devices_.clear();
    CHECK(Complaint() == "");
  }
  OperandsWorld(const OperandsWorld&) = delete;
  OperandsWorld& operator=(const OperandsWorld&) = delete;

  /// Whether all were taken; the work then runs.
  bool Take(const Order& order, Place place) {
    std::array<detail::Request, kOperands> requests{};
    std::array<void*, kOperands> ptrs{};
    for (std::size_t i = 0; i < kOperands; ++i) {
      const Part& part = kParts[order[i]];
      requests[i] = {memories_[part.memory].get(), {part.first, part.last - part.first}, part.access};
    }
    const Stream* const on = place == Place::kHost ? nullptr : &streams_[static_cast<std::size_t>(place) - 1];
    try {
      const InFerry in_ferry;
      detail::Take(requests, on, ptrs);
    } catch (const Error&) {
      return false;
    } catch (const std::bad_alloc&) {
      return false;
    }
    Work(order, ptrs, on);
    return true;
  }
  /// What is only overwritten is untouched, and every space that had bytes has them still: no copy is needed.
  void CheckSpaces() const {
    CHECK(memories_[0]->head() == SyncedMemory::HEAD_AT_CPU);
    const long copies = sim::Inspect().copies;
    for (const std::size_t i : {0U, 1U, 2U})
      (void)memories_[i]->cpu_data({0, i == 0 ? 16U : i == 1 ? 8U : 4U});
    (void)memories_[1]->gpu_data({8, 8}, streams_[1]);
    (void)memories_[2]->gpu_data({0, 12}, streams_[2]);
    (void)memories_[2]->gpu_data({12, 4}, streams_[0]);
    CHECK(sim::Inspect().copies == copies);
  }
  void CheckBytes() const {
    for (std::size_t i = 0; i < kMemories; ++i)
      CHECK(std::memcmp(memories_[i]->cpu_data(), models_[i].data(), kSize) == 0);
    CHECK(right_);
  }

 private:
  /// The first memory is on the host; the second half there, half on its device; the third on the second
  /// device, a quarter of it also on the host, and a quarter on the first device alone.
  void Fill(std::size_t i) {
    SyncedMemory& memory = *memories_[i];
    for (std::size_t at = 0; at < kSize; ++at) models_[i][at] = static_cast<std::uint8_t>(1 + i * kSize + at);
    std::memcpy(memory.overwrite_cpu_data(), models_[i].data(), kSize);
    const auto touch = [](void* ptr, std::size_t bytes, const Stream& on) {
      sim::Launch(on, {{static_cast<std::byte*>(ptr), static_cast<std::int64_t>(bytes)}}, [] {});
    };
    if (i == 1) touch(memory.mutable_gpu_data({8, 8}, streams_[1]), 8, streams_[1]);
    if (i != 2) return;
    touch(memory.mutable_gpu_data({0, 12}, streams_[2]), 12, streams_[2]);
    (void)memory.cpu_data({0, 4});
    touch(memory.mutable_gpu_data({12, 4}, streams_[0]), 4, streams_[0]);
  }

  void Work(const Order& order, const std::array<void*, kOperands>& ptrs, const Stream* on) {
    std::vector<Touch> touches;
    std::vector<std::function<void()>> work;
    for (std::size_t i = 0; i < kOperands; ++i) {
      const Part& part = kParts[order[i]];
      auto* const ptr = static_cast<std::uint8_t*>(ptrs[i]);
      const auto count = static_cast<std::int64_t>(part.last - part.first);
      const bool reads = part.access != Access::kOverwrite, writes = part.access != Access::kRead;
      touches.push_back(writes ? Touch(ptr, count) : Touch(static_cast<const std::uint8_t*>(ptr), count));
      const auto first = models_[part.memory].begin() + static_cast<std::ptrdiff_t>(part.first);
      const std::vector<std::uint8_t> was(first, first + count);
      if (writes) std::fill_n(first, count, std::uint8_t{200});
      work.emplace_back([this, ptr, was, reads, writes] {
        if (reads && !std::equal(was.begin(), was.end(), ptr)) right_ = false;
        if (writes) std::fill_n(ptr, was.size(), std::uint8_t{200});
      });
    }
    const auto all = [work] {
      for (const auto& one : work) one();
    };
    on == nullptr ? all() : sim::Launch(*on, touches, all);
  }

  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<Stream> streams_;
  std::vector<std::unique_ptr<SyncedMemory>> memories_;
  std::array<Bytes, kMemories> models_{};
  bool right_ = true;
};

/// The n-th call or allocation of the Take fails. Returns whether there was one.
bool Fails(Fault fault, long nth, const Order& order, Place place, bool again, sim::Options options) {
  if (fault == Fault::kDeviceMemory) options.fail_call = "allocation";
  long before = 0;
  {
    const OperandsWorld counted(options);
    before = sim::Inspect().calls;
  }
  if (fault != Fault::kHostMemory) options.fail_at = before + nth;
  options.fail_late = fault == Fault::kCallLate;
  OperandsWorld world(options);
  allocations = 0;
  fails_at = fault == Fault::kHostMemory ? nth : 0;
  const bool taken = world.Take(order, place);
  const bool struck = fault == Fault::kHostMemory ? allocations >= nth : sim::Inspect().faults != 0;
  fails_at = 0;
  CHECK((taken || struck));
  if (!struck) return false;  // else it would strike what looks at the bytes
  if (!taken) {
    if (again) REQUIRE(world.Take(order, place));
    if (!again) world.CheckSpaces();
  }
  world.CheckBytes();
  return true;
}

long FailEach(Fault fault, const Order& order, Place place, const sim::Options& options) {
  for (long nth = 1;; ++nth)
    for (const bool again : {false, true}) {
      CAPTURE(static_cast<int>(fault), nth, static_cast<int>(place), again, options.peers, options.seed,
              order[0], order[1], order[2], order[3], order[4]);
      if (!Fails(fault, nth, order, place, again, options)) return nth - 1;
    }
}

TEST_CASE(
    "a call whose device or host fails at any point takes none of its operands, and may be made again") {
  const std::uint64_t stride = Stride(4);  // of places and of faults
  std::uint64_t code = 0;
  long faults = 0;
  Order order;
  std::iota(order.begin(), order.end(), std::size_t{0});
  do {
    for (const Place place : {Place::kHost, Place::kMain, Place::kStream, Place::kSecondDevice})
      for (const Fault fault : {Fault::kCall, Fault::kCallLate, Fault::kDeviceMemory, Fault::kHostMemory})
        if (code++ % stride == 0)
          faults +=
              FailEach(fault, order, place, {.seed = code, .devices = 2, .peers = code / stride % 2 == 0});
  } while (std::next_permutation(order.begin(), order.end()));
  CHECK(faults > static_cast<long>(code / stride));
  std::printf("%ld faults\n", faults);
}

}  // namespace
}  // namespace ferry::testing
