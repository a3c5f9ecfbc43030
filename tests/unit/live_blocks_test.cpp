// SPDX-License-Identifier: BSD-2-Clause
// What memories have of a device, and the limit that a program sets to it.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/device/name.hpp"
#include "ferry/backend.hpp"
#include "ferry/error.hpp"
#include "ferry/live.hpp"
#include "ferry/out_of_memory.hpp"
#include "sim_kernels.hpp"
#include "tests/log_lines.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;
using Catch::Matchers::MessageMatches;

struct Simulated {
  explicit Simulated(const sim::Options& options = {}) {
    sim::Reset(options);
    device = MakeDevice("sim");
  }
  std::unique_ptr<Device> device;
};

/// `"x" 64 device` for each, the largest first.
std::vector<std::string> Described(const Device& device) {
  std::vector<std::string> texts;
  for (const LiveBlock& block : LiveBlocks(device))
    texts.push_back(block.label + ' ' + std::to_string(block.bytes) +
                    (block.kind == MemoryKind::kPinnedHost ? " host" : " device"));
  return texts;
}
using Texts = std::vector<std::string>;

TEST_CASE("what is live is listed with label, size and the line that allocated it, the largest first") {
  const Simulated machine;
  SyncedMemory small(64, *machine.device, "small"), large(256, *machine.device, "large");
  CHECK(LiveBlocks(*machine.device).empty());
  const Site first = Site::Caller(), second = Site::Caller();
  small.gpu_data(Stream::Main(*machine.device), first);
  large.overwrite_cpu_data(second);
  small.gpu_data();  // has it already
  CHECK(Described(*machine.device) == Texts{"large 256 host", "small 64 device"});
  const auto blocks = LiveBlocks(*machine.device);
  CHECK(blocks[0].site.line() == second.line());
  CHECK(blocks[1].site.line() == first.line());
  CHECK(std::string_view(blocks[1].site.file()) == first.file());
}

TEST_CASE("a block is listed under the memory's present name, until it is given back") {
  const Simulated machine;
  auto memory = std::make_unique<SyncedMemory>(64, *machine.device, "old");
  memory->gpu_data(), memory->cpu_data();
  memory->set_label("new");
  CHECK(Described(*machine.device) == Texts{"new 64 host", "new 64 device"});
  memory->Release(Side::kGpu);
  CHECK(Described(*machine.device) == Texts{"new 64 host"});
  std::array<char, 64> bytes{};
  memory->set_cpu_data(bytes.data());
  CHECK(LiveBlocks(*machine.device).empty());
  memory->gpu_data();
  memory.reset();
  CHECK(LiveBlocks(*machine.device).empty());
}

TEST_CASE("each device has a list of its own") {
  sim::Reset({.devices = 2});
  const auto first = MakeDevice("sim:0"), second = MakeDevice("sim:1");
  SyncedMemory memory(64, *first, "x");
  memory.overwrite_gpu_data();
  memory.gpu_data(Stream::Main(*second));
  CHECK(Described(*first) == Texts{"x 64 device"});
  CHECK(Described(*second) == Texts{"x 64 device"});
}

TEST_CASE("an access beyond the limit is out of memory before the device is") {
  const Simulated machine;
  CHECK(SetMemoryLimit(*machine.device, 256) == 0);
  SyncedMemory held(128, *machine.device), fits(128, *machine.device), over(1, *machine.device, "over");
  held.gpu_data(), fits.gpu_data();
  CHECK_THROWS_MATCHES(
      over.gpu_data(), OutOfMemory,
      MessageMatches(ContainsSubstring(
          "sim:0: cannot allocate 1 bytes: 256 of the 256 that SetMemoryLimit allows are in use, in an "
          "access of \"over\"; the largest of what is live there:\n  a memory without a label: 128 bytes")));
  CHECK(over.head() == SyncedMemory::UNINITIALIZED);
  CHECK(over.cpu_data() != nullptr);  // the host's memory does not count
  fits.Release(Side::kGpu);
  CHECK(over.gpu_data() != nullptr);
  CHECK_THROWS_AS(fits.gpu_data(), OutOfMemory);
  CHECK(SetMemoryLimit(*machine.device, 8) == 256);  // less than is live, which stays
  CHECK_THROWS_AS(fits.gpu_data(), OutOfMemory);
  CHECK(SetMemoryLimit(*machine.device, 0) == 8);
  CHECK(fits.gpu_data() != nullptr);
}

