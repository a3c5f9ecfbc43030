// SPDX-License-Identifier: BSD-2-Clause
// Whose turn it is to be told, and how that ends.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "observer_fixture.hpp"
#include "tests/log_lines.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::ContainsSubstring;

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

TEST_CASE("Any number of watches may end while an observer is told, and are told nothing more") {
  ObserverFixture f;
  int told = 0;
  const auto held = std::make_shared<int>(0);
  std::list<Watch> watches;
  watches.emplace_back([&](const AccessRecord&) {
    ++told;
    watches.clear();
  });
  for (int i = 0; i < 40; ++i) watches.emplace_back([&, held](const AccessRecord&) { ++told; });
  SyncedMemory memory(4, *f.device);
  memory.cpu_data(), memory.gpu_data();
  CHECK(told == 1);
  CHECK(held.use_count() == 1);
}

TEST_CASE("A watch needs an observer") {
  CHECK_THROWS_AS(Watch(std::shared_ptr<Observer>()), std::invalid_argument);
  CHECK_THROWS_AS(Watch(std::function<void(const AccessRecord&)>()), std::invalid_argument);
}

TEST_CASE("An observer that comes while a copy waits for memory is asked of it, and the others not again") {
  FullFixture f;
  SyncedMemory memory(FullFixture::kBytes, *f.device);
  memory.mutable_cpu_data();
  const auto first = std::make_shared<Notes>(), late = std::make_shared<Notes>();
  std::optional<Watch> late_watch;
  f.meanwhile = [&] { late_watch.emplace(late); };
  const Watch watch(first);
  memory.gpu_data();
  const auto asked_of = [&](const Notes& notes) {
    return std::count_if(notes.before.begin(), notes.before.end(),
                         [&](const CopyRecord& copy) { return copy.memory == &memory; });
  };
  CHECK(asked_of(*first) == 1);
  CHECK(asked_of(*late) == 1);
}

TEST_CASE("What an observer throws refuses the copy, and is not taken for an error of the device") {
  struct Refuses : Observer {
    void Before(const CopyRecord&) override {
      ++asked;
      throw OutOfMemory("no budget", 1);
    }
    int asked = 0;
  };
  sim::Reset({.devices = 2});
  const auto first = MakeDevice("sim:0"), second = MakeDevice("sim:1");
  SyncedMemory memory(4, *first, "x");
  memory.overwrite_cpu_data();
  memory.gpu_data();
  int handled = 0;
  SetOutOfMemoryHandler([&](Device&, std::size_t) { return ++handled < 3; });
  const auto refuses = std::make_shared<Refuses>();
  {
    const Watch watch(refuses);
    CHECK_THROWS_WITH(memory.gpu_data(Stream::Main(*second)), "no budget: cannot allocate 1 bytes");
  }
  SetOutOfMemoryHandler({});
  CHECK(refuses->asked == 1);
  CHECK(handled == 0);
}

TEST_CASE("An observer that comes while a copy waits may refuse it") {
  FullFixture f;
  SyncedMemory memory(FullFixture::kBytes, *f.device);
  memory.mutable_cpu_data();
  f.other->cpu_data();  // so that its block is given back without a copy
  const auto late = std::make_shared<Notes>();
  late->refuses = true;
  std::optional<Watch> late_watch;
  f.meanwhile = [&] { late_watch.emplace(late); };
  const Watch watch(std::make_shared<Notes>(), GENERATE(Told::kFromStart, Told::kOnceDone));
  CHECK_THROWS_AS(memory.gpu_data(), std::runtime_error);
  CHECK(memory.head() == Head::HEAD_AT_CPU);
}

TEST_CASE("Who is told of work is told of accesses that let a device write, and of no others") {
  const bool beside = GENERATE(false, true);  // somebody who is told of each
  ObserverFixture f;
  const auto each = std::make_shared<Notes>();
  std::optional<Watch> other;
  if (beside) other.emplace(each);
  const Watch watch(f.notes, Told::kOfWork);
  SyncedMemory memory(8, *f.device);
  memory.overwrite_cpu_data({0, 4});
  CHECK(f.notes->accesses.empty());
  memory.cpu_data();  // the rest becomes zeros
  memory.gpu_data();
  memory.mutable_cpu_data();
  memory.mutable_gpu_data();
  memory.cpu_data();
  memory.overwrite_gpu_data();
  REQUIRE(f.notes->accesses.size() == 2);
  CHECK(f.notes->accesses[0].access == Access::kReadWrite);
  CHECK(f.notes->accesses[1].access == Access::kOverwrite);
  REQUIRE(f.notes->fills.size() == 1);
  CHECK(f.notes->fills[0].range.first == 4);
  CHECK(f.notes->copies.size() == 3);
  CHECK(f.notes->waits.size() == 2);
  CHECK(f.notes->before.empty());
  CHECK(each->accesses.size() == (beside ? 7 : 0));
}

