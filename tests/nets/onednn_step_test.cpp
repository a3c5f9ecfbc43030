// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "core/nets/vision/onednn/step.hpp"
#include "tests/nets/convolution_check.hpp"
#include "tests/nets/geometry.hpp"
#include "tests/sanitized.hpp"

extern "C" {
__attribute__((weak)) int omp_get_num_procs();
__attribute__((weak)) int omp_get_max_threads();
__attribute__((weak)) void omp_set_num_threads(int threads);
__attribute__((weak)) void omp_set_dynamic(int may_be_fewer);
__attribute__((weak)) void omp_set_max_active_levels(int levels);
/// What compilers make of a parallel region.
__attribute__((weak)) void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags);
}

namespace ferry::nets_test {
namespace {

using detail::onednn::Kind;
using detail::onednn::Layout;
using detail::onednn::Step;

/// How many threads OpenMP is asked for, and what may keep it from granting them.
struct Threads {
  int count = 1;
  enum { kAll, kAsTheSystemIsBusy, kNoLevel, kInAnotherTeam } granted = kAll;
};

/// Calls body with these.
template <class Body>
void With(const Threads& threads, Body body) {
  omp_set_num_threads(threads.count);
  omp_set_dynamic(threads.granted == Threads::kAsTheSystemIsBusy ? 1 : 0);
  omp_set_max_active_levels(threads.granted == Threads::kNoLevel ? 0 : 1);
  if (threads.granted == Threads::kInAnotherTeam) {
    struct InTeam {
      Body* body;
      std::atomic<bool> first = true;
    } in_team{&body};
    const auto run = [](void* data) {
      auto& team = *static_cast<InTeam*>(data);
      if (team.first.exchange(false)) (*team.body)();
    };
    GOMP_parallel(run, &in_team, 2, 0);
  } else {
    body();
  }
  omp_set_max_active_levels(1);
  omp_set_dynamic(0);
  omp_set_num_threads(1);
}

/// What a step writes or adds to, with its bias; from fixed numbers. Its scratch begins at no vector, and has
/// no numbers, as what lies behind it.
std::vector<double> Result(const Step& step, const ConvolutionSizes& sizes, Kind kind,
                           const Threads& threads) {
  const auto numbers = [](std::int64_t count, std::uint64_t seed, bool overwritten) {
    std::vector<float> values = Numbers<float>(count, seed);
    if (overwritten) std::fill(values.begin(), values.end(), std::numeric_limits<float>::quiet_NaN());
    return values;
  };
  std::vector<float> images = numbers(sizes.images * sizes.ImageCount(), 1, kind == Kind::kToImages);
  std::vector<float> weights = numbers(sizes.out_channels * sizes.KernelCount(), 2, false);
  std::vector<float> bias = numbers(sizes.out_channels, 3, false);
  std::vector<float> maps = numbers(sizes.images * sizes.MapCount(), 4, kind == Kind::kToMaps);
  constexpr std::int64_t kBehind = 64;
  std::vector<float> scratch(static_cast<std::size_t>(1 + step.scratch() + kBehind),
                             std::numeric_limits<float>::quiet_NaN());
  With(threads, [&] {
    step.Run({images.data(), weights.data(), bias.data(), maps.data(), scratch.data() + 1});
  });
  CHECK(std::all_of(scratch.end() - kBehind, scratch.end(), [](float x) { return std::isnan(x); }));
  std::vector<float>& result = kind == Kind::kToMaps ? maps : kind == Kind::kToImages ? images : weights;
  result.insert(result.end(), bias.begin(), bias.end());
  return {result.begin(), result.end()};
}

TEST_CASE("A step of oneDNN computes the same whatever its scratch holds and OpenMP grants",
          "[convolution]") {
  if (ferry::testing::kThreadSanitized) SKIP("ThreadSanitizer does not know OpenMP's barriers");
  if (omp_set_num_threads == nullptr || GOMP_parallel == nullptr) SKIP("no OpenMP");
  const Geometry geometry =
      GENERATE(Geometry{4, 64, 64, 1, {3, 3}, {8, 8}, 1}, Geometry{1, 288, 128, 1, {5, 5}, {5, 5}, 2},
               Geometry{5, 64, 64, 2, {3, 3}, {5, 5}, 1},
               Geometry{2, 32, 40, 1, {3, 3}, {9, 9}},  // which may be filled up to 48
               Geometry{2, 40, 32, 1, {3, 3}, {9, 9}},
               Geometry{1, 64, 64, 1, {1, 1}, {14, 14}},  // by the library's products
               Geometry{2, 64, 64, 1, {3, 3}, {9, 9}, 2, 2, 2});
  const auto kind = GENERATE(Kind::kToMaps, Kind::kToImages, Kind::kToWeights);
  const auto layout = GENERATE(Layout::kItsOwn, Layout::kPlain);
  const ConvolutionSizes sizes = SizesOf(geometry);
  const int many = 2 * omp_get_num_procs();
  const std::vector<Threads> all{{1},
                                 {2},
                                 {many},
                                 {many, Threads::kAsTheSystemIsBusy},
                                 {many, Threads::kNoLevel},
                                 {2, Threads::kInAnotherTeam}};
  std::vector<double> expected;  // of one thread
  for (const Threads& made : all) {
    std::unique_ptr<const Step> step;
    With(made, [&] {
      step = MakeStep(sizes, kind, layout, kind != Kind::kToImages);
      CHECK(omp_get_max_threads() == made.count);  // as before
    });
    for (const Threads& run : all) {
      INFO(Words(sizes) << ", made for " << made.count << " (" << made.granted << "), run by " << run.count
                        << " (" << run.granted << ')');
      const std::vector<double> values = Result(*step, sizes, kind, run);
      if (expected.empty()) expected = values;
      nets_test::CheckNear<float>(expected, values, "the result");
    }
  }
}

}  // namespace
}  // namespace ferry::nets_test