TEST_CASE("the handler is asked about the limit as about a full device") {
  const Simulated machine;
  SetMemoryLimit(*machine.device, 100);
  SyncedMemory old(64, *machine.device), fresh(64, *machine.device);
  old.gpu_data();
  auto before = SetOutOfMemoryHandler([&](Device& full, std::size_t bytes) {
    CHECK(&full == machine.device.get());
    CHECK(bytes == 64);
    old.Release(full);
    return true;
  });
  CHECK(fresh.gpu_data() != nullptr);
  SetOutOfMemoryHandler(std::move(before));
}

TEST_CASE("an allocation that fails is not live, and does not count") {
  const Simulated machine({.memory = 4096});
  SetMemoryLimit(*machine.device, 8192);
  SyncedMemory large(8000, *machine.device), fits(4096, *machine.device);
  for (int i = 0; i < 3; ++i)
    CHECK_THROWS_MATCHES(large.gpu_data(), OutOfMemory, Message("sim:0: cannot allocate 8000 bytes"));
  CHECK(LiveBlocks(*machine.device).empty());
  CHECK(fits.gpu_data() != nullptr);
}

TEST_CASE("an OutOfMemory lists the ten largest of its side") {
  const Simulated machine;
  std::vector<std::unique_ptr<SyncedMemory>> memories;
  for (std::size_t i = 1; i <= 12; ++i) {
    memories.push_back(std::make_unique<SyncedMemory>(i, *machine.device, "m" + std::to_string(i)));
    memories.back()->gpu_data();
  }
  memories[0]->cpu_data();
  SetMemoryLimit(*machine.device, 78);
  SyncedMemory over(5, *machine.device);
  std::string text;
  try {
    over.gpu_data();
  } catch (const OutOfMemory& error) {
    text = error.what();
  }
  std::size_t at = 0;
  for (int i = 12; i > 2; --i) {
    const std::string line = "\n  \"m" + std::to_string(i) + "\": " + std::to_string(i) + " bytes, allocated";
    CAPTURE(line, text);
    at = text.find(line, at);
    REQUIRE(at != std::string::npos);
  }
  CHECK_THAT(text, Catch::Matchers::EndsWith("\n  and 2 smaller ones"));
  memories.erase(memories.begin());
  CHECK_THROWS_MATCHES(over.gpu_data(), OutOfMemory,
                       MessageMatches(Catch::Matchers::EndsWith("\n  and 1 smaller one")));
  CHECK_THAT(text, !ContainsSubstring("of the host"));
}

TEST_CASE("whatever is in a label, what is said of its memory is one line") {
  LogLines lines;
  Simulated machine;
  SyncedMemory memory(64, *machine.device, "a\nb\"\x01");
  const Site site = Site::Caller();
  memory.gpu_data(Stream::Main(*machine.device), site);
  machine.device.reset();
  REQUIRE(!lines.lines().empty());
  CHECK(lines.lines().back().ends_with(":\n  \"a?b\"?\": 64 bytes, allocated by " + Name(site)));
}

TEST_CASE("a device that ends before what memories have of it says whose that is") {
  auto warnings = std::make_unique<LogLines>();
  Simulated machine;
  auto quiet = std::make_unique<SyncedMemory>(64, *machine.device, "has nothing");
  auto memory = std::make_unique<SyncedMemory>(64, *machine.device, "x");
  const Site site = Site::Caller();
  memory->gpu_data(Stream::Main(*machine.device), site);
  SetMemoryLimit(*machine.device, 64);
  const auto serial = machine.device->serial();
  machine.device.reset();
  REQUIRE(!warnings->lines().empty());
  CHECK(warnings->lines().back() ==
        "sim:0 ends before what memories have of it:\n  \"x\": 64 bytes, allocated by " + Name(site));
  memory.reset(), quiet.reset();
  warnings.reset();
  const auto again = MakeDevice("sim");
  CHECK(again->serial() == serial);
  CHECK(LiveBlocks(*again).empty());
  CHECK(SetMemoryLimit(*again, 0) == 0);
}

TEST_CASE("threads never have more than the limit among them, whoever looks on") {
  const Simulated machine;
  constexpr std::size_t kLimit = std::size_t{3} * 64;
  SetMemoryLimit(*machine.device, kLimit);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&machine] {
      for (int round = 0; round < 50; ++round) {
        SyncedMemory memory(64, *machine.device, "x");
        try {
          memory.gpu_data();
        } catch (const OutOfMemory&) {  // another one has it
        }
        memory.set_label("y");
      }
    });
  std::size_t most = 0;
  for (int i = 0; i < 100; ++i) {
    std::size_t sum = 0;
    for (const LiveBlock& block : LiveBlocks(*machine.device)) sum += block.bytes;
    most = std::max(most, sum);
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(most <= kLimit);
  CHECK(LiveBlocks(*machine.device).empty());
}

}  // namespace
}  // namespace ferry::testing
