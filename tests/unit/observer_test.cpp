// SPDX-License-Identifier: BSD-2-Clause
// What observers are told of memories, and what becomes of one that throws.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "ferry/ferry.hpp"
#include "synced_memory_device.hpp"
#include "tests/log_lines.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::ContainsSubstring;

/// Keeps all that it is told.
struct Notes : Observer {
  using Observer::On;
  void Before(const CopyRecord& copy) override {
    before.push_back(copy);
    if (refuses) throw std::runtime_error("refused");
  }
  void On(const CopyRecord& copy) override { copies.push_back(copy); }
  void On(const AccessRecord& access) override { accesses.push_back(access); }
  void On(const WaitRecord& wait) override { waits.push_back(wait); }
  void On(const LifeRecord& life) override { lives.push_back(life); }

  bool refuses = false;
  std::vector<CopyRecord> before, copies;
  std::vector<AccessRecord> accesses;
  std::vector<WaitRecord> waits;
  std::vector<LifeRecord> lives;
};

struct ObserverFixture {
  ObserverFixture() { sim::Reset({.seed = 1}); }
  std::unique_ptr<Device> device = MakeDevice("sim:0");
  std::shared_ptr<Notes> notes = std::make_shared<Notes>();
};

bool IsHere(const Site& site, int line) {
  return std::string(site.file()) == __FILE__ && site.line() == line;
}

TEST_CASE("A copy's record has the sites of the access and of the write that made it necessary") {
  ObserverFixture f;
  const Watch watch(f.notes);
  SyncedMemory memory(64, *f.device, "x");
  memory.mutable_cpu_data();
  const int wrote = __LINE__ - 1;
  memory.gpu_data();
  const int read = __LINE__ - 1;
  REQUIRE(f.notes->copies.size() == 1);
  const CopyRecord& copy = f.notes->copies[0];
  CHECK(copy.memory == &memory);
  CHECK(copy.range.first == 0);
  CHECK(copy.range.bytes == 64);
  CHECK(copy.from == nullptr);
  CHECK(copy.to == f.device.get());
  CHECK(IsHere(copy.site, read));
  REQUIRE(copy.written);
  CHECK(IsHere(copy.written->site, wrote));
  CHECK(copy.written->access == Access::kReadWrite);
  CHECK_FALSE(copy.pageable);
}

TEST_CASE("An observer is told that a copy starts when its waits are queued, and the copy is not") {
  struct Starts : Observer {
    explicit Starts(LogDevice& of) : device(of) {}
    void OnStart(const CopyRecord&) override { before.push_back(device.Take()); }
    LogDevice& device;
    std::vector<Calls> before;
  };
  LogDevice device;
  const Stream writer(device), copies(device);
  SyncedMemory memory(16, device);
  memory.mutable_gpu_data(writer);
  const auto starts = std::make_shared<Starts>(device);
  const Watch watch(starts);
  memory.Prefetch(Side::kCpu, copies);
  REQUIRE(starts->before.size() == 1);
  CHECK(starts->before[0].back() == "s2 waits for e1");
  CHECK(device.Take() == Calls{"to host 16 on s2", "record e2 on s2"});
}

TEST_CASE("Each kind of call tells its own site") {
  ObserverFixture f;
  std::vector<int> lines;
  const Watch watch([&](const AccessRecord& record) {
    CHECK(std::string(record.site.file()) == __FILE__);
    lines.push_back(record.site.line());
  });
  const Place cpu = Place::Cpu(*f.device), gpu(*f.device);
  Blob<float> blob({2, 2}, *f.device), other({2, 2}, *f.device);
  std::vector<int> calls;
  const auto call = [&](int line) { calls.push_back(line); };
  blob.mutable_cpu_data(), call(__LINE__);
  blob.gpu_data(), call(__LINE__);
  cpu.ReadWrite(blob), call(__LINE__);
  blob.Prefetch(Side::kGpu), call(__LINE__);
  Scale(gpu, 2.0F, blob), call(__LINE__);
  blob.data_at({0, 0}), call(__LINE__);
  blob.scale_data(2.0F, gpu.stream()), call(__LINE__);
  cpu.Overwrite(Diff(blob)), call(__LINE__);
  blob.gpu_diff(gpu.stream()), call(__LINE__);
  other.CopyFrom(blob), call(__LINE__);
  blob.data()->cpu_data({0, 4}), call(__LINE__);
  CHECK(lines == calls);
}

