// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/im2col.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <random>

#include "ferry/blob.hpp"
#include "tests/unit/kernels_world.hpp"

namespace ferry::nets_test {
namespace {

using detail::Grain;
using detail::Window;
using ferry::testing::Numbers;
using ferry::testing::ValuesOf;
using ferry::testing::World;

/// One to three axes, with the lengths of lines at which vectors end.
Window Drawn(unsigned seed) {
  std::mt19937 engine(seed);
  const auto draw = [&](int from, int to) {
    return std::int64_t{from} + static_cast<int>(engine() % static_cast<unsigned>(to - from + 1));
  };
  Window window;
  window.axes = static_cast<int>(seed % 3) + 1;
  for (int axis = 0; axis < window.axes; ++axis) {
    window.kernel[axis] = draw(1, 3);
    window.stride[axis] = seed % 2 == 0 ? 1 : draw(1, 3);
    window.pad[axis] = seed % 4 < 2 ? 0 : draw(0, 3);
    window.dilation[axis] = draw(1, 2);
    window.image[axis] = window.Extent(axis) + draw(0, axis + 1 == window.axes ? 17 : 4);
  }
  REQUIRE(window.SetImage(Window(window).image).empty());
  return window;
}

/// What a column matrix is, by its definition: its rows are channels and elements of the window.
template <class T>
std::vector<T> Columns(const Window& window, std::int64_t channels, const std::vector<T>& images) {
  std::vector<T> columns;
  for (std::int64_t row = 0; row < channels * window.KernelCount(); ++row)
    for (std::int64_t step = 0; step < window.StepCount(); ++step) {
      std::int64_t element = row, position = step, size = 1, offset = 0;
      bool inside = true;
      for (int axis = window.axes - 1; axis >= 0; --axis) {
        const std::int64_t at = position % window.steps[axis] * window.stride[axis] - window.pad[axis] +
                                element % window.kernel[axis] * window.dilation[axis];
        inside = inside && at >= 0 && at < window.image[axis];
        offset += at * size;
        size *= window.image[axis];
        element /= window.kernel[axis];
        position /= window.steps[axis];
      }
      columns.push_back(inside ? images[static_cast<std::size_t>(element * size + offset)] : T(0));
    }
  return columns;
}

double Product(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

template <class T>
std::vector<double> Doubles(const std::vector<T>& values) {
  return {values.begin(), values.end()};
}

TEMPLATE_TEST_CASE("Column matrices are made by lines as by elements, and Col2im is the transposed map",
                   "[im2col]", float, double) {
  const std::string where = ferry::testing::Everywhere();
  for (unsigned seed = 0; seed < 48; ++seed) {
    const World world(where);
    const Window window = Drawn(seed);
    const std::int64_t channels = 1 + seed % 3;
    INFO(where << ", seed " << seed << ": " << window.axes << " axes");
    Blob<TestType> images({channels, window.ImageCount()}, world.device());
    Blob<TestType> columns({channels, window.KernelCount(), window.StepCount()}, world.device());
    const std::vector<TestType> x = Numbers<TestType>(images.count(), seed);
    const std::vector<TestType> dy = Numbers<TestType>(columns.count(), seed + 1);
    const std::vector<TestType> expected = Columns(window, channels, x);
    for (const Grain grain : {Grain::kLine, Grain::kElement}) {
      std::copy(x.begin(), x.end(), images.overwrite_cpu_data());
      detail::RunColumns(world.place(), &detail::Im2col<TestType>, window, grain, channels, Read(images),
                         Overwrite(columns));
      CHECK(ValuesOf(columns, world.device()) == expected);
      std::copy(dy.begin(), dy.end(), columns.overwrite_cpu_data());
      detail::RunColumns(world.place(), &detail::Col2im<TestType>, window, grain, channels, Read(columns),
                         Overwrite(images));
      const std::vector<TestType> dx = ValuesOf(images, world.device());
      // For all y: <Im2col(x), dy> = <x, Col2im(dy)>; a unit vector for x asks for each element on its own.
      std::vector<TestType> unit(x.size(), 0);
      for (std::size_t i = 0; i < x.size(); i += x.size() / 5 + 1) {
        unit[i] = 1;
        CHECK_THAT(static_cast<double>(dx[i]),
                   Catch::Matchers::WithinAbs(Product(Doubles(Columns(window, channels, unit)), Doubles(dy)),
                                              sizeof(TestType) == 4 ? 1e-5 : 1e-13));
        unit[i] = 0;
      }
      CHECK_THAT(
          Product(Doubles(expected), Doubles(dy)),
          Catch::Matchers::WithinAbs(Product(Doubles(x), Doubles(dx)), sizeof(TestType) == 4 ? 1e-3 : 1e-11));
    }
  }
}

TEST_CASE("Where a window has no position, Col2im makes zeros", "[im2col]") {
  const World world("host cpu");
  Window window;  // 2 x 2 x 2, and images of one element
  window.axes = 3;
  for (int axis = 0; axis < window.axes; ++axis) {
    window.kernel[axis] = 2;
    window.stride[axis] = window.dilation[axis] = window.image[axis] = 1;
  }
  Blob<float> images({1, 1}, world.device()), columns({1, 8, 0}, world.device());
  for (const Grain grain : {Grain::kLine, Grain::kElement}) {
    *images.overwrite_cpu_data() = 5;
    detail::RunColumns(world.place(), &detail::Col2im<float>, window, grain, 1, Read(columns),
                       Overwrite(images));
    CHECK(ValuesOf(images, world.device()) == std::vector<float>{0});
  }
}

}  // namespace
}  // namespace ferry::nets_test
