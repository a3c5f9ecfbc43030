// SPDX-License-Identifier: BSD-2-Clause
// Random changes of a map of thousands of runs, against a value and a cut for each byte. Host memory runs out
// at each allocation in turn.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <new>
#include <random>
#include <utility>
#include <vector>

#include "core/memory/runs.hpp"
#include "tests/sanitized.hpp"

namespace {

long live_blocks = 0;
long allocations_left = -1;  ///< until one fails; none does while it is negative

}  // namespace

// Inlined, they would be taken for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (allocations_left == 0) throw std::bad_alloc();
  if (allocations_left > 0) --allocations_left;
  if (void* const ptr = std::malloc(bytes)) return ++live_blocks, ptr;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* ptr) noexcept {
  if (ptr != nullptr) --live_blocks;
  std::free(ptr);
}
void operator delete(void* ptr, std::size_t) noexcept { operator delete(ptr); }

namespace ferry::detail {
namespace {

using Value = std::vector<int>;  ///< one number; none is left where it was moved away
using WalkedMap = RangeMap<Value>;

bool Alike(int a, int b) { return a / 4 == b / 4; }

/// A map, and what it should say of each byte. The map's last run goes on to the end of all bytes.
class Twins {
 public:
  explicit Twins(std::size_t size) : values_(size, 0), cuts_(size, false) {
    others_ = live_blocks;
    map_.Reset(Value{0});
  }

  std::size_t size() const { return values_.size(); }
  const WalkedMap& map() const { return map_; }

  /// Isolate fails at each of its allocations before it succeeds.
  void Set(Bytes bytes, int value) {
    for (long fails = 0;; ++fails) {
      allocations_left = fails;
      try {
        map_.Isolate(Of(bytes));
        break;
      } catch (const std::bad_alloc&) {
        allocations_left = -1;
        CheckValues();
      }
    }
    allocations_left = 0;  // nothing that follows may allocate
    map_.Each(Of(bytes), [=](Bytes, Value& old) { return old.front() = value, true; });
    allocations_left = -1;
    Cut(bytes.first), Cut(bytes.last);
    Fill(bytes, value);
  }
  /// After Set of the same bytes.
  void Unite(Bytes bytes) {
    allocations_left = 0;
    map_.Unite(Of(bytes));
    allocations_left = -1;
    for (std::size_t i = bytes.first + 1; i < bytes.last; ++i) cuts_[i] = false;
    if (!bytes.empty()) Fill(bytes, values_[bytes.first]);
  }
  /// Of neighbours that are alike, the larger value stays.
  void Join(Bytes bytes) {
    allocations_left = 0;
    map_.Join(Of(bytes), [](Value& left, const Value& right) {
      if (!Alike(left.front(), right.front())) return false;
      left.front() = std::max(left.front(), right.front());
      return true;
    });
    allocations_left = -1;
    for (std::size_t i = std::max<std::size_t>(bytes.first, 1); i <= bytes.last && i < size(); ++i)
      if (cuts_[i] && Alike(values_[i - 1], values_[i])) {
        cuts_[i] = false;
        Fill(RunOf(i), std::max(values_[i - 1], values_[i]));
      }
  }
  void Reset(int value) {
    map_.Reset(Value{value});
    Fill({0, size()}, value);
    cuts_.assign(size(), false);
  }

  /// That the runs are these, and that what has room for them is not much more than they need.
  void CheckRuns() const {
    CheckValues();
    const auto cuts = std::count(cuts_.begin(), cuts_.end(), true);
    REQUIRE(map_.runs() == 1 + static_cast<std::size_t>(cuts));
    REQUIRE(map_.whole() == (cuts == 0));
    bool right = true;
    map_.Each({}, [&](Bytes run, const Value&) { return right &= run.first == 0 || cuts_[run.first]; });
    REQUIRE(right);
    const long runs = 1 + static_cast<long>(cuts);
    REQUIRE(live_blocks - others_ <= runs + runs / 8 + 8);
  }
  /// What a visit of the bytes sees, and that it ends where it is told to.
  void CheckVisit(Bytes bytes, std::size_t visits) const {
    std::size_t at = bytes.first, visited = 0;
    bool right = true;
    const bool all = map_.Each(bytes, [&](Bytes run, const Value& value) {
      const std::size_t last = std::min(RunOf(run.first).last, bytes.last);
      right &= run == Bytes{at, last} && value == Value{values_[at]};
      at = last;
      return ++visited != visits;
    });
    REQUIRE(right);
    REQUIRE(all == (visited != visits));
    if (all) REQUIRE(at == std::max(bytes.first, bytes.last));
  }

