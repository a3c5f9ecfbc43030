// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/detail/use_list.hpp"

#include <catch2/catch_test_macros.hpp>
#include <optional>
#include <string>
#include <vector>

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
  EndedUses ended;
  Fixture() { device.Take(); }
};

TEST_CASE("the first use of a buffer waits for nobody") {
  Fixture f;
  CHECK(f.uses.Add(kReadWrite, f.a, f.ended) != nullptr);
  CHECK(f.device.Take().empty());
}

TEST_CASE("a read waits for the last write on another stream") {
  Fixture f;
  f.uses.Add(kOverwrite, f.a, f.ended);
  f.uses.Add(kRead, f.b, f.ended);
  CHECK(f.device.Take() == Calls{"record e1 on s1", "s2 waits for e1"});
}

TEST_CASE("a read waits for no other read") {
  Fixture f;
  f.uses.Add(kRead, f.a, f.ended);
  f.uses.Add(kRead, f.b, f.ended);
  CHECK(f.device.Take().empty());
}

TEST_CASE("a write waits for the reads since the last write, and then stands for all of them") {
  for (const Access write : {kReadWrite, kOverwrite}) {
    Fixture f;
    f.uses.Add(kRead, f.a, f.ended);
    f.uses.Add(kRead, f.b, f.ended);
    f.uses.Add(write, f.main, f.ended);
    CHECK(f.device.Take() ==
          Calls{"record e1 on s1", "main waits for e1", "record e2 on s2", "main waits for e2"});
    f.uses.Add(write, f.a, f.ended);
    CHECK(f.device.Take() == Calls{"record e3 on main", "s1 waits for e3"});
  }
}

TEST_CASE("a write waits for each of many readers, once") {
  Fixture f;
  std::vector<Stream> readers;
  for (int i = 0; i < 20; ++i) f.uses.Add(kRead, readers.emplace_back(f.device), f.ended);
  f.device.Take();
  f.uses.Add(kOverwrite, f.main, f.ended);
  Calls expected;
  for (int i = 1; i <= 20; ++i) {
    expected.push_back("record e" + std::to_string(i) + " on s" + std::to_string(i + 2));
    expected.push_back("main waits for e" + std::to_string(i));
  }
  CHECK(f.device.Take() == expected);
}

TEST_CASE("one stream needs no wait for itself") {
  Fixture f;
  for (const Access access : {kOverwrite, kRead, kReadWrite, kRead, kOverwrite})
    f.uses.Add(access, f.a, f.ended);
  CHECK(f.device.Take().empty());
}

TEST_CASE("a use that an earlier one covers is not noted again") {
  Fixture f;
  CHECK(f.uses.Add(kRead, f.a, f.ended) != nullptr);
  CHECK(f.uses.Add(kRead, f.a, f.ended) == nullptr);
  CHECK(f.uses.Add(kReadWrite, f.b, f.ended) != nullptr);
  CHECK(f.uses.Add(kRead, f.b, f.ended) == nullptr);
}

TEST_CASE("a use with an exact point is waited for at that point, and its point is recorded once") {
  Fixture f;
  f.uses.Add(kOverwrite, f.a, f.ended)->point.emplace(f.a);
  f.device.Take();
  f.uses.Add(kRead, f.b, f.ended);
  f.uses.Add(kRead, f.main, f.ended);
  CHECK(f.device.Take() == Calls{"s2 waits for e1", "main waits for e1"});
}

TEST_CASE("a copy's write keeps its exact point when its stream reads on") {
  Fixture f;
  f.uses.Add(kOverwrite, f.a, f.ended)->point.emplace(f.a);
  CHECK(f.uses.Add(kRead, f.a, f.ended) != nullptr);
  f.device.Take();
  f.uses.Add(kRead, f.b, f.ended);
  CHECK(f.device.Take() == Calls{"s2 waits for e1"});
}

TEST_CASE("a copy's read turns lazy when its stream reads on") {
  Fixture f;
  f.uses.Add(kRead, f.a, f.ended)->point.emplace(f.a);
  CHECK(f.uses.Add(kRead, f.a, f.ended) == nullptr);
  f.device.Take();
  f.uses.Add(kReadWrite, f.b, f.ended);
  CHECK(f.device.Take() == Calls{"record e2 on s1", "s2 waits for e2"});
}

