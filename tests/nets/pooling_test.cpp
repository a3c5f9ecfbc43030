// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/pooling.hpp"

#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "ferry/blob.hpp"
#include "tests/nets/plain_pooling.hpp"
#include "tests/unit/kernels_world.hpp"

namespace ferry::nets_test {
namespace {

using detail::PoolAxis;
using detail::PoolSizes;
using ferry::testing::Everywhere;
using ferry::testing::Numbers;
using ferry::testing::World;

template <class T>
void Fill(Blob<T>& blob, const std::vector<T>& values) {
  REQUIRE(static_cast<std::int64_t>(values.size()) == blob.count());
  std::copy(values.begin(), values.end(), blob.overwrite_cpu_data());
}
template <class T>
std::vector<T> DiffOf(const Blob<T>& blob) {
  return {blob.cpu_diff(), blob.cpu_diff() + blob.count()};
}
template <class T>
std::vector<T> DataOf(const Blob<T>& blob) {
  return {blob.cpu_data(), blob.cpu_data() + blob.count()};
}

PoolSizes DrawnPooling(unsigned seed) {
  std::mt19937 engine(seed);
  const auto draw = [&](std::int64_t from, std::int64_t to) {
    return from + static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(to - from + 1));
  };
  PoolSizes sizes;
  sizes.planes = draw(1, 3);
  const bool pad = seed % 3 != 0;
  const auto round = seed % 4 == 0 ? PoolingParameter::FLOOR : PoolingParameter::CEIL;
  for (PoolAxis* const axis : {&sizes.h, &sizes.w}) {
    axis->kernel = draw(1, 5);
    axis->stride = draw(1, 4);
    axis->pad = pad ? draw(0, axis->kernel - 1) : 0;
    REQUIRE(axis->SetSize(draw(axis->kernel, seed % 5 == 0 ? 40 : 12), round, pad).empty());
  }
  if (seed == 59) {  // less than a window
    for (PoolAxis* const axis : {&sizes.h, &sizes.w}) {
      *axis = {0, 5, 1, 2, 0};
      REQUIRE(axis->SetSize(1, round, true).empty());
    }
  }
  if (seed == 57 || seed == 58) {  // one window, and not over the image alone
    for (PoolAxis* const axis : {&sizes.h, &sizes.w}) {
      *axis = seed == 57 ? PoolAxis{0, 6, 2, 0, 0} : PoolAxis{0, 3, 4, 1, 0};
      REQUIRE(axis->SetSize(seed == 57 ? 7 : 3, PoolingParameter::FLOOR, axis->pad != 0).empty());
      REQUIRE(axis->pooled == 1);
    }
  }
  if (seed % 8 == 1 && seed != 57) {  // the whole image
    for (PoolAxis* const axis : {&sizes.h, &sizes.w}) {
      *axis = {0, draw(1, 20), 1, 0, 0};
      REQUIRE(axis->SetSize(axis->kernel, round, false).empty());
    }
  }
  if (seed >= 60) {  // by strips, several of them for some
    const auto [kernel, stride] = std::vector<std::pair<int, int>>{{3, 1}, {3, 2}, {2, 2}}[seed % 3];
    for (PoolAxis* const axis : {&sizes.h, &sizes.w}) {
      *axis = {0, kernel, stride, draw(0, 1) * draw(0, kernel - 1), 0};
      REQUIRE(axis->SetSize(draw(axis->pad == 0 ? kernel : 1, seed % 5 == 0 ? 150 : 12), round, pad).empty());
    }
    if (seed % 10 == 3) sizes.planes = 600;  // several in a part
  }
  return sizes;
}

TEMPLATE_TEST_CASE("Pooling of any geometry is that of a plain loop over windows", "[pooling]", float,
                   double) {
  using T = TestType;
  const std::string where = Everywhere();
  for (unsigned seed = 0; seed < 100; ++seed) {
    const World world(where);
    const Place& place = world.place();
    const PoolSizes sizes = DrawnPooling(seed);
    INFO(where << ", seed " << seed << ": " << sizes.planes << " planes of " << sizes.h.size << " x "
               << sizes.w.size << ", kernel " << sizes.h.kernel << ' ' << sizes.w.kernel << ", stride "
               << sizes.h.stride << ' ' << sizes.w.stride << ", pad " << sizes.h.pad << ' ' << sizes.w.pad);
    Blob<T> x({sizes.planes, sizes.h.size, sizes.w.size}, world.device());
    Blob<T> y({sizes.planes, sizes.h.pooled, sizes.w.pooled}, world.device()),
        mask(y.shape(), world.device());
    Blob<int> index(y.shape(), world.device());
    Blob<std::uint16_t> short_index(y.shape(), world.device());
    const std::vector<T> xs = Coarse<T>(x.count(), seed), dys = Numbers<T>(y.count(), seed + 1);
    Fill(x, xs);
    std::copy(dys.begin(), dys.end(), y.overwrite_cpu_diff());
    const PlainPooling<T> expected(sizes, xs, dys);

    detail::MaxPool(place, sizes, Read(x), Overwrite(y), Overwrite(index));
    CHECK(DataOf(y) == expected.most);
    CHECK(DataOf(index) == expected.mask);
    detail::MaxPool(place, sizes, Read(x), Overwrite(y), Overwrite(mask));
    CHECK(DataOf(y) == expected.most);
    CHECK(DataOf(mask) == std::vector<T>(expected.mask.begin(), expected.mask.end()));
    detail::MaxPool(place, sizes, Read(x), Overwrite(y), Overwrite(short_index));
    CHECK(DataOf(y) == expected.most);
    CHECK(DataOf(short_index) == std::vector<std::uint16_t>(expected.mask.begin(), expected.mask.end()));
    for (const auto grain : {detail::Grain::kLine, detail::Grain::kElement}) {
      detail::MaskedPoolGradient(place, sizes, grain, Read(Diff(y)), Read(index), Overwrite(Diff(x)));
      CheckNearPooled(DiffOf(x), expected.most_gradient);
      detail::MaskedPoolGradient(place, sizes, grain, Read(Diff(y)), Read(mask), Overwrite(Diff(x)));
      CheckNearPooled(DiffOf(x), expected.most_gradient);
      detail::MaskedPoolGradient(place, sizes, grain, Read(Diff(y)), Read(short_index), Overwrite(Diff(x)));
      CheckNearPooled(DiffOf(x), expected.most_gradient);
    }
    detail::AveragePool(place, sizes, Read(x), Overwrite(y));
    CheckNearPooled(DataOf(y), expected.mean);
    detail::AveragePoolGradient(place, sizes, Read(Diff(y)), Overwrite(Diff(x)));
    CheckNearPooled(DiffOf(x), expected.mean_gradient);
  }
}

TEST_CASE("Max pooling passes over what is no number, and keeps -1 where nothing is above -FLT_MAX",
          "[pooling]") {
  const World world(Everywhere());
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN(),
                  kLeast = -std::numeric_limits<float>::infinity();
  PoolSizes sizes;
  sizes.planes = 1;
  sizes.h = {1, 1, 1, 0, 1};
  sizes.w = {6, 2, 2, 0, 3};
  Blob<float> x({1, 6}, world.device()), y({1, 3}, world.device());
  Blob<int> mask({1, 3}, world.device());
  Fill(x, {kNone, 1, kNone, kNone, kLeast, -FLT_MAX});
  detail::MaxPool(world.place(), sizes, Read(x), Overwrite(y), Overwrite(mask));
  CHECK(DataOf(y) == std::vector<float>{1, -FLT_MAX, -FLT_MAX});
  CHECK(DataOf(mask) == std::vector<int>{1, -1, -1});

  for (PoolAxis* const axis : {&sizes.h, &sizes.w}) *axis = {3, 3, 1, 1, 3};
  Blob<float> square({3, 3}, world.device()), most(square.shape(), world.device());
  Blob<int> chosen(square.shape(), world.device());
  Fill(square, {kLeast, kNone, kNone, kNone, kNone, 2, -FLT_MAX, kNone, -3});
  detail::MaxPool(world.place(), sizes, Read(square), Overwrite(most), Overwrite(chosen));
  CHECK(DataOf(most) == std::vector<float>{-FLT_MAX, 2, 2, -FLT_MAX, 2, 2, -FLT_MAX, 2, 2});
  CHECK(DataOf(chosen) == std::vector<int>{-1, 5, 5, -1, 5, 5, -1, 5, 5});
}

TEST_CASE("No images are pooled to none, and back", "[pooling]") {
  const World world(Everywhere());
  const Place& place = world.place();
  for (const std::int64_t size : {3, 5}) {  // one window over all, and several
    PoolSizes sizes;
    sizes.h = sizes.w = {size, 3, 1, 0, size - 2};
    Blob<float> x({0, size, size}, world.device()), y({0, size - 2, size - 2}, world.device());
    Blob<int> mask(y.shape(), world.device());
    CHECK_NOTHROW(detail::MaxPool(place, sizes, Read(x), Overwrite(y), Overwrite(mask)));
    CHECK_NOTHROW(detail::MaskedPoolGradient(place, sizes, detail::GrainAt(place), Read(Diff(y)), Read(mask),
                                             Overwrite(Diff(x))));
    CHECK_NOTHROW(detail::AveragePool(place, sizes, Read(x), Overwrite(y)));
    CHECK_NOTHROW(detail::AveragePoolGradient(place, sizes, Read(Diff(y)), Overwrite(Diff(x))));
  }
}

TEST_CASE("A mean's gradient of large numbers is finite where it can be", "[pooling]") {
  const World world(Everywhere());
  PoolSizes sizes;
  sizes.planes = 1;
  for (PoolAxis* const axis : {&sizes.h, &sizes.w}) *axis = {3, 3, 1, 1, 3};
  Blob<float> x({3, 3}, world.device()), y(x.shape(), world.device());
  std::fill_n(y.overwrite_cpu_diff(), 9, 1e38F);
  detail::AveragePoolGradient(world.place(), sizes, Read(Diff(y)), Overwrite(Diff(x)));
  for (const float value : DiffOf(x)) CHECK((value > 0.4e38F && value < 1.1e38F));
}

TEST_CASE("Max pooling keeps the sign of zeros, in windows of each kind", "[pooling]") {
  const World world(Everywhere());
  PoolSizes sizes;  // the first and the last window have one column
  sizes.planes = 1;
  sizes.h = {1, 1, 1, 0, 1};
  sizes.w = {40, 2, 2, 1, 21};
  Blob<float> x({1, 40}, world.device()), y({1, 21}, world.device());
  Blob<int> mask({1, 21}, world.device());
  Fill(x, std::vector<float>(40, -0.F));
  detail::MaxPool(world.place(), sizes, Read(x), Overwrite(y), Overwrite(mask));
  const std::vector<float> most = DataOf(y);
  CHECK(std::all_of(most.begin(), most.end(), [](float value) { return value == 0 && std::signbit(value); }));
}

}  // namespace
}  // namespace ferry::nets_test