 private:
  Bytes Of(Bytes bytes) const { return {bytes.first, bytes.last == size() ? Bytes::kEnd : bytes.last}; }
  void Cut(std::size_t at) {
    if (at != 0 && at != size()) cuts_[at] = true;
  }
  void Fill(Bytes bytes, int value) {
    for (std::size_t i = bytes.first; i < bytes.last; ++i) values_[i] = value;
  }
  Bytes RunOf(std::size_t byte) const {
    Bytes run{byte, byte + 1};
    while (run.first != 0 && !cuts_[run.first]) --run.first;
    while (run.last != size() && !cuts_[run.last]) ++run.last;
    return run;
  }
  void CheckValues() const {
    std::size_t at = 0;
    bool right = true;
    map_.Each({}, [&](Bytes run, const Value& value) {
      right &= run.first == at && value.size() == 1;
      for (at = std::min(run.last, size()); right && run.first < at; ++run.first)
        right = values_[run.first] == value.front();
      return right;
    });
    REQUIRE(right);
    REQUIRE(at == size());
  }

  WalkedMap map_;
  std::vector<int> values_;
  std::vector<bool> cuts_;  ///< where runs begin, the first one left out
  long others_;             ///< blocks that are not the map's
};

/// Random bytes, some `length` of them.
Bytes Some(std::mt19937& random, std::size_t size, std::size_t length) {
  const std::size_t first = random() % size;
  return {first, std::min(size, first + 1 + random() % length)};
}

}  // namespace

TEST_CASE("a map of many runs says of each byte what was said last") {
  constexpr std::size_t kPhase = ferry::testing::kSanitized ? 500 : 1500;
  std::mt19937 random(7);
  for (const std::size_t size : {40U, 700U, ferry::testing::kSanitized ? 1000U : 8000U}) {
    Twins twins(size);
    std::size_t most = 0;
    for (std::size_t step = 0; step < 4 * kPhase; ++step) {
      // It grows by short ranges, first in order and later not, and shrinks by long ones.
      const bool grows = step / kPhase % 2 == 0, in_order = step < kPhase;
      Bytes bytes = Some(random, size, grows || random() % 16 != 0 ? 3 : size / 8 + 1);
      if (in_order) bytes = {step * 6 % size, std::min(step * 6 % size + 3, size)};
      twins.Set(bytes, static_cast<int>(random() % 16));
      if (random() % 2 == 0) twins.Unite(bytes);
      if (!grows || random() % 8 == 0) twins.Join(Some(random, size, grows ? 3 : size));
      if (random() % 1024 == 0) twins.Join({0, size});
      if (random() % 4096 == 0) twins.Reset(3);
      if (step % (1 + size / 500) == 0) twins.CheckRuns();
      twins.CheckVisit(Some(random, size, size), 1 + random() % 100);
      most = std::max(most, twins.map().runs());
    }
    CHECK(most > size / 4);
  }
}

TEST_CASE("a map that keeps some of its runs keeps room for these alone") {
  Twins twins(ferry::testing::kSanitized ? 1000 : 4000);
  for (std::size_t i = 0; i < twins.size(); i += 2) twins.Set({i, i + 1}, static_cast<int>(i));
  for (std::size_t i = 0; i < twins.size(); i += 50) {
    const Bytes bytes{i, i + 49};
    twins.Set(bytes, 1);
    twins.Unite(bytes);
  }
  twins.CheckRuns();
}

}  // namespace ferry::detail