TEST_CASE("the host waits for writes before it reads, and for reads too before it writes") {
  Fixture f;
  f.uses.Add(kOverwrite, f.a, f.ended);
  f.uses.Add(kRead, f.b, f.ended);
  CHECK(f.uses.BeforeHost(kRead).size() == 1);
  CHECK(f.uses.BeforeHost(kReadWrite).size() == 2);
  CHECK(f.uses.BeforeHost(kOverwrite).size() == 2);
}

TEST_CASE("a host that has waited to read leaves a kernel's stream among the readers") {
  Fixture f;
  f.uses.Add(kOverwrite, f.a, f.ended);
  f.uses.Reached(f.uses.BeforeHost(kRead), kRead, f.ended);
  CHECK(f.uses.BeforeHost(kRead).empty());
  CHECK(f.uses.LastWrite() == nullptr);
  f.device.Take();
  f.uses.Add(kReadWrite, f.b, f.ended);
  CHECK(f.device.Take() == Calls{"record e2 on s1", "s2 waits for e2"});
}

TEST_CASE("a host that has waited for a copy forgets it") {
  Fixture f;
  f.uses.Add(kOverwrite, f.a, f.ended)->point.emplace(f.a);
  f.uses.Reached(f.uses.BeforeHost(kRead), kRead, f.ended);
  CHECK(f.uses.First() == nullptr);
}

TEST_CASE("a host that has waited to write forgets all that it has waited for") {
  Fixture f;
  f.uses.Add(kOverwrite, f.a, f.ended);
  f.uses.Add(kRead, f.b, f.ended);
  f.uses.Reached(f.uses.BeforeHost(kReadWrite), kReadWrite, f.ended);
  CHECK(f.uses.First() == nullptr);
}

TEST_CASE("what is noted while the host waits is still to be waited for") {
  for (const Access access : {kRead, kReadWrite}) {
    Fixture f;
    f.uses.Add(kOverwrite, f.a, f.ended);
    const auto awaited = f.uses.BeforeHost(access);
    f.uses.Add(kRead, f.a, f.ended);  // the same note stands for more work now
    f.uses.Add(kRead, f.b, f.ended);
    f.uses.Reached(awaited, access, f.ended);
    CHECK(f.uses.BeforeHost(access).size() == (access == kRead ? 1 : 2));
  }
}

TEST_CASE("the last writer is the stream that wrote last, and nobody before the first write") {
  Fixture f;
  CHECK(f.uses.LastWrite() == nullptr);
  f.uses.Add(kRead, f.a, f.ended);
  CHECK(f.uses.LastWrite() == nullptr);
  f.uses.Add(kReadWrite, f.b, f.ended);
  f.uses.Add(kRead, f.a, f.ended);
  REQUIRE(f.uses.LastWrite() != nullptr);
  CHECK(f.uses.LastWrite()->stream() == f.b);
  CHECK(f.uses.First()->stream() == f.b);
}

TEST_CASE("readers whose stream nobody else owns are folded into the newest, which waits for them") {
  Fixture f;
  f.uses.Add(kRead, Stream(f.device), f.ended);
  f.uses.Add(kRead, Stream(f.device), f.ended);
  f.uses.Add(kRead, f.a, f.ended);
  f.device.Take();
  std::vector<Calls> before;
  f.uses.FoldOrphans([&] { before.push_back(f.device.Take()); }, f.ended);
  CHECK(before == std::vector<Calls>{{}, {"record e1 on s3", "s1 waits for e1"}});
  CHECK(f.device.Take() == Calls{"record e2 on s4", "s1 waits for e2"});
  f.ended.clear();
  CHECK(f.device.Take() == Calls{"destroy s3", "destroy s4"});
  f.uses.Add(kOverwrite, f.b, f.ended);
  CHECK(f.device.Take() == Calls{"record e3 on s1", "s2 waits for e3"});
}

