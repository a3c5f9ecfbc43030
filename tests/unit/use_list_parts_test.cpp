// SPDX-License-Identifier: BSD-2-Clause
// Uses of parts of a buffer.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "use_list_fixture.hpp"

namespace ferry::detail {
namespace {

constexpr Bytes kLeft{0, 8}, kRight{8, Bytes::kEnd}, kMiddle{4, 12};

TEST_CASE("room for one use more is made without a copy of all of them each time") {
  UseFixture f;
  Uses uses;
  int copies = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    const Use* const before = uses.begin();
    uses.reserve(i + 1);
    copies += uses.begin() != before;
    uses.Change([&](std::vector<Use>& all) { all.push_back(Use{StreamNote(f.a), false}); });
  }
  CHECK(copies < 20);
}

TEST_CASE("an access waits for nobody who uses other bytes") {
  for (const Access access : {kRead, kReadWrite, kOverwrite}) {
    UseFixture f;
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
  UseFixture f;
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
  UseFixture f;
  f.Add(kOverwrite, f.a);
  for (std::size_t i = 0; i < 10; ++i) f.Add(kRead, f.b, {10 * i, 10 * i + 5});
  f.device.Take();
  f.Add(kOverwrite, f.main);
  CHECK(f.device.Take() ==
        Calls{"record e11 on s1", "main waits for e11", "record e12 on s2", "main waits for e12"});
}

TEST_CASE("a host that has waited for some bytes has not waited for others") {
  UseFixture f;
  f.Add(kOverwrite, f.a);
  f.Reach(f.BeforeHost(kReadWrite, kMiddle), kReadWrite, kMiddle);
  CHECK(f.BeforeHost(kRead, kMiddle).empty());
  CHECK(f.BeforeHost(kRead, {0, 4}).size() == 1);
  CHECK(f.BeforeHost(kRead, {12, 13}).size() == 1);
  CHECK(f.uses.Covers({0, 4}, kReadWrite, f.a.id()));
  CHECK_FALSE(f.uses.Covers({0, 5}, kRead, f.a.id()));
}

TEST_CASE("copies of many parts that are over are forgotten") {
  UseFixture f;
  for (std::size_t i = 0; i < 1000; ++i) {
    f.AddCopy(kOverwrite, f.a, {i, i + 1});
    f.device.RunAll();
    REQUIRE(f.device.live() <= 2 + 66);
  }
}

TEST_CASE("where two parts become one, the host still knows what came last") {
  UseFixture f;
  f.Add(kRead, f.a, kLeft);
  const auto awaited = f.BeforeHost(kReadWrite);
  f.Add(kRead, f.a, kRight);
  f.Reach(awaited, kReadWrite);
  CHECK(f.BeforeHost(kReadWrite, {8, 9}).size() == 1);
}

TEST_CASE("the writer of several parts is the one that wrote last") {
  for (const bool left_last : {false, true}) {
    UseFixture f;
    f.Add(kOverwrite, left_last ? f.b : f.a, left_last ? kRight : kLeft);
    f.Add(kOverwrite, left_last ? f.a : f.b, left_last ? kLeft : kRight);
    CHECK(f.uses.Writer({}) == (left_last ? f.a : f.b));
    CHECK(f.uses.Writer(kLeft) == f.a);
  }
}

TEST_CASE("of a stream's many copies that are not over, the last one is waited for") {
  for (const bool leftwards : {false, true}) {
    UseFixture f;
    f.device.Launch([] {});  // so that no copy is over
    f.Add(kOverwrite, f.b, {1000, 1001});
    for (std::size_t i = 0; i < 100; ++i) {
      const std::size_t at = leftwards ? 99 - i : i;
      f.AddCopy(kOverwrite, f.a, {at, at + 1});
    }
    f.device.Take();
    f.Add(kRead, f.main);
    const Calls calls = f.device.Take();
    const std::size_t copies = calls.size() - 2;  // the others are the kernel's
    CHECK(copies < 70);
    for (std::size_t i = 0; i < copies; ++i) {
      const std::string wait = "main waits for e" + std::to_string(100 - i);
      CAPTURE(wait);
      CHECK(std::count(calls.begin(), calls.end(), wait) == 1);
    }
  }
}

TEST_CASE("many copies do not stand for kernels, nor for another stream's copies") {
  UseFixture f;
  f.device.Launch([] {});  // so that no copy is over
  f.AddCopy(kOverwrite, f.b, {0, 1});
  f.Add(kOverwrite, f.a, {1, 2});
  for (std::size_t i = 2; i < 100; ++i) f.AddCopy(kOverwrite, f.a, {i, i + 1});
  f.device.Take();
  f.Add(kRead, f.main);
  const Calls calls = f.device.Take();
  for (const char* const call :
       {"record e100 on s1", "main waits for e100", "main waits for e1", "main waits for e99"}) {
    CAPTURE(call);
    CHECK(std::count(calls.begin(), calls.end(), call) == 1);
  }
}

TEST_CASE("copies of two streams in turn are each waited for, however many there are") {
  UseFixture f;
  f.device.Launch([] {});  // so that no copy is over
  for (std::size_t i = 0; i < 100; ++i) f.AddCopy(kOverwrite, i % 2 == 0 ? f.a : f.b, {i, i + 1});
  f.device.Take();
  f.Add(kRead, f.main);
  const Calls calls = f.device.Take();
  CHECK(std::count_if(calls.begin(), calls.end(),
                      [](const std::string& call) { return call.starts_with("main waits for e"); }) == 100);
}

}  // namespace
}  // namespace ferry::detail