TEST_CASE("An access's record has the write that took the bytes away, and a read is no write") {
  ObserverFixture f;
  const Watch watch(f.notes);
  SyncedMemory memory(64, *f.device);
  memory.mutable_cpu_data();
  const int wrote = __LINE__ - 1;
  memory.gpu_data();
  REQUIRE(f.notes->accesses.back().written);
  CHECK(IsHere(f.notes->accesses.back().written->site, wrote));
  memory.Release(Side::kGpu);
  memory.gpu_data();
  REQUIRE(f.notes->copies.size() == 2);
  CHECK(IsHere(f.notes->copies[1].written->site, wrote));
}

TEST_CASE("A write of a part is the one that its bytes are copied for") {
  ObserverFixture f;
  const Watch watch(f.notes);
  SyncedMemory memory(64, *f.device);
  memory.overwrite_cpu_data();
  const int whole = __LINE__ - 1;
  memory.mutable_cpu_data({16, 16});
  memory.gpu_data();
  memory.mutable_cpu_data({16, 16});
  const int part = __LINE__ - 1;
  memory.gpu_data();
  REQUIRE(f.notes->copies.size() == 2);
  CHECK(IsHere(f.notes->copies[0].written->site, whole));
  CHECK(IsHere(f.notes->copies[1].written->site, part));
  CHECK(f.notes->copies[1].range.first == 16);
  CHECK(f.notes->copies[1].range.bytes == 16);
}

TEST_CASE("A copy between devices is not pageable, whoever gave the host's bytes") {
  sim::Reset({.devices = 2});
  const auto first = MakeDevice("sim:0"), second = MakeDevice("sim:1");
  std::vector<float> given(16, 1.0F);
  SyncedMemory memory(64, *first);
  memory.set_cpu_data(given.data());
  memory.mutable_gpu_data();
  const auto notes = std::make_shared<Notes>();
  const Watch watch(notes);
  memory.gpu_data(Stream::Main(*second));
  REQUIRE(notes->copies.size() == 1);
  CHECK(notes->copies[0].from == first.get());
  CHECK_FALSE(notes->copies[0].pageable);
}

TEST_CASE("Bytes that were given are pageable, and the call that gave them has written them") {
  ObserverFixture f;
  const Watch watch(f.notes);
  std::vector<float> given(16, 1.0F);
  SyncedMemory memory(64, *f.device);
  memory.set_cpu_data(given.data());
  const int gave = __LINE__ - 1;
  memory.gpu_data();
  REQUIRE(f.notes->copies.size() == 1);
  CHECK(f.notes->copies[0].pageable);
  CHECK(f.notes->copies[0].source == given.data());
  CHECK(IsHere(f.notes->copies[0].written->site, gave));
}

TEST_CASE("A wait of the host is told with the write that it waits for") {
  ObserverFixture f;
  SyncedMemory memory(64, *f.device);
  const Watch watch(f.notes);
  memory.overwrite_gpu_data();
  const int wrote = __LINE__ - 1;
  memory.cpu_data();
  const int read = __LINE__ - 1;
  REQUIRE(f.notes->waits.size() == 1);
  CHECK(IsHere(f.notes->waits[0].site, read));
  CHECK(IsHere(f.notes->waits[0].written->site, wrote));
  CHECK(f.notes->accesses.back().waited_ns == f.notes->waits[0].waited_ns);
}

