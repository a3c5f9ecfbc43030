// SPDX-License-Identifier: BSD-2-Clause
// Reductions and scans of the user's own, over operands.
#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "ferry/error.hpp"
#include "ferry/kokkos.hpp"
#include "ferry/observer.hpp"
#include "tests/unit/kernels_world.hpp"

namespace ferry::testing {
namespace {

struct SumOf {
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, const double* x, double& sum) const { sum += x[i]; }
};
struct MostOf {
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t j, std::int64_t i, View<const double, 2> x,
                                         double& most) const {
    if (x(j, i) > most) most = x(j, i);
  }
};
struct WhereMost {
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, const double* x,
                                         Kokkos::MaxLoc<double, std::int64_t>::value_type& most) const {
    if (x[i] > most.val) most = {x[i], i};
  }
};

TEST_CASE("A reduction gives what Kokkos' reducer says, in one dim and in two", "[kernels]") {
  if (!detail::UseKokkos() && detail::kHasDeviceSpace) SKIP("this Kokkos needs a GPU");
  const World world(Everywhere());
  for (const std::int64_t n : {1, 64, 1000, 100003}) {
    std::vector<double> values(static_cast<std::size_t>(n), 2);
    values[values.size() / 2] = 9;
    const Array<double> x(values, world.device());
    double sum = 77, most = 77;
    ParallelReduce(world.place(), n, Read(x), SumOf{}, sum);
    CHECK(sum == 2.0 * static_cast<double>(n - 1) + 9);
    ParallelReduce(world.place(), {1, n}, Read(x), MostOf{}, Kokkos::Max<double>(most));
    CHECK(most == 9);
    Kokkos::MaxLoc<double, std::int64_t>::value_type where{};
    ParallelReduce(world.place(), n, Read(x), WhereMost{}, Kokkos::MaxLoc<double, std::int64_t>(where));
    CHECK((where.val == 9 && where.loc == n / 2));
  }
}

TEST_CASE("A reduction of nothing is what the reducer begins with", "[kernels]") {
  const World world(Everywhere());
  const Array<double> none;
  double sum = 77, most = 77;
  ParallelReduce(world.place(), 0, Read(none), SumOf{}, sum);
  CHECK(sum == 0);
  ParallelReduce(world.place(), {0, 4}, Read(none), MostOf{}, Kokkos::Max<double>(most));
  CHECK(most == -std::numeric_limits<double>::max());
}

struct SumsBefore {
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, const int* x, int* sums, int& sum,
                                         bool final) const {
    sum += x[i];
    if (final) sums[i] = sum;
  }
};

TEST_CASE("A scan adds up all before, and gives the total to who wants it", "[kernels]") {
  if (!detail::UseKokkos() && detail::kHasDeviceSpace) SKIP("this Kokkos needs a GPU");
  const World world(Everywhere());
  for (const std::int64_t n : {1, 2, 65, 10007}) {
    const Array<int> x(Indices(n), world.device());
    Array<int> sums(n, world.device());
    std::vector<int> expected = Indices(n);
    std::partial_sum(expected.begin(), expected.end(), expected.begin());
    ParallelScan(world.place(), n, Read(x), Overwrite(sums), SumsBefore{});
    CHECK(ValuesOf(sums) == expected);
    int total = 77;
    ParallelScan(world.place(), n, Read(x), Overwrite(sums), SumsBefore{}, total);
    CHECK(total == expected.back());
    CHECK(ValuesOf(sums) == expected);
  }
  int total = 77;
  ParallelScan(world.place(), 0, Read(Array<int>()), Overwrite(Array<int>()), SumsBefore{}, total);
  CHECK(total == 0);
}

TEST_CASE("A reduction whose wait fails leaves its work something to write to", "[kernels][no-gpu]") {
  sim::Options options;
  options.fail_call = "StreamSynchronize";
  options.fail_at = 1;
  const World world("sim stream", options);
  const Array<double> x(std::vector<double>(100, 1), world.device());
  double sum = 77;
  CHECK_THROWS_AS(ParallelReduce(world.place(), 100, Read(x), SumOf{}, sum), DeviceError);
  CHECK(sum == 77);
  sim::Drain();
  ParallelReduce(world.place(), 100, Read(x), SumOf{}, sum);
  CHECK(sum == 100);
}

TEST_CASE("A scan that throws leaves its total as it was", "[kernels]") {
  if (!detail::UseKokkos() && detail::kHasDeviceSpace) SKIP("this Kokkos needs a GPU");
  const World world(Everywhere());
  Array<int> x(Indices(100), world.device());
  int total = 77;
  CHECK_THROWS_AS(
      ParallelScan(world.place(), 50, Read(x.Slice(0, 50)), Overwrite(x.Slice(20, 50)), SumsBefore{}, total),
      std::invalid_argument);
  CHECK(total == 77);
}

struct NoWork {
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t, const double*) const {}
};
struct AddUp {
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, const double* x, double& sum, bool) const {
    sum += x[i];
  }
};

TEST_CASE("Observers are told which calls had the host wait for what a GPU computed", "[kernels]") {
  if (!detail::UseKokkos() && detail::kHasDeviceSpace) SKIP("this Kokkos needs a GPU");
  struct Waits : Observer {
    using Observer::On;
    void On(const CallRecord& call) override { waited += call.waits ? 'w' : '-'; }
    void On(const SyncRecord&) override { waited += "told twice"; }
    std::string waited;
  };
  const World world(Everywhere());
  const Array<double> x(std::vector<double>(100, 2), world.device());
  const auto notes = std::make_shared<Waits>();
  const Watch watch(notes);
  double sum = 0;
  ParallelReduce(world.place(), 100, Read(x), SumOf{}, sum);
  ParallelScan(world.place(), 100, Read(x), AddUp{}, sum);
  ParallelScan(world.place(), 100, Read(x), AddUp{});
  ParallelFor(world.place(), 100, Read(x), NoWork{});
  const bool queued = detail::KernelPlace(world.place())->side() == Side::kGpu &&
                      !world.device().properties().kernels_at_once;
  CHECK(notes->waited == (queued ? "ww--" : "----"));
}

}  // namespace
}  // namespace ferry::testing
