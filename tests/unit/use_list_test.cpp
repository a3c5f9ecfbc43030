// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/detail/use_list.hpp"

#include <catch2/catch_test_macros.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/memory/range_map_nodes.hpp"
#include "synced_memory_device.hpp"

namespace ferry::detail {
namespace {

using testing::Calls;
using testing::LogDevice;
using enum Access;

struct Fixture {
  LogDevice device;
  Stream main = Stream::Main(device), a{device}, b{device};
  UseList uses;
  Dying dying;
  Fixture() { device.Take(); }

  /// Returns whether the access had to be noted.
  bool Add(Access access, const Stream& on, Bytes bytes = {}) {
    const bool covered = uses.Covers(bytes, access, on.id());
    if (!covered) uses.Prepare(bytes, access, on, dying);
    if (!covered || access == kRead) uses.Note(bytes, access, on, dying);
    uses.Settle(bytes, dying);
    return !covered;
  }
  /// With its exact point.
  void AddCopy(Access access, const Stream& on, Bytes bytes = {}) {
    uses.Prepare(bytes, access, on, dying);
    const auto serial = uses.Note(bytes, access, on, dying);
    uses.SetPoint(bytes, serial, Event(on));
    uses.Settle(bytes, dying);
  }
  auto BeforeHost(Access access, Bytes bytes = {}) { return uses.BeforeHost(bytes, access, dying); }
  /// Without the wait.
  void Reach(const std::vector<UseList::Awaited>& awaited, Access access, Bytes bytes = {}) {
    uses.Reached(bytes, awaited, access, dying);
  }
};

TEST_CASE("the first use of a buffer waits for nobody") {
  Fixture f;
  CHECK(f.Add(kReadWrite, f.a));
  CHECK(f.device.Take().empty());
}

TEST_CASE("a read waits for the last write on another stream") {
  Fixture f;
  f.Add(kOverwrite, f.a);
  f.Add(kRead, f.b);
  CHECK(f.device.Take() == Calls{"record e1 on s1", "s2 waits for e1"});
}

TEST_CASE("a read waits for no other read") {
  Fixture f;
  f.Add(kRead, f.a);
  f.Add(kRead, f.b);
  CHECK(f.device.Take().empty());
}

TEST_CASE("a write waits for the reads since the last write, and then stands for all of them") {
  for (const Access write : {kReadWrite, kOverwrite}) {
    Fixture f;
    f.Add(kRead, f.a);
    f.Add(kRead, f.b);
    f.Add(write, f.main);
    CHECK(f.device.Take() ==
          Calls{"record e1 on s1", "main waits for e1", "record e2 on s2", "main waits for e2"});
    f.Add(write, f.a);
    CHECK(f.device.Take() == Calls{"record e3 on main", "s1 waits for e3"});
  }
}

TEST_CASE("a write waits for each of many readers, once") {
  Fixture f;
  std::vector<Stream> readers;
  for (int i = 0; i < 20; ++i) f.Add(kRead, readers.emplace_back(f.device));
  f.device.Take();
  f.Add(kOverwrite, f.main);
  Calls expected;
  for (int i = 1; i <= 20; ++i) {
    expected.push_back("record e" + std::to_string(i) + " on s" + std::to_string(i + 2));
    expected.push_back("main waits for e" + std::to_string(i));
  }
  CHECK(f.device.Take() == expected);
}

TEST_CASE("one stream needs no wait for itself") {
  Fixture f;
  for (const Access access : {kOverwrite, kRead, kReadWrite, kRead, kOverwrite}) f.Add(access, f.a);
  CHECK(f.device.Take().empty());
}

TEST_CASE("a use that an earlier one covers is not noted again") {
  Fixture f;
  CHECK(f.Add(kRead, f.a));
  CHECK_FALSE(f.Add(kRead, f.a));
  CHECK(f.Add(kReadWrite, f.b));
  CHECK_FALSE(f.Add(kRead, f.b));
}

TEST_CASE("a use with an exact point is waited for at that point, and its point is recorded once") {
  Fixture f;
  f.AddCopy(kOverwrite, f.a);
  f.device.Take();
  f.Add(kRead, f.b);
  f.Add(kRead, f.main);
  CHECK(f.device.Take() == Calls{"s2 waits for e1", "main waits for e1"});
}

TEST_CASE("a copy's write keeps its exact point when its stream reads on") {
  Fixture f;
  f.AddCopy(kOverwrite, f.a);
  CHECK(f.Add(kRead, f.a));
  f.device.Take();
  f.Add(kRead, f.b);
  CHECK(f.device.Take() == Calls{"s2 waits for e1"});
}

TEST_CASE("a copy's read turns lazy when its stream reads on") {
  Fixture f;
  f.AddCopy(kRead, f.a);
  CHECK(f.Add(kRead, f.a));
  f.device.Take();
  f.Add(kReadWrite, f.b);
  CHECK(f.device.Take() == Calls{"record e2 on s1", "s2 waits for e2"});
}

TEST_CASE("the host waits for writes before it reads, and for reads too before it writes") {
  Fixture f;
  f.Add(kOverwrite, f.a);
  f.Add(kRead, f.b);
  CHECK(f.BeforeHost(kRead).size() == 1);
  CHECK(f.BeforeHost(kReadWrite).size() == 2);
  CHECK(f.BeforeHost(kOverwrite).size() == 2);
}

TEST_CASE("a host that has waited to read leaves a kernel's stream among the readers") {
  Fixture f;
  f.Add(kOverwrite, f.a);
  f.Reach(f.BeforeHost(kRead), kRead);
  CHECK(f.BeforeHost(kRead).empty());
  CHECK(!f.uses.HasWrite({}));
  f.device.Take();
  f.Add(kReadWrite, f.b);
  CHECK(f.device.Take() == Calls{"record e2 on s1", "s2 waits for e2"});
}

TEST_CASE("a host that has waited for a copy forgets it") {
  Fixture f;
  f.AddCopy(kOverwrite, f.a);
  f.Reach(f.BeforeHost(kRead), kRead);
  CHECK(f.uses.empty());
}

TEST_CASE("a host that has waited to write forgets all that it has waited for") {
  Fixture f;
  f.Add(kOverwrite, f.a);
  f.Add(kRead, f.b);
  f.Reach(f.BeforeHost(kReadWrite), kReadWrite);
  CHECK(f.uses.empty());
}

TEST_CASE("what is noted while the host waits is still to be waited for") {
  for (const Access access : {kRead, kReadWrite}) {
    Fixture f;
    f.Add(kOverwrite, f.a);
    const auto awaited = f.BeforeHost(access);
    f.Add(kRead, f.a);  // the same note stands for more work now
    f.Add(kRead, f.b);
    f.Reach(awaited, access);
    CHECK(f.BeforeHost(access).size() == (access == kRead ? 1 : 2));
  }
}

TEST_CASE("the last writer is the stream that wrote last, and nobody before the first write") {
  Fixture f;
  CHECK_FALSE(f.uses.Writer({}));
  f.Add(kRead, f.a);
  CHECK_FALSE(f.uses.Writer({}));
  f.Add(kReadWrite, f.b);
  f.Add(kRead, f.a);
  CHECK(f.uses.Writer({}) == f.b);
  CHECK(f.uses.Last() == f.a);
}

TEST_CASE("a stream that has ended is waited for at the point after its last work") {
  Fixture f;
  f.Add(kOverwrite, Stream(f.device));
  f.device.Take();
  CHECK_FALSE(f.uses.Writer({}));
  CHECK_FALSE(f.uses.Last());
  f.Add(kRead, f.a);
  f.Add(kReadWrite, f.b);
  CHECK(f.device.Take() == Calls{"s1 waits for e1", "s2 waits for e1", "record e2 on s1", "s2 waits for e2"});
}

TEST_CASE("a borrowed stream that is forgotten is waited for at the point after its work by then") {
  Fixture f;
  const Stream lent = Stream::Borrow(f.device, StreamHandle{77});
  f.Add(kOverwrite, lent);
  f.uses.Forget(lent);
  CHECK(f.device.Take() == Calls{"record e1 on s76"});
  f.uses.Forget(lent);
  f.Add(kRead, f.a);
  CHECK(f.device.Take() == Calls{"s1 waits for e1"});
}

constexpr Bytes kLeft{0, 8}, kRight{8, Bytes::kEnd}, kMiddle{4, 12};

TEST_CASE("an access waits for nobody who uses other bytes") {
  for (const Access access : {kRead, kReadWrite, kOverwrite}) {
    Fixture f;
    f.Add(kOverwrite, f.a, kLeft);
    f.Add(access, f.b, kRight);
    CHECK(f.device.Take().empty());
    CHECK(f.BeforeHost(kReadWrite, {16, 17}).size() == 1);
    f.device.Take();
    f.Add(access, f.main, kMiddle);
    Calls expected{"record e2 on s1", "main waits for e2"};
    if (access != kRead) expected.insert(expected.end(), {"record e3 on s2", "main waits for e3"});
    CHECK(f.device.Take() == expected);
  }
}

TEST_CASE("a write stands for the uses that it covers, and for no others") {
  Fixture f;
  f.Add(kOverwrite, f.a);
  f.Add(kRead, f.b);
  f.Add(kOverwrite, f.main, kMiddle);
  f.device.Take();
  f.Add(kRead, f.a, kMiddle);
  CHECK(f.device.Take() == Calls{"record e4 on main", "s1 waits for e4"});
  f.Add(kOverwrite, f.b, {0, 4});
  CHECK(f.device.Take() == Calls{"record e5 on s1", "s2 waits for e5"});
}

TEST_CASE("a stream whose work is met in many places is asked for one point") {
  Fixture f;
  f.Add(kOverwrite, f.a);
  for (std::size_t i = 0; i < 10; ++i) f.Add(kRead, f.b, {10 * i, 10 * i + 5});
  f.device.Take();
  f.Add(kOverwrite, f.main);
  CHECK(f.device.Take() ==
        Calls{"record e11 on s1", "main waits for e11", "record e12 on s2", "main waits for e12"});
}

TEST_CASE("a host that has waited for some bytes has not waited for others") {
  Fixture f;
  f.Add(kOverwrite, f.a);
  f.Reach(f.BeforeHost(kReadWrite, kMiddle), kReadWrite, kMiddle);
  CHECK(f.BeforeHost(kRead, kMiddle).empty());
  CHECK(f.BeforeHost(kRead, {0, 4}).size() == 1);
  CHECK(f.BeforeHost(kRead, {12, 13}).size() == 1);
  CHECK(f.uses.Covers({0, 4}, kReadWrite, f.a.id()));
  CHECK_FALSE(f.uses.Covers({0, 5}, kRead, f.a.id()));
}

TEST_CASE("copies of many parts that are over are forgotten") {
  Fixture f;
  for (std::size_t i = 0; i < 1000; ++i) {
    f.AddCopy(kOverwrite, f.a, {i, i + 1});
    f.device.RunAll();
    REQUIRE(f.device.live() <= 2 + 66);
  }
}

TEST_CASE("a wait that fails leaves the list as it was") {
  for (const bool late : {false, true})
    for (const int nth : {1, 2, 3, 4}) {
      Fixture f;
      f.Add(kOverwrite, f.a);
      f.Add(kRead, f.main);
      f.device.Take();
      f.device.FailAt(nth, late);
      CHECK_THROWS_AS(f.Add(kReadWrite, f.b), DeviceError);
      CHECK(f.uses.Writer({}) == f.a);
      f.device.Take();
      f.Add(kReadWrite, f.b);
      CHECK(f.device.Take().size() == 4);
      CHECK(f.uses.Writer({}) == f.b);
    }
}

TEST_CASE("memory is given back after all its uses, by a wait of the stream that gives it back") {
  Fixture f;
  f.Add(kOverwrite, f.a);
  f.Add(kRead, f.b);
  f.device.Take();
  f.uses.EndBefore(f.b);
  CHECK(f.device.Take() == Calls{"record e2 on s1", "s2 waits for e2"});
  CHECK(f.uses.empty());
}

TEST_CASE("host memory is given back after a wait of the host for all its uses") {
  Fixture f;
  f.Add(kOverwrite, f.a);
  f.Add(kRead, f.b);
  f.device.Take();
  f.uses.EndBeforeHost();
  CHECK(f.device.Take() ==
        Calls{"record e2 on s1", "record e3 on s2", "host waits for e2", "host waits for e3"});
  CHECK(f.uses.empty());
}

TEST_CASE("a use that can't be ordered is waited for with its whole stream") {
  Fixture f;
  f.Add(kOverwrite, f.a);
  f.device.FailAt(1);
  CHECK(f.uses.TryEndBefore(f.b));
  CHECK(f.device.Take() == Calls{"record e1 on s1", "synchronize s1"});
  f.Add(kOverwrite, f.a);
  f.device.FailAt(2);
  CHECK(f.uses.TryEndBeforeHost());
  CHECK(f.device.Take() == Calls{"record e1 on s1", "host waits for e1", "synchronize s1"});
}

TEST_CASE("a list whose driver is gone ends without a throw") {
  Fixture f;
  f.Add(kOverwrite, f.a);
  f.device.Fail();
  CHECK(f.uses.TryEndBefore(f.b));
  CHECK(f.uses.TryEndBeforeHost());
  CHECK(f.uses.empty());
}

}  // namespace
}  // namespace ferry::detail
