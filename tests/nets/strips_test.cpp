// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/strips/strips.hpp"

#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <cfloat>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/nets/vision/pool_parts.hpp"
#include "core/nets/vision/sum.hpp"
#include "ferry/blob.hpp"
#include "tests/nets/fenced.hpp"
#include "tests/nets/plain_pooling.hpp"
#include "tests/unit/kernels_world.hpp"

namespace ferry::nets_test {
namespace {

using detail::InstructionSet;
using detail::PoolAxis;
using detail::PoolSizes;
using detail::strips::Part;

detail::strips::Sizes StripSizes(const PoolAxis& h, const PoolAxis& w, std::int64_t planes) {
  return {planes, {h.size, h.pad, h.pooled}, {w.size, w.pad, w.pooled}};
}
/// Whole planes, or rows of one, in any order.
std::vector<Part> Cut(std::int64_t planes, std::int64_t rows, std::mt19937& engine) {
  std::vector<Part> parts;
  const auto draw = [&](std::int64_t most) {
    return 1 + static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(most));
  };
  for (std::int64_t plane = 0; plane < planes;) {
    const std::int64_t end = std::min(planes, plane + draw(planes > 5 ? planes : 3));
    if (end - plane > 1) {
      parts.push_back({plane, end, 0, rows});
    } else {
      for (std::int64_t row = 0; row < rows;) {
        const std::int64_t last = std::min(rows, row + draw(rows));
        parts.push_back({plane, end, row, last});
        row = last;
      }
    }
    plane = end;
  }
  std::shuffle(parts.begin(), parts.end(), engine);
  return parts;
}

/// What the parts write to `count` elements, and to none behind them.
template <class T, class Write>
std::vector<T> Written(std::size_t count, const std::vector<Part>& parts, const Write& write) {
  constexpr T kMark = 77;
  constexpr std::size_t kGuard = 64;
  std::vector<T> values(count + kGuard, kMark);
  for (const Part& part : parts) write(part, values.data());
  CHECK(std::count(values.begin() + static_cast<std::ptrdiff_t>(count), values.end(), kMark) == kGuard);
  values.resize(count);
  return values;
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(),
                kInfinity = std::numeric_limits<float>::infinity();

/// Some are infinite, or no number.
std::vector<float> WithOdd(std::vector<float> values, unsigned one_in, std::mt19937& engine) {
  constexpr float kOdd[] = {kNan, kInfinity, -kInfinity};
  for (float& value : values)
    if (engine() % one_in == 0) value = kOdd[engine() % 3];
  return values;
}

/// Rows of a width, written by windows of `sizes`.
detail::strips::Windows Rows(const PoolSizes& sizes, std::int64_t width) {
  return {sizes.w.kernel, sizes.w.stride, width};
}

template <class Index>
void CheckLargest(const PoolSizes& sizes, InstructionSet set, Fence fence, std::mt19937& engine) {
  std::vector<float> xs = WithOdd(Coarse<float>(sizes.planes * sizes.Plane(), engine()), 5, engine);
  for (float& value : xs)
    if (engine() % 16 == 0) value = -FLT_MAX;  // no window takes it for its largest
  const std::vector<float> dys = ferry::testing::Numbers<float>(sizes.planes * sizes.PooledPlane(), engine());
  const PlainPooling<float> expected(sizes, xs, dys);
  const auto of = StripSizes(sizes.h, sizes.w, sizes.planes);
  const std::vector<Part> parts = Cut(sizes.planes, sizes.h.pooled, engine);

  const Fenced<float> x(xs, fence);
  const auto largest = detail::strips::Largest<Index>(Rows(sizes, sizes.w.pooled), set);
  std::vector<Index> chosen(dys.size());
  CHECK(Written<float>(dys.size(), parts, [&](const Part& part, float* y) {
          largest(of, part, x.data(), y, chosen.data());
        }) == expected.most);
  std::vector<float> most(dys.size());
  const std::vector<Index> masks(expected.mask.begin(), expected.mask.end());
  CHECK(Written<Index>(dys.size(), parts, [&](const Part& part, Index* to) {
          largest(of, part, x.data(), most.data(), to);
        }) == masks);

  if constexpr (!std::is_same_v<Index, float>) {
    const auto gradient = detail::strips::LargestGradient<Index>(Rows(sizes, sizes.w.size), set);
    CHECK((gradient != nullptr) == (sizes.w.stride == 1));
    if (gradient == nullptr) return;
    const Fenced<Index> mask(masks, fence);
    const std::vector<Part> parts_back = Cut(sizes.planes, sizes.h.size, engine);
    const auto handed_on = [&](const Fenced<float>& dy) {
      return Written<float>(xs.size(), parts_back, [&](const Part& part, float* dx) {
        gradient(of, part, dy.data(), mask.data(), dx);
      });
    };
    CHECK(handed_on({dys, fence}) == expected.most_gradient);
    const std::vector<float> odd = WithOdd(dys, 8, engine);
    CheckNearPooled(handed_on({odd, fence}), PlainPooling<float>(sizes, xs, odd).most_gradient);
  }
}

void CheckMeans(const PoolSizes& sizes, InstructionSet set, Fence fence, std::mt19937& engine) {
  std::vector<float> xs = Coarse<float>(sizes.planes * sizes.Plane(), engine());
  std::vector<float> dys = ferry::testing::Numbers<float>(sizes.planes * sizes.PooledPlane(), engine());
  const auto of = StripSizes(sizes.h, sizes.w, sizes.planes);
  const auto mean = detail::strips::Mean(Rows(sizes, sizes.w.pooled), set);
  const auto shares = detail::strips::Shares(Rows(sizes, sizes.w.size), set);
  const std::vector<Part> parts = Cut(sizes.planes, sizes.h.pooled, engine),
                          parts_back = Cut(sizes.planes, sizes.h.size, engine);
  for (const bool odd : {false, true}) {
    CAPTURE(odd);
    if (odd) xs = WithOdd(xs, 16, engine), dys = WithOdd(dys, 16, engine);
    const PlainPooling<float> expected(sizes, xs, dys);
    const Fenced<float> x(xs, fence), dy(dys, fence);
    CheckNearPooled(
        Written<float>(dys.size(), parts, [&](const Part& part, float* y) { mean(of, part, x.data(), y); }),
        expected.mean);
    CheckNearPooled(Written<float>(xs.size(), parts_back,
                                   [&](const Part& part, float* dx) { shares(of, part, dy.data(), dx); }),
                    expected.mean_gradient);
  }
}

TEST_CASE("Strips of each instruction set pool as plain loops do, however the work is cut", "[pooling]") {
  for (int set = 0; set <= static_cast<int>(detail::BestInstructionSet()); ++set)
    for (unsigned seed = 0; seed < 90; ++seed) {
      const bool many = seed >= 60;  // and small planes: strips of inner ones reach over others
      std::mt19937 engine(seed);
      const auto draw = [&](std::int64_t from, std::int64_t to) {
        return from + static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(to - from + 1));
      };
      PoolSizes sizes;
      sizes.planes = many ? draw(20, 40) : draw(1, 5);
      const std::int64_t kernel = seed % 3 == 2 ? 2 : 3, stride = seed % 3 == 0 ? 1 : 2;
      for (PoolAxis* const axis : {&sizes.h, &sizes.w}) {
        axis->kernel = kernel, axis->stride = stride;
        axis->pad = seed % 2 * draw(0, kernel - 1);
        const auto round = seed % 4 == 0 ? PoolingParameter::FLOOR : PoolingParameter::CEIL;
        const std::int64_t least = axis->pad == 0 ? kernel : 1;
        const std::int64_t size = draw(least, many ? least + draw(0, 1) : seed % 5 == 0 ? 80 : 20);
        REQUIRE(axis->SetSize(size, round, seed % 2 != 0).empty());
      }
      INFO("set " << set << ", seed " << seed << ": " << sizes.planes << " planes of " << sizes.h.size
                  << " x " << sizes.w.size << ", kernel " << kernel << ", stride " << stride << ", pad "
                  << sizes.h.pad << ' ' << sizes.w.pad);
      for (const Fence fence : {Fence::kBefore, Fence::kBehind}) {
        CheckLargest<std::uint16_t>(sizes, static_cast<InstructionSet>(set), fence, engine);
        CheckLargest<int>(sizes, static_cast<InstructionSet>(set), fence, engine);
        CheckLargest<float>(sizes, static_cast<InstructionSet>(set), fence, engine);
        CheckMeans(sizes, static_cast<InstructionSet>(set), fence, engine);
      }
    }
}

TEST_CASE("Strips of each instruction set make the mean of each plane, of the same bits", "[pooling]") {
  for (int set = 0; set <= static_cast<int>(detail::BestInstructionSet()); ++set)
    for (std::int64_t rows = 1; rows < 12; ++rows)
      for (std::int64_t columns = 1; columns < 12; ++columns) {
        CAPTURE(set, rows, columns);
        std::mt19937 engine(static_cast<unsigned>(rows * columns));
        constexpr std::int64_t kPlanes = 4;
        const std::int64_t plane = rows * columns;
        std::vector<float> xs = ferry::testing::Numbers<float>(kPlanes * plane, engine());
        std::fill(xs.begin() + 2 * plane, xs.begin() + 3 * plane, kInfinity);  // of no other plane's mean
        const Fenced<float> x(xs, Fence::kBehind);
        const auto mean = detail::strips::MeanOfAll(plane, static_cast<InstructionSet>(set));
        std::vector<float> expected(kPlanes);
        for (std::int64_t i = 0; i < kPlanes; ++i)
          expected[static_cast<std::size_t>(i)] =
              detail::Sum(x.data() + i * plane, plane) / static_cast<float>(plane);
        CHECK(Written<float>(kPlanes, Cut(kPlanes, 1, engine), [&](const Part& part, float* y) {
                mean(StripSizes({rows}, {columns}, kPlanes), part, x.data(), y);
              }) == expected);
      }
}

TEST_CASE("There are strips for the usual windows alone", "[pooling]") {
  for (const std::int64_t kernel : {0, 1, 2, 3, 4, 5})
    for (const std::int64_t stride : {1, 2, 3}) {
      CAPTURE(kernel, stride);
      const bool usual = (kernel == 3 && stride < 3) || (kernel == 2 && stride == 2);
      CHECK((detail::strips::Mean({kernel, stride, 9}) != nullptr) == usual);
      CHECK((detail::strips::Largest<int>({kernel, stride, 9}) != nullptr) == usual);
      CHECK((detail::strips::Shares({kernel, stride, 9}) != nullptr) == usual);
      CHECK((detail::strips::LargestGradient<int>({kernel, stride, 9}) != nullptr) ==
            (kernel == 3 && stride == 1));
    }
}

TEST_CASE("Strips run where a thread does much, and not for one of a GPU", "[pooling]") {
  const std::string where = ferry::testing::Everywhere();
  const ferry::testing::World world(where);
  PoolSizes sizes;
  sizes.planes = 2;
  sizes.h.size = sizes.w.size = 1;
  Blob<float> x({2}, world.device()), y({2}, world.device());
  Set(Place::Cpu(world.device()), 5.F, x);
  const bool done =
      detail::ByStrips(At(world.place()), sizes, 1, detail::strips::MeanOfAll(1), Read(x), Overwrite(y));
  CHECK(done == !detail::OnGpuThreads(world.place()));
  if (where == "host cpu") CHECK(done);
  if (where == "sim fine stream") CHECK_FALSE(done);
  if (done) CHECK(ferry::testing::ValuesOf(y, world.device()) == std::vector<float>(2, 5));
  const detail::strips::Run<const float, float> none = nullptr;
  CHECK_FALSE(detail::ByStrips(At(world.place()), sizes, 1, none, Read(x), Overwrite(y)));
}

TEST_CASE("There are no strips for windows that are wider than high, or move further to the side",
          "[pooling]") {
  PoolSizes sizes;
  sizes.h = {9, 3, 1, 0, 7};
  sizes.w = sizes.h;
  CHECK(detail::WindowsOf(sizes, 9).kernel == 3);
  sizes.w.stride = 2;
  CHECK(detail::WindowsOf(sizes, 9).kernel == 0);
  sizes.w = {9, 2, 1, 0, 8};
  CHECK(detail::WindowsOf(sizes, 9).kernel == 0);
}

TEST_CASE("There are no strips for planes of more elements than they number", "[pooling]") {
  const auto kernel = [](std::int64_t rows, std::int64_t columns, std::int64_t pad) {
    PoolSizes sizes;
    for (PoolAxis* const axis : {&sizes.h, &sizes.w}) axis->kernel = 3, axis->stride = 1, axis->pad = pad;
    REQUIRE(sizes.h.SetSize(rows, PoolingParameter::CEIL, pad != 0).empty());
    REQUIRE(sizes.w.SetSize(columns, PoolingParameter::CEIL, pad != 0).empty());
    return detail::WindowsOf(sizes, sizes.w.pooled).kernel;
  };
  CHECK(kernel(1 << 14, 1 << 15, 0) == 3);
  CHECK(kernel((1 << 14) + 1, 1 << 15, 0) == 0);
  CHECK(kernel(3, std::int64_t{1} << 40, 0) == 0);
  CHECK(kernel(1 << 14, 1 << 15, 2) == 0);  // there are more windows than elements
}

}  // namespace
}  // namespace ferry::nets_test
