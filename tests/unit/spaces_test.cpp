// SPDX-License-Identifier: BSD-2-Clause
// What tells devices apart for ledgers and traces.
#include "core/seeing/spaces.hpp"

#include <catch2/catch_test_macros.hpp>

#include "ferry/backend.hpp"
#include "ferry/sim.hpp"

namespace ferry::testing {
namespace {

TEST_CASE("Spaces are told apart by backend and index, and two devices of one name are one") {
  sim::Reset({.devices = 2});
  const auto sim0 = MakeDevice("sim:0"), again = MakeDevice("sim:0"), sim1 = MakeDevice("sim:1"),
             host = MakeDevice("host");
  detail::Spaces spaces;
  CHECK(spaces.NumberOf(nullptr) == detail::Spaces::kHost);
  CHECK(spaces.NameOf(detail::Spaces::kHost) == "the host");
  const std::size_t first = spaces.NumberOf(sim0.get());
  CHECK(spaces.NumberOf(again.get()) == first);
  CHECK(spaces.NumberOf(sim1.get()) == first + 1);
  CHECK(spaces.NumberOf(host.get()) == first + 2);
  CHECK(spaces.NumberOf(sim0.get()) == first);
  CHECK(spaces.NameOf(first) == "sim:0");
  CHECK(spaces.NameOf(first + 1) == "sim:1");
  CHECK(spaces.NameOf(first + 2) == "host:0");
}

}  // namespace
}  // namespace ferry::testing