TEST_CASE("Who is told of each write is told of those in place, and others are not") {
  ObserverFixture f;
  const auto other = std::make_shared<Notes>();
  const Stream main = Stream::Main(*f.device);
  SyncedMemory memory(8, *f.device);
  memory.overwrite_cpu_data();
  memory.gpu_data();
  const Watch few(other, GENERATE(Told::kFromStart, Told::kOnceDone, Told::kOfWork));
  std::optional<Watch> watch(std::in_place, f.notes, Told::kEachWrite);
  const bool there = GENERATE(false, true);
  const auto write = [&] { there ? memory.mutable_gpu_data() : memory.mutable_cpu_data(); };
  write();
  const std::size_t first = f.notes->accesses.size(), others = other->accesses.size();
  write();
  there ? memory.mutable_gpu_data({0, 4}, main) : memory.overwrite_cpu_data({0, 4});
  write();
  there ? memory.gpu_data() : memory.cpu_data();
  REQUIRE(f.notes->accesses.size() == first + 3);
  for (std::size_t i = first; i < first + 3; ++i) CHECK(f.notes->accesses[i].in_place);
  CHECK(f.notes->accesses[first + 1].range.bytes == 4);
  CHECK(other->accesses.size() == others);
  watch.reset();
  write(), write();
  CHECK(f.notes->accesses.size() == first + 3);
}

TEST_CASE("The log has no line of a write in place, though somebody is told of each") {
  ObserverFixture f;
  const Watch watch(f.notes, Told::kEachWrite);
  const LogLines lines(LogLevel::kTrace);
  SyncedMemory memory(8, *f.device);
  memory.overwrite_cpu_data(), memory.mutable_cpu_data();
  CHECK(f.notes->accesses.size() == 2);
  CHECK(lines.lines().size() == 1);
}

TEST_CASE("Who is told of each write changes nothing of what others are told") {
  const bool each = GENERATE(false, true), given = GENERATE(false, true);
  ObserverFixture f;
  const auto lines = [&](auto deed) {
    const auto once = std::make_shared<Notes>();
    const Watch watch(once, Told::kOnceDone);
    std::optional<Watch> other;
    if (each) other.emplace(f.notes, Told::kEachWrite);
    std::vector<char> bytes(8);
    SyncedMemory memory(8, *f.device);
    if (given) memory.set_cpu_data(bytes.data());
    const std::size_t before = once->accesses.size();
    deed(memory);
    return once->accesses.size() - before;
  };
  CHECK(lines([](SyncedMemory& memory) {
          memory.overwrite_gpu_data();
          memory.Prefetch(Side::kCpu, Stream::Main(memory.device()));
          memory.overwrite_gpu_data();  // takes it from the host again
          memory.overwrite_gpu_data(), memory.mutable_gpu_data();
        }) == 3);
  CHECK(lines([](SyncedMemory& memory) {
          memory.overwrite_gpu_data();
          memory.Resize(0);
          memory.mutable_gpu_data(), memory.mutable_cpu_data();
        }) == 1);
  CHECK(lines([](SyncedMemory& memory) {
          memory.cpu_data(), memory.mutable_cpu_data({0, 4}), memory.mutable_cpu_data({0, 4});
        }) == (given ? 0 : 2));
}

TEST_CASE("While one of two who are told of each write is there, so it is") {
  ObserverFixture f;
  std::optional<Watch> first(std::in_place, std::make_shared<Notes>(), Told::kEachWrite);
  const Watch second(f.notes, Told::kEachWrite);
  SyncedMemory memory(8, *f.device);
  memory.overwrite_cpu_data();
  first.reset();
  memory.mutable_cpu_data();
  CHECK(f.notes->accesses.size() == 2);
}

TEST_CASE("Of what a call reads in place nobody is told, be it told of each write") {
  ObserverFixture f;
  Array<float> x(2, *f.device), y(2, *f.device);
  const Place cpu = Place::Cpu(*f.device);
  Set(cpu, 1.0F, x);
  const Watch watch(f.notes, Told::kEachWrite);
  Copy(cpu, x, y);
  REQUIRE(f.notes->accesses.size() == 1);
  CHECK(f.notes->accesses[0].memory == y.memory().get());
  CHECK_FALSE(f.notes->accesses[0].in_place);
}

TEST_CASE("Of each access is told who comes after one who is told of work, and while that one goes") {
  ObserverFixture f;
  const auto each = std::make_shared<Notes>();
  SyncedMemory memory(8, *f.device);
  std::optional<Watch> work(std::in_place, f.notes, Told::kOfWork);
  memory.overwrite_cpu_data();
  const Watch watch(each, Told::kOnceDone);
  memory.gpu_data();
  work.reset();
  memory.mutable_cpu_data();
  CHECK(each->accesses.size() == 2);
  CHECK(f.notes->accesses.empty());
}

}  // namespace
}  // namespace ferry::testing