TEST_CASE("Memories and blocks are told from birth to end") {
  ObserverFixture f;
  const Watch watch(f.notes);
  int born = 0;
  const void* here = nullptr;
  {
    SyncedMemory memory(64, *f.device, "x");
    born = __LINE__ - 1;
    here = memory.gpu_data();
    memory.cpu_data();
    memory.Release(Side::kGpu);
  }
  const auto& lives = f.notes->lives;
  using What = LifeRecord::What;
  REQUIRE(lives.size() == 6);
  CHECK((lives[0].what == What::kMemory && lives[0].begins && IsHere(*lives[0].site, born)));
  CHECK((lives[1].what == What::kBlock && lives[1].begins && lives[1].device == f.device.get() &&
         lives[1].first == here));
  CHECK((lives[2].what == What::kBlock && lives[2].begins && lives[2].device == nullptr &&
         lives[2].bytes == 64));
  CHECK((lives[3].what == What::kBlock && !lives[3].begins && lives[3].evicted && lives[3].first == here));
  CHECK((lives[4].what == What::kBlock && !lives[4].begins && !lives[4].evicted));
  CHECK((lives[5].what == What::kMemory && !lives[5].begins));
}

TEST_CASE("An observer that refuses a copy fails the access, and nothing has changed") {
  ObserverFixture f;
  SyncedMemory memory(4, *f.device);
  *static_cast<int*>(memory.overwrite_cpu_data()) = 7;
  const Watch watch(f.notes);
  f.notes->refuses = true;
  CHECK_THROWS_AS(memory.gpu_data(), std::runtime_error);
  CHECK(memory.head() == Head::HEAD_AT_CPU);
  CHECK(f.notes->copies.empty());
  f.notes->refuses = false;
  memory.mutable_gpu_data();
  f.notes->refuses = true;
  CHECK_THROWS_AS(memory.cpu_data(), std::runtime_error);
  CHECK(memory.head() == Head::HEAD_AT_GPU);
  f.notes->refuses = false;
  CHECK(*static_cast<const int*>(memory.cpu_data()) == 7);
}

TEST_CASE("Observers are told in the order of their watches, until each one's ends") {
  ObserverFixture f;
  std::string told;
  const auto note = [&](char name) { return [&told, name](const AccessRecord&) { told += name; }; };
  SyncedMemory memory(4, *f.device);
  const Watch first(note('a'));
  {
    const Watch second(note('b'));
    memory.cpu_data();
  }
  memory.gpu_data();
  CHECK(told == "aba");
}

TEST_CASE("An observer that throws is detached with a warning, and the others are told") {
  ObserverFixture f;
  std::vector<std::string> lines;
  SetLogSink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  int thrown = 0, told = 0;
  {
    const Watch bad([&](const AccessRecord&) {
      ++thrown;
      throw std::runtime_error("full");
    });
    const Watch good([&](const AccessRecord&) { ++told; });
    SyncedMemory memory(4, *f.device);
    memory.cpu_data(), memory.gpu_data();
  }
  SetLogSink({});
  CHECK(thrown == 1);
  CHECK(told == 2);
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0], ContainsSubstring("detached: full"));
}

TEST_CASE("An observer that attaches one while it is told is detached with a warning, and nobody waits") {
  ObserverFixture f;
  const LogLines warnings;
  int told = 0;
  const Watch bad([&](const AccessRecord&) { const Ledger ledger; });
  const Watch good([&](const AccessRecord&) { ++told; });
  SyncedMemory memory(4, *f.device);
  memory.cpu_data(), memory.gpu_data();
  CHECK(told == 2);
  REQUIRE(warnings.lines().size() == 1);
  CHECK_THAT(warnings.lines()[0], ContainsSubstring("detached: Watch: an observer that is being told"));
}

TEST_CASE("A watch may end while its observer, or another one, is told") {
  ObserverFixture f;
  int first = 0, second = 0;
  std::optional<Watch> others;
  std::optional<Watch> own;
  own.emplace([&](const AccessRecord&) {
    ++first;
    own.reset(), others.reset();
  });
  others.emplace([&](const AccessRecord&) { ++second; });
  SyncedMemory memory(4, *f.device);
  memory.cpu_data(), memory.gpu_data();
  CHECK(first == 1);
  CHECK(second <= 1);
}

TEST_CASE("A watch needs an observer") {
  CHECK_THROWS_AS(Watch(std::shared_ptr<Observer>()), std::invalid_argument);
  CHECK_THROWS_AS(Watch(std::function<void(const AccessRecord&)>()), std::invalid_argument);
}

}  // namespace
}  // namespace ferry::testing
