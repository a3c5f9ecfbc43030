// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/array.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <complex>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ferry/error.hpp"
#include "ferry/kernels.hpp"
#include "tests/unit/kernels_world.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::Message;

struct Particle {
  double mass;
  std::int32_t charge;
};

static_assert(std::is_nothrow_move_constructible_v<Array<float>> &&
              !std::is_copy_constructible_v<Array<float>>);
static_assert(std::is_nothrow_move_assignable_v<Array<float>> && !std::is_copy_assignable_v<Array<float>>);
static_assert(std::is_convertible_v<Array<float>, Array<const float>>);
static_assert(!std::is_constructible_v<Array<float>, Array<const float>>);
static_assert(!std::is_constructible_v<Array<double>, Array<float>>);
static_assert(!std::is_constructible_v<Array<float>, std::vector<double>>);
static_assert(!std::is_convertible_v<int, Array<float>>);
template <class X>
using SliceOf = decltype(std::declval<X>().Slice(0, 1));
static_assert(std::is_same_v<SliceOf<Array<float>&>, Array<float>>);
static_assert(std::is_same_v<SliceOf<const Array<float>&>, Array<const float>>);
static_assert(std::is_same_v<decltype(std::declval<const Array<float>&>().Share()), Array<const float>>);
static_assert(std::is_same_v<decltype(std::declval<Place>().Read(std::declval<Array<float>&>())),
                             std::span<const float>>);
static_assert(std::is_same_v<decltype(std::declval<Place>().Overwrite(std::declval<Array<float>>())),
                             std::span<float>>);

TEST_CASE("An array of nothing is empty, and can be moved, shared and sliced", "[array]") {
  std::vector<Array<float>> arrays(3);
  arrays.push_back(std::move(arrays[0]));
  const Array<float>& none = arrays.back();
  CHECK((none.empty() && none.size() == 0 && none.label().empty() && none.memory() == nullptr));
  CHECK(none.Share().empty());
  CHECK(none.Slice(0, 0).empty());
  const World world(Everywhere());
  CHECK(world.place().Read(none).empty());
  CHECK(world.place().Read(Array<float>(0, world.device())).empty());
}

TEST_CASE("A fresh array reads as zeros, of any type that can be copied as bytes", "[array]") {
  const World world(Everywhere());
  const Place cpu = Place::Cpu(world.device());
  CHECK(cpu.Read(Array<Particle>(10, world.device()))[9].mass == 0);
  CHECK(cpu.Read(Array<std::complex<float>>(10, world.device()))[9] == std::complex<float>());
  Array<std::uint16_t> halves(10, world.device(), "halves");
  CHECK(cpu.Read(halves)[9] == 0);
  CHECK(cpu.Read(halves).size() == 10);
  CHECK((halves.size() == 10 && !halves.empty() && &halves.device() == &world.device()));
  CHECK(halves.label() == "halves");
}

TEST_CASE("An array is a copy of a range of its own type", "[array]") {
  const World world("host cpu");
  std::vector<double> values = {1, 2, 3};
  const Array<double> x(values, world.device(), "x");
  values[0] = 5;
  CHECK(ValuesOf(x) == std::vector<double>{1, 2, 3});
  const Array deduced(std::list<int>{4, 5}, world.device());
  CHECK(ValuesOf(deduced) == std::vector<int>{4, 5});
  CHECK(Array<float>(std::vector<float>(), world.device()).empty());
}

TEST_CASE("Aliases see each other's writes, on each side", "[array]") {
  const World world(Everywhere());
  const Place& place = world.place();
  Array<float> x(6, world.device(), "x");
  Array<float> middle = x.Slice(1, 4), inner = middle.Slice(1, 2), all = x.Share();
  Set(place, 1, x);
  Set(place, 2, middle);
  Set(Place::Cpu(world.device()), 3, inner);
  CHECK(ValuesOf(all) == std::vector<float>{1, 2, 3, 3, 2, 1});
  Scale(place, 2, all);
  CHECK(ValuesOf(inner) == std::vector<float>{6, 6});
  inner.set_label("y");
  CHECK(x.label() == "y");
  x = Array<float>();
  CHECK(ValuesOf(middle) == std::vector<float>{4, 6, 6, 4});
}

// NOLINTBEGIN(bugprone-use-after-move): it is what this is about
TEST_CASE("What is moved from is empty, and what it was lives on", "[array]") {
  const World world("sim main");
  Array<float> x(std::vector<float>{1, 2, 3, 4}, world.device(), "x");
  Array<float> y = std::move(x);
  CHECK(x.empty());
  CHECK(x.Share().empty());
  Array<const float> z = y.Slice(1, 2);
  z = std::move(y);
  CHECK(y.empty());
  CHECK(ValuesOf(z) == std::vector<float>{1, 2, 3, 4});
  x = Array<float>(2, world.device());
  CHECK(ValuesOf(x) == std::vector<float>{0, 0});
}
// NOLINTEND(bugprone-use-after-move)

