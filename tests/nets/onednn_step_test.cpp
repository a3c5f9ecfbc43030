// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
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

using detail::onednn::Arrays;
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

/// Memory of a step: what was there before it is no number, and what lies around it is left alone.
class Guarded {
 public:
  explicit Guarded(std::int64_t count)
      : numbers_(static_cast<std::size_t>(count + 2 * kGuard + 1), std::numeric_limits<float>::quiet_NaN()) {
    // At an address that is no multiple of a vector.
    std::fill(numbers_.begin(), numbers_.begin() + kGuard + 1, kMark);
    std::fill(numbers_.end() - kGuard, numbers_.end(), kMark);
  }
  float* data() { return numbers_.data() + kGuard + 1; }
  void Check() const {
    CHECK(std::all_of(numbers_.begin(), numbers_.begin() + kGuard + 1, [](float x) { return x == kMark; }));
    CHECK(std::all_of(numbers_.end() - kGuard, numbers_.end(), [](float x) { return x == kMark; }));
  }

 private:
  static constexpr std::int64_t kGuard = 64;
  static constexpr float kMark = 12345;
  std::vector<float> numbers_;
};

TEST_CASE("A step of oneDNN computes the same whatever its scratch holds and OpenMP grants",
          "[convolution]") {
  if (ferry::testing::kThreadSanitized) SKIP("ThreadSanitizer does not know OpenMP's barriers");
  if (omp_set_num_threads == nullptr || GOMP_parallel == nullptr) SKIP("no OpenMP");
  const int many = 2 * omp_get_num_procs();
  const std::vector<Threads> all{{1},
                                 {2},
                                 {many},
                                 {many, Threads::kAsTheSystemIsBusy},
                                 {2, Threads::kNoLevel},
                                 {2, Threads::kInAnotherTeam}};
  for (const Geometry& geometry :
       std::vector<Geometry>{{4, 64, 64, 1, {3, 3}, {8, 8}, 1},
                             {1, 288, 128, 1, {5, 5}, {5, 5}, 2},
                             {5, 64, 64, 2, {3, 3}, {5, 5}, 1},
                             {2, 32, 40, 1, {3, 3}, {9, 9}},  // which the library may fill up to 48
                             {2, 40, 32, 1, {3, 3}, {9, 9}}}) {
    const ConvolutionSizes sizes = SizesOf(geometry);
    const std::vector<float> x = Numbers<float>(sizes.images * sizes.ImageCount(), 1);
    const std::vector<float> w = Numbers<float>(sizes.out_channels * sizes.KernelCount(), 2);
    const std::vector<float> b = Numbers<float>(sizes.out_channels, 3);
    const std::vector<float> y = Numbers<float>(sizes.images * sizes.MapCount(), 4);
    for (const Kind kind : {Kind::kToMaps, Kind::kToImages, Kind::kToWeights}) {
      std::vector<double> expected;
      for (const Threads& made : all) {
        std::unique_ptr<const Step> step;
        With(made, [&] {
          step = MakeStep(sizes, kind, Layout::kItsOwn, kind != Kind::kToImages);
          CHECK(omp_get_max_threads() == made.count);  // as before
        });
        for (const Threads& run : all) {
          INFO(Words(sizes) << ", map " << static_cast<int>(kind) << ", made for " << made.count << " ("
                            << made.granted << "), run by " << run.count << " (" << run.granted << ')');
          std::vector<float> images = x, weights = w, bias = b, maps = y;
          Guarded scratch(step->scratch());
          With(run, [&] {
            step->Run({images.data(), weights.data(), bias.data(), maps.data(), scratch.data()});
          });
          scratch.Check();
          std::vector<float>& result = kind == Kind::kToMaps     ? maps
                                       : kind == Kind::kToImages ? images
                                                                 : weights;
          if (kind == Kind::kToWeights) result.insert(result.end(), bias.begin(), bias.end());
          const std::vector<double> values(result.begin(), result.end());
          if (expected.empty()) expected = values;  // of one thread, which are those of plain loops
          nets_test::CheckNear<float>(expected, values, "the result");
        }
      }
    }
  }
}

}  // namespace
}  // namespace ferry::nets_test