TEST_CASE("neither writers nor streams that others hold are folded") {
  Fixture f;
  f.uses.Add(kOverwrite, Stream(f.device), f.ended);
  f.uses.Add(kRead, f.a, f.ended);
  f.uses.Add(kRead, f.main, f.ended);
  f.uses.Add(kRead, f.b, f.ended);
  f.device.Take();
  f.uses.FoldOrphans([] { FAIL("nothing is to be folded"); }, f.ended);
  CHECK(f.device.Take().empty());
}

TEST_CASE("the newest use is not folded, though nobody else holds its stream") {
  Fixture f;
  f.uses.Add(kRead, f.a, f.ended);
  f.uses.Add(kRead, Stream(f.device), f.ended);
  f.device.Take();
  f.uses.FoldOrphans([] { FAIL("nothing is to be folded"); }, f.ended);
  CHECK(f.device.Take().empty());
}

TEST_CASE("a note is orphaned when the last user is gone, and a stream that it gives out is a user") {
  LogDevice device;
  std::optional<Stream> user(device);
  const StreamNote note(*user);
  CHECK_FALSE(note.orphaned());
  std::optional<Stream> given = note.ToStream();
  user.reset();
  CHECK_FALSE(note.orphaned());
  given.reset();
  CHECK(note.orphaned());
  CHECK_FALSE(StreamNote(Stream::Main(device)).orphaned());
}

TEST_CASE("a wait that fails leaves the list as it was") {
  for (const bool late : {false, true})
    for (const int nth : {1, 2, 3, 4}) {
      Fixture f;
      f.uses.Add(kOverwrite, f.a, f.ended);
      f.uses.Add(kRead, f.main, f.ended);
      f.device.Take();
      f.device.FailAt(nth, late);
      CHECK_THROWS_AS(f.uses.Add(kReadWrite, f.b, f.ended), DeviceError);
      CHECK(f.uses.LastWrite()->stream() == f.a);
      f.device.Take();
      f.uses.Add(kReadWrite, f.b, f.ended);
      CHECK(f.device.Take().size() == 4);
      CHECK(f.uses.LastWrite()->stream() == f.b);
    }
}

TEST_CASE("memory is given back after all its uses, by a wait of the stream that gives it back") {
  Fixture f;
  f.uses.Add(kOverwrite, f.a, f.ended);
  f.uses.Add(kRead, f.b, f.ended);
  f.device.Take();
  f.uses.EndBefore(f.b);
  CHECK(f.device.Take() == Calls{"record e2 on s1", "s2 waits for e2"});
  CHECK(f.uses.First() == nullptr);
}

TEST_CASE("host memory is given back after a wait of the host for all its uses") {
  Fixture f;
  f.uses.Add(kOverwrite, f.a, f.ended);
  f.uses.Add(kRead, f.b, f.ended);
  f.device.Take();
  f.uses.EndBeforeHost();
  CHECK(f.device.Take() ==
        Calls{"record e2 on s1", "host waits for e2", "record e3 on s2", "host waits for e3"});
  CHECK(f.uses.First() == nullptr);
}

TEST_CASE("a use that can't be ordered is waited for with its whole stream") {
  Fixture f;
  f.uses.Add(kOverwrite, f.a, f.ended);
  f.device.FailAt(1);
  CHECK(f.uses.TryEndBefore(f.b));
  CHECK(f.device.Take() == Calls{"record e1 on s1", "synchronize s1"});
  f.uses.Add(kOverwrite, f.a, f.ended);
  f.device.FailAt(2);
  CHECK(f.uses.TryEndBeforeHost());
  CHECK(f.device.Take() == Calls{"record e1 on s1", "host waits for e1", "synchronize s1"});
}

TEST_CASE("a list whose driver is gone ends without a throw") {
  Fixture f;
  f.uses.Add(kOverwrite, f.a, f.ended);
  f.device.Fail();
  CHECK(f.uses.TryEndBefore(f.b));
  CHECK(f.uses.TryEndBeforeHost());
  CHECK(f.uses.First() == nullptr);
}

}  // namespace
}  // namespace ferry::detail
