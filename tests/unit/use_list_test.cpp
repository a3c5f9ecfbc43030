// SPDX-License-Identifier: BSD-2-Clause
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "use_list_fixture.hpp"

namespace ferry::detail {
namespace {

TEST_CASE("the first use of a buffer waits for nobody") {
  UseFixture f;
  CHECK(f.Add(kReadWrite, f.a));
  CHECK(f.device.Take().empty());
}

TEST_CASE("a read waits for the last write on another stream") {
  UseFixture f;
  f.Add(kOverwrite, f.a);
  f.Add(kRead, f.b);
  CHECK(f.device.Take() == Calls{"record e1 on s1", "s2 waits for e1"});
}

TEST_CASE("a read waits for no other read") {
  UseFixture f;
  f.Add(kRead, f.a);
  f.Add(kRead, f.b);
  CHECK(f.device.Take().empty());
}

TEST_CASE("a write waits for the reads since the last write, and then stands for all of them") {
  for (const Access write : {kReadWrite, kOverwrite}) {
    UseFixture f;
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
  UseFixture f;
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
  UseFixture f;
  for (const Access access : {kOverwrite, kRead, kReadWrite, kRead, kOverwrite}) f.Add(access, f.a);
  CHECK(f.device.Take().empty());
}

TEST_CASE("a use that an earlier one covers is not noted again") {
  UseFixture f;
  CHECK(f.Add(kRead, f.a));
  CHECK_FALSE(f.Add(kRead, f.a));
  CHECK(f.Add(kReadWrite, f.b));
  CHECK_FALSE(f.Add(kRead, f.b));
}

TEST_CASE("a use with an exact point is waited for at that point, and its point is recorded once") {
  UseFixture f;
  f.AddCopy(kOverwrite, f.a);
  f.device.Take();
  f.Add(kRead, f.b);
  f.Add(kRead, f.main);
  CHECK(f.device.Take() == Calls{"s2 waits for e1", "main waits for e1"});
}

TEST_CASE("a stream that has waited for the writer does not wait again") {
  UseFixture f;
  f.Add(kOverwrite, f.a);
  f.AddCopy(kRead, f.b);
  f.device.Take();
  CHECK(f.Add(kRead, f.b));  // its kernels come behind the copy
  CHECK(f.device.Take().empty());
}

TEST_CASE("a copy's write keeps its exact point when its stream reads on") {
  UseFixture f;
  f.AddCopy(kOverwrite, f.a);
  CHECK(f.Add(kRead, f.a));
  f.device.Take();
  f.Add(kRead, f.b);
  CHECK(f.device.Take() == Calls{"s2 waits for e1"});
}

TEST_CASE("a copy's read turns lazy when its stream reads on") {
  UseFixture f;
  f.AddCopy(kRead, f.a);
  CHECK(f.Add(kRead, f.a));
  f.device.Take();
  f.Add(kReadWrite, f.b);
  CHECK(f.device.Take() == Calls{"record e2 on s1", "s2 waits for e2"});
}

TEST_CASE("the host waits for writes before it reads, and for reads too before it writes") {
  UseFixture f;
  f.Add(kOverwrite, f.a);
  f.Add(kRead, f.b);
  CHECK(f.BeforeHost(kRead).size() == 1);
  CHECK(f.BeforeHost(kReadWrite).size() == 2);
  CHECK(f.BeforeHost(kOverwrite).size() == 2);
}

TEST_CASE("a host that has waited to read leaves a kernel's stream among the readers") {
  UseFixture f;
  f.Add(kOverwrite, f.a);
  f.Reach(f.BeforeHost(kRead), kRead);
  CHECK(f.BeforeHost(kRead).empty());
  CHECK(!f.uses.Writer({}));
  CHECK(f.uses.Readers({}, f.dying).size() == 1);
  f.device.Take();
  f.Add(kReadWrite, f.b);
  CHECK(f.device.Take() == Calls{"record e3 on s1", "s2 waits for e3"});
}

TEST_CASE("a host that has waited for a copy forgets it") {
  UseFixture f;
  f.AddCopy(kOverwrite, f.a);
  f.Reach(f.BeforeHost(kRead), kRead);
  CHECK(f.uses.empty());
}

TEST_CASE("a host that has waited to write forgets all that it has waited for") {
  UseFixture f;
  f.Add(kOverwrite, f.a);
  f.Add(kRead, f.b);
  f.Reach(f.BeforeHost(kReadWrite), kReadWrite);
  CHECK(f.uses.empty());
}

TEST_CASE("what is noted while the host waits is still to be waited for") {
  for (const Access access : {kRead, kReadWrite}) {
    UseFixture f;
    f.Add(kOverwrite, f.a);
    const auto awaited = f.BeforeHost(access);
    f.Add(kRead, f.a);  // the same note stands for more work now
    f.Add(kRead, f.b);
    f.Reach(awaited, access);
    CHECK(f.BeforeHost(access).size() == (access == kRead ? 1 : 2));
  }
}

TEST_CASE("a host that has waited for a copy has waited for nothing behind it on that stream") {
  for (const bool copy : {false, true}) {
    UseFixture f;
    f.AddCopy(kOverwrite, f.a);
    const auto awaited = f.BeforeHost(kReadWrite);
    if (copy)
      f.AddCopy(kOverwrite, f.a);
    else
      f.Add(kRead, f.a);
    f.Reach(awaited, kReadWrite);
    CHECK(f.BeforeHost(kReadWrite).size() == 1);
  }
}

TEST_CASE("the last writer is the stream that wrote last, and nobody before the first write") {
  UseFixture f;
  CHECK_FALSE(f.uses.Writer({}));
  f.Add(kRead, f.a);
  CHECK_FALSE(f.uses.Writer({}));
  f.Add(kReadWrite, f.b);
  f.Add(kRead, f.a);
  CHECK(f.uses.Writer({}) == f.b);
  CHECK(f.uses.Last() == f.a);
}

TEST_CASE("a stream that has ended is waited for at the point after its last work") {
  UseFixture f;
  f.Add(kOverwrite, Stream(f.device));
  f.device.Take();
  CHECK_FALSE(f.uses.Writer({}));
  CHECK_FALSE(f.uses.Last());
  f.Add(kRead, f.a);
  f.Add(kReadWrite, f.b);
  CHECK(f.device.Take() == Calls{"s1 waits for e1", "s2 waits for e1", "record e2 on s1", "s2 waits for e2"});
}

TEST_CASE("a borrowed stream that is forgotten is waited for at the point after its work by then") {
  UseFixture f;
  const Stream lent = Stream::Borrow(f.device, StreamHandle{77});
  f.Add(kOverwrite, lent);
  f.Forget(lent);
  CHECK(f.device.Take() == Calls{"record e1 on s76"});
  f.Forget(lent);
  f.Add(kRead, f.a);
  CHECK(f.device.Take() == Calls{"s1 waits for e1"});
}

TEST_CASE("to forget one stream leaves others and exact points as they were") {
  UseFixture f;
  const Stream lent = Stream::Borrow(f.device, StreamHandle{77});
  f.Add(kOverwrite, lent);
  f.Add(kRead, f.a);
  f.Forget(lent);
  f.device.Take();
  f.Add(kReadWrite, f.b);
  CHECK(f.device.Take() == Calls{"s2 waits for e2", "record e3 on s1", "s2 waits for e3"});
  f.AddCopy(kOverwrite, lent);
  f.Forget(lent);
  f.device.Take();
  f.Add(kRead, f.a);
  CHECK(f.device.Take() == Calls{"s1 waits for e5"});
}

TEST_CASE("a borrowed stream that is forgotten is not used again, and is no other one with its handle") {
  UseFixture f;
  const Stream lent = Stream::Borrow(f.device, StreamHandle{77});
  f.Add(kOverwrite, lent);
  f.Add(kRead, f.a);
  f.Forget(lent);
  CHECK_FALSE(f.uses.Writer({}));
  CHECK(f.uses.Covers({}, kRead, f.a.id()));
  f.device.Take();
  f.Add(kRead, lent);  // a new one, to which the vendor gave the old handle
  CHECK(f.device.Take() == Calls{"s76 waits for e2"});
  f.Forget(lent);
  CHECK(f.uses.Covers({}, kRead, f.a.id()));
  CHECK_FALSE(f.uses.Last());
  CHECK(f.uses.StreamsOf(f.device) == std::vector{f.a.handle()});
  f.device.Take();
  f.device.FailAt(2);
  CHECK(f.uses.TryEndBefore(f.b));
  for (const auto& call : f.device.Take()) CHECK(call.find("synchronize s76") == std::string::npos);
}

TEST_CASE("a writer that the host has waited for is a reader like others") {
  UseFixture f;
  f.Add(kOverwrite, f.b);
  f.Add(kRead, f.a);
  f.Reach(f.BeforeHost(kRead), kRead);
  CHECK(f.uses.Covers({}, kRead, f.a.id()));
  CHECK(f.uses.Covers({}, kRead, f.b.id()));
}

TEST_CASE("a wait that fails leaves the list as it was") {
  for (const bool late : {false, true})
    for (const int nth : {1, 2, 3, 4}) {
      UseFixture f;
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
  UseFixture f;
  f.Add(kOverwrite, f.a);
  f.Add(kRead, f.b);
  f.device.Take();
  f.uses.EndBefore(f.b);
  CHECK(f.device.Take() == Calls{"record e2 on s1", "s2 waits for e2"});
  CHECK_FALSE(f.uses.empty());  // until Clear
}

TEST_CASE("host memory is given back after a wait of the host for all its uses") {
  UseFixture f;
  f.Add(kOverwrite, f.a);
  f.Add(kRead, f.b);
  f.device.Take();
  f.uses.EndBeforeHost();
  CHECK(f.device.Take() ==
        Calls{"record e2 on s1", "record e3 on s2", "host waits for e2", "host waits for e3"});
  f.uses.Clear();
  CHECK(f.uses.empty());
}

TEST_CASE("a use that can't be ordered is waited for with its whole stream") {
  UseFixture f;
  f.Add(kOverwrite, f.a);
  f.device.FailAt(1);
  CHECK(f.uses.TryEndBefore(f.b));
  CHECK(f.device.Take() == Calls{"record e1 on s1", "synchronize s1"});
  f.Add(kOverwrite, f.a);
  f.device.FailAt(2);
  CHECK(f.uses.TryEndBeforeHost());
  CHECK(f.device.Take() == Calls{"record e1 on s1", "host waits for e1", "synchronize s1"});
}

TEST_CASE("a use of a stream that has ended and can't be ordered is waited for at its last point") {
  UseFixture f;
  f.Add(kOverwrite, Stream(f.device));
  f.device.Take();
  f.device.FailAt(1);
  CHECK(f.uses.TryEndBefore(f.b));
  CHECK(f.device.Take() == Calls{"s2 waits for e1", "host waits for e1"});
}

TEST_CASE("a list whose driver is gone ends without a throw") {
  UseFixture f;
  f.Add(kOverwrite, f.a);
  f.device.Fail();
  CHECK(f.uses.TryEndBefore(f.b));
  CHECK(f.uses.TryEndBeforeHost());
  CHECK(f.uses.empty());
}

}  // namespace
}  // namespace ferry::detail
