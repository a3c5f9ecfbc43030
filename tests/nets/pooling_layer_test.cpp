// SPDX-License-Identifier: BSD-2-Clause
// Pooling as a layer.
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "ferry/nets/layer_registry.hpp"
#include "ferry/statistics_device.hpp"
#include "tests/unit/kernels_world.hpp"

namespace ferry::nets_test {
namespace {

using ferry::testing::Everywhere;
using ferry::testing::Numbers;
using ferry::testing::World;

struct PoolingRun {
  std::shared_ptr<Layer<float>> layer;
  Blob<float> bottom, top;

  PoolingRun(const std::string& param, std::initializer_list<std::int64_t> shape, const Place& place,
             Phase phase = TRAIN)
      : bottom(shape, place.device()), top(place.device()) {
    LayerParameter message;
    message.set_name("pool");
    message.set_type("Pooling");
    message.set_phase(phase);
    REQUIRE(google::protobuf::TextFormat::ParseFromString(param, message.mutable_pooling_param()));
    layer = LayerRegistry<float>::CreateLayer(message, place);
    layer->SetUp({&bottom}, {&top});
  }

  void Fill(const std::vector<float>& values) {
    REQUIRE(static_cast<std::int64_t>(values.size()) == bottom.count());
    std::copy(values.begin(), values.end(), bottom.overwrite_cpu_data());
  }
  std::vector<float> Top() const { return {top.cpu_data(), top.cpu_data() + top.count()}; }
  std::vector<float> BottomDiff() const { return {bottom.cpu_diff(), bottom.cpu_diff() + bottom.count()}; }
};

TEST_CASE("Stochastic pooling chooses an element as often as it is large, and its gradient goes there",
          "[pooling]") {
  const World world(Everywhere());
  PoolingRun run("pool: STOCHASTIC kernel_size: 2 stride: 2", {1, 1, 2, 8000}, world.place());
  std::vector<float> x(16000);  // each window holds 1 2 / 0 5
  for (std::size_t i = 0; i < 8000; ++i) {
    x[i] = i % 2 == 0 ? 1.F : 2.F;
    x[8000 + i] = i % 2 == 0 ? 0.F : 5.F;
  }
  run.Fill(x);
  run.layer->set_random_key({7, 0, 0});
  run.layer->Forward({&run.bottom}, {&run.top});
  const std::vector<float> y = run.Top();
  const auto count = [&](float value) { return std::count(y.begin(), y.end(), value); };
  CHECK(count(0) == 0);
  CHECK(std::abs(count(1) - 500) < 80);
  CHECK(std::abs(count(2) - 1000) < 110);
  CHECK(std::abs(count(5) - 2500) < 120);
  const std::vector<float> ones(y.size(), 1);
  std::copy(ones.begin(), ones.end(), run.top.overwrite_cpu_diff());
  run.layer->Backward({&run.top}, {true}, {&run.bottom});
  const std::vector<float> dx = run.BottomDiff();
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t at[] = {2 * i, 2 * i + 1, 8000 + 2 * i, 8001 + 2 * i};
    float sum = 0, chosen = 0;
    for (const std::size_t k : at) {
      sum += dx[k];
      chosen += dx[k] * x[k];
    }
    REQUIRE(sum == 1);
    REQUIRE(chosen == y[i]);
  }
  run.layer->set_random_key({7, 0, 0});
  run.layer->Forward({&run.bottom}, {&run.top});
  CHECK(run.Top() == y);
  run.layer->Forward({&run.bottom}, {&run.top});
  CHECK(run.Top() != y);
}

TEST_CASE("Stochastic pooling gives the mean by weights in phase TEST", "[pooling]") {
  const World world(Everywhere());
  PoolingRun run("pool: STOCHASTIC kernel_size: 2 stride: 2", {1, 1, 2, 4}, world.place(), TEST);
  run.Fill({1, 2, 0, 0, 0, 5, 0, 0});
  run.layer->Forward({&run.bottom}, {&run.top});
  CHECK(run.Top() == std::vector<float>{30.F / 8, 0});
  CHECK_THROWS_WITH(run.layer->Backward({&run.top}, {true}, {&run.bottom}),
                    Catch::Matchers::ContainsSubstring("no gradient in phase TEST"));
}

TEST_CASE("A window outside of the image has nothing, and its gradient goes nowhere", "[pooling]") {
  const World world(Everywhere());
  PoolingRun run("kernel_size: 1 stride: 3", {1, 1, 1, 5}, world.place());
  CHECK(run.top.shape() == Shape{1, 1, 1, 3});
  run.Fill({1, 2, 3, 4, 5});
  run.layer->Forward({&run.bottom}, {&run.top});
  CHECK(run.Top() == std::vector<float>{1, 4, -FLT_MAX});
  std::fill_n(run.top.overwrite_cpu_diff(), 3, 1.F);
  run.layer->Backward({&run.top}, {true}, {&run.bottom});
  CHECK(run.BottomDiff() == std::vector<float>{1, 0, 0, 1, 0});
}

TEST_CASE(
    "Pooling keeps two bytes for each window, or four where these cannot tell all elements of a channel",
    "[pooling]") {
  const std::string where = Everywhere();
  const World world(where);
  struct Case {
    std::int64_t height, width;
    std::uint64_t bytes;
  };
  for (const Case& of : {Case{5, 13107, 2}, Case{4, 16384, 4}, Case{1, 65535, 2}}) {
    const auto windows = static_cast<std::uint64_t>(of.height * of.width);
    INFO(where << ", " << windows << " elements");
    PoolingRun run("kernel_size: 1", {1, 1, of.height, of.width}, world.place());
    const std::vector<float> x = Numbers<float>(run.bottom.count(), 3);
    run.Fill(x);
    run.layer->Forward({&run.bottom}, {&run.top});
    std::copy(x.begin(), x.end(), run.top.overwrite_cpu_diff());
    run.layer->Backward({&run.top}, {true}, {&run.bottom});
    CHECK(run.Top() == x);
    CHECK(run.BottomDiff() == x);

    const std::uint64_t before = GetStatistics(world.device()).live_bytes;
    run.layer.reset();
    CHECK(before - GetStatistics(world.device()).live_bytes == of.bytes * windows);
  }
}

TEST_CASE("Pooling that cannot be says why", "[pooling]") {
  struct Case {
    const char* param;
    const char* why;
  };
  const World world("host cpu");
  const auto of = GENERATE(from_range(std::vector<Case>{
      {"", "there is no kernel; give kernel_size, or kernel_h and kernel_w"},
      {"kernel_h: 2", "there is no kernel"},
      {"kernel_size: 2 kernel_h: 2 kernel_w: 2", "use one of the two ways"},
      {"kernel_size: 0", "kernel along the height is 0; it must be 1 to 2147483647"},
      {"kernel_size: 2 stride: 0", "stride along the height is 0"},
      {"kernel_h: 3 kernel_w: 2 pad: 2",
       "pad along the width is 2; it must be smaller than the kernel, which is 2"},
      {"kernel_size: 2 pad_h: 1", "give pad, or both pad_h and pad_w"},
      {"kernel_size: 2 stride_h: 1", "give stride, or both stride_h and stride_w"},
      {"kernel_size: 2 global_pooling: true", "global_pooling is true and there is a kernel"},
      {"global_pooling: true stride: 2", "then pad must be 0 and stride 1"},
      {"kernel_size: 2 pad: 1 pool: STOCHASTIC", "pad must be 0 for STOCHASTIC"},
      {"kernel_size: 9", "the bottom's 4 are too few for a window of kernel 9, stride 1 and pad 0"},
  }));
  CHECK_THROWS_WITH(
      PoolingRun(of.param, {1, 1, 4, 5}, world.place()),
      Catch::Matchers::StartsWith("layer 'pool' (Pooling): ") && Catch::Matchers::ContainsSubstring(of.why));
  CHECK_THROWS_WITH(PoolingRun("kernel_size: 2", {1, 4, 5}, world.place()),
                    Catch::Matchers::ContainsSubstring("it must have 4 axes"));
}

}  // namespace
}  // namespace ferry::nets_test