TEST_CASE("A slice beyond the end is an error with label, range and size", "[array]") {
  const World world("host cpu");
  Array<float> x(6, world.device(), "weights");
  const auto refused = [](const auto& array, std::int64_t first, std::int64_t count,
                          const std::string& text) {
    CHECK_THROWS_MATCHES(array.Slice(first, count), ShapeError, Message("ferry::Array::Slice: " + text));
  };
  refused(x, 4, 3, "3 elements from number 4 on, of an array (\"weights\") of 6; a slice lies within it");
  refused(x, 7, 0, "0 elements from number 7 on, of an array (\"weights\") of 6; a slice lies within it");
  refused(x, -1, 2, "2 elements from number -1 on, of an array (\"weights\") of 6; a slice lies within it");
  refused(x, 2, -1, "-1 elements from number 2 on, of an array (\"weights\") of 6; a slice lies within it");
  refused(
      x, 1, INT64_MAX,
      "9223372036854775807 elements from number 1 on, of an array (\"weights\") of 6; a slice lies within "
      "it");
  refused(x.Slice(2, 3), 2, 2,
          "2 elements from number 2 on, of an array (\"weights\") of 3; a slice lies within it");
  refused(Array<int>(), 0, 1,
          "1 elements from number 0 on, of an array (no label) of 0; a slice lies within it");
  CHECK(x.Slice(6, 0).empty());
  CHECK(x.Slice(0, 6).size() == 6);
}

TEST_CASE("A count that cannot be is an error", "[array]") {
  const World world("host cpu");
  CHECK_THROWS_MATCHES(
      Array<double>(-1, world.device(), "x"), ShapeError,
      Message("ferry::Array: -1 elements of 8 bytes for \"x\"; a count is 0 or more, and its "
              "bytes fit std::ptrdiff_t"));
  CHECK_THROWS_AS(Array<double>(PTRDIFF_MAX / 8 + 1, world.device()), ShapeError);
  CHECK_THROWS_AS(Array<double>(INT64_MAX, world.device()), ShapeError);
}

TEST_CASE("Adopted host elements are used in place, and given back", "[array]") {
  const World world(GENERATE(as<std::string>(), "host main", "sim main"));
  std::vector<float> mine = {1, 2, 3};
  const float* freed = nullptr;
  {
    Array<float> x = Array<float>::Adopt(mine.data(), 3, Place::Cpu(world.device()),
                                         [&freed](const float* elements) { freed = elements; });
    Scale(world.place(), 2, x);
    CHECK(Place::Cpu(world.device()).Read(x).data() == mine.data());
    CHECK(freed == nullptr);
  }
  CHECK(mine == std::vector<float>{2, 4, 6});
  CHECK(freed == mine.data());
}

TEST_CASE("Adopted const elements may only be read", "[array]") {
  const World world("sim main");
  const std::vector<float> mine = {1, 2, 3};
  const auto x = Array<const float>::Adopt(mine.data(), 3, Place::Cpu(world.device()));
  static_assert(std::is_same_v<ElementOf<decltype(x)>, const float>);
  CHECK(Asum(world.place(), x) == 6);
  CHECK(Asum(world.place(), x.Slice(1, 1)) == 2);
  CHECK_THROWS_AS(x.memory()->mutable_cpu_data(), std::logic_error);  // past the type
  CHECK_THROWS_AS(x.memory()->overwrite_gpu_data(world.stream()), std::logic_error);
  CHECK(mine == std::vector<float>{1, 2, 3});
}

TEST_CASE("Adopted const device elements may only be read", "[array]") {
  const World world("sim stream");
  Array<float> owner(std::vector<float>{1, 2, 3}, world.device());
  const float* const elements = world.place().Read(owner).data();
  const auto x = Array<const float>::Adopt(elements, 3, world.place());
  CHECK(world.place().Read(x).data() == elements);
  CHECK(Asum(world.place(), x) == 6);
  CHECK_THROWS_AS(x.memory()->mutable_gpu_data(world.stream()), std::logic_error);
}

TEST_CASE("Adopted device elements are used by work of their stream", "[array]") {
  const World world("sim stream");
  Array<float> owner(std::vector<float>{1, 2, 3}, world.device());
  float* const elements = world.place().ReadWrite(owner).data();
  {
    Array<float> x = Array<float>::Adopt(elements, 3, world.place());
    Scale(world.place(), 2, x);
    CHECK(ValuesOf(x) == std::vector<float>{2, 4, 6});
  }
  CHECK(ValuesOf(owner) == std::vector<float>{2, 4, 6});
}

TEST_CASE("A span of a place is what code there uses", "[array]") {
  const World world("sim main");
  Array<int> x(4, world.device());
  const Place cpu = Place::Cpu(world.device());
  for (int& element : cpu.Overwrite(x)) element = 5;
  for (int& element : cpu.ReadWrite(x.Slice(1, 2))) ++element;
  CHECK(ValuesOf(x) == std::vector<int>{5, 6, 6, 5});
  CHECK(x.memory()->head() == Head::HEAD_AT_CPU);
  const std::span<int> there = world.place().ReadWrite(x);
  CHECK(x.memory()->head() == Head::HEAD_AT_GPU);
  CHECK(world.place().ReadWrite(x.Slice(2, 2)).data() == there.data() + 2);
}

TEST_CASE("The elements of an array stay within it though its memory be resized", "[array]") {
  const World world("host cpu");
  Array<float> x(6, world.device(), "x");
  x.memory()->Resize(3 * sizeof(float));
  CHECK_THROWS_AS(Set(world.place(), 1, x), std::invalid_argument);
  CHECK_THROWS_AS(Set(world.place(), 1, x.Slice(2, 2)), std::invalid_argument);
  Set(world.place(), 1, x.Slice(1, 2));
}

}  // namespace
}  // namespace ferry::testing
