// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/shape.hpp"

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <concepts>
#include <cstdint>
#include <istream>
#include <iterator>
#include <limits>
#include <list>
#include <new>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "ferry/error.hpp"

namespace ferry {
namespace {

using Catch::Matchers::Message;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

static_assert(std::convertible_to<std::vector<int>, Shape> &&
              std::convertible_to<std::span<const short>, Shape>);
static_assert(std::convertible_to<std::list<unsigned long>, Shape>);
static_assert(!std::convertible_to<std::string, Shape> && !std::convertible_to<const char*, Shape>);
static_assert(!std::convertible_to<std::vector<bool>, Shape> &&
              !std::convertible_to<std::vector<float>, Shape>);
static_assert(!std::convertible_to<int, Shape>, "one number could be a count as well");

/// A range that can be read only once.
struct Numbers {
  std::istream& in;

  std::istream_iterator<int> begin() const { return std::istream_iterator<int>(in); }
  static std::istream_iterator<int> end() { return {}; }
};

TEST_CASE("a shape is made of braces and of any range of integers") {
  const Shape braces{2, 3, 4};
  CHECK(Shape(std::vector<int>{2, 3, 4}) == braces);
  CHECK(Shape(std::array<std::uint8_t, 3>{2, 3, 4}) == braces);
  CHECK(Shape(std::list<std::int64_t>{2, 3, 4}) == braces);
  std::istringstream in("2 3 4");
  CHECK(Shape(Numbers{in}) == braces);
}

TEST_CASE("a shape turns into the vectors that programs keep shapes in") {
  const Shape shape{2, 3};
  const std::vector<int> ints = shape;
  const std::vector<std::int64_t> longs = shape;
  CHECK(ints == std::vector{2, 3});
  CHECK(longs == std::vector<std::int64_t>{2, 3});
  CHECK((shape == ints && longs == shape));
  CHECK(shape != std::vector{2, 3, 1});
  CHECK(shape != std::vector{2, -3});
  CHECK_THROWS_MATCHES(std::vector<int>(Shape{1, std::int64_t{1} << 31}), ShapeError,
                       Message("Shape to std::vector<int>: shape 1 2147483648 has a dim over 2147483647, the "
                               "most that int holds; use 64-bit dims"));
}

TEST_CASE("a shape is read like a vector") {
  const Shape shape{5, 6, 7};
  CHECK(shape.size() == 3);
  CHECK(!shape.empty());
  CHECK(shape[1] == 6);
  CHECK(shape.front() == 5);
  CHECK(shape.back() == 7);
  CHECK(std::vector<int>(shape.begin() + 1, shape.end()) == std::vector{6, 7});
  CHECK(&*shape.begin() == shape.data());
  CHECK(shape.end() - shape.begin() == 3);
  CHECK(shape.data()[2] == 7);
}

TEST_CASE("a shape's iterators are those of an array") {
  using Iterator = Shape::const_iterator;
  static_assert(std::contiguous_iterator<Iterator>);
  static_assert(std::ranges::contiguous_range<Shape>);
  const Shape shape{5, 6, 7};
  Iterator i = shape.begin();
  CHECK(*i++ == 5);
  CHECK(*i == 6);
  CHECK(*++i == 7);
  CHECK(*i-- == 7);
  CHECK(*--i == 5);
  CHECK(i[2] == 7);
  CHECK(*(1 + i) == 6);
  CHECK(i + 3 == shape.end());
  CHECK(shape.end() - 3 == i);
  CHECK(i < shape.end());
  CHECK(std::to_address(i) == shape.data());
  CHECK((i += 2) - shape.begin() == 2);
  CHECK((i -= 1) == shape.begin() + 1);
  CHECK(std::span(shape).size() == 3);
}

TEST_CASE("a shape's iterators become those of a vector of int, as Caffe's layers ask") {
  using Ints = std::vector<int>;
  Shape shape{5, 6, 7};
  const Ints::const_iterator& first = shape.begin() + 1;
  const Ints::const_iterator& last = shape.size() == 3 ? shape.end() : first + 1;
  CHECK(Ints(first, last) == Ints{6, 7});
  CHECK(first - Ints::const_iterator(shape.begin()) == 1);

  const Shape copy = shape;
  shape = Shape{8, 9};
  CHECK(Ints(Ints::const_iterator(shape.begin()), Ints::const_iterator(shape.end())) == Ints{8, 9});
  CHECK(*Ints::const_iterator(copy.begin()) == 5);

  Ints::const_iterator kept = shape.begin();
  shape = Shape{8, 9};
  const Ints others(2);  // takes the room of ints that would be freed
  int sum = 0;
  for (; kept != shape.end(); ++kept) sum += *kept;  // the dims have not changed
  CHECK(sum == 17);
  CHECK(shape.end() == kept);
  CHECK(Ints::const_iterator(Shape::const_iterator()) == Ints::const_iterator());
  CHECK((shape.begin() < kept && kept <= shape.end() && kept > shape.begin()));
  CHECK((kept - shape.begin() == 2 && shape.begin() - kept == -2));

  alignas(Shape) std::byte raw[sizeof(Shape)];
  const Shape* again = new (raw) Shape{5};
  CHECK(*Ints::const_iterator(again->begin()) == 5);
  again = new (raw) Shape{6};  // at the address of one that has not been destroyed
  CHECK(*Ints::const_iterator(again->begin()) == 6);
  again->~Shape();
  std::optional<Shape> one(Shape{5});
  CHECK(*Ints::const_iterator(one->begin()) == 5);
  one.emplace(Shape{6});  // at the same address
  CHECK(*Ints::const_iterator(one->begin()) == 6);

  const Shape large{1, std::int64_t{1} << 31};
  CHECK_THROWS_MATCHES(Ints::const_iterator(large.begin()), ShapeError,
                       Message("Shape's iterator to std::vector<int>'s: shape 1 2147483648 has a dim over "
                               "2147483647, the most that int holds; use 64-bit dims"));
  CHECK(large.begin()[1] == std::int64_t{1} << 31);
}

TEST_CASE("threads that ask for the iterators of a vector of int at once get those of one") {
  for (int round = 0; round < 100; ++round) {
    const Shape shape{5, 6, 7};
    std::vector<int>::const_iterator begin, end;
    std::thread other([&] { begin = shape.begin(); });
    end = shape.end();
    other.join();
    REQUIRE(std::vector<int>(begin, end) == std::vector{5, 6, 7});
  }
}

TEST_CASE("a copy of a shape is equal and independent") {
  Shape a{2, 3};
  const Shape b = a;
  a = Shape{7};
  CHECK(b == Shape{2, 3});
  CHECK(a == Shape{7});
  CHECK(a.count() == 7);
}

TEST_CASE("count is the product of the dims, and of a part of them") {
  CHECK(Shape{}.count() == 1);
  CHECK(Shape{2, 3, 4}.count() == 24);
  CHECK(Shape{2, 0, 4}.count() == 0);
  CHECK(Shape{kMax}.count() == kMax);
  CHECK(Shape{2, 3, 4}.count(1, 3) == 12);
  CHECK(Shape{2, 3, 4}.count(2, 2) == 1);
  CHECK_THROWS_MATCHES(
      Shape({2, 3}).count(1, 3), ShapeError,
      Message("Shape::count: axes 1 to 3 of shape 2 3 (6); 0 <= start <= end <= 2 must hold"));
  CHECK_THROWS_MATCHES(
      Shape{}.count(0, 1), ShapeError,
      Message("Shape::count: axes 0 to 1 of a shape without axes; 0 <= start <= end <= 0 must hold"));
  CHECK_THROWS_AS(Shape({2, 3}).count(-1, 1), ShapeError);
  CHECK_THROWS_AS(Shape({2, 3}).count(2, 1), ShapeError);
}

TEST_CASE("a shape prints as Caffe's does") {
  CHECK(Shape{2, 3}.ToString() == "2 3 (6)");
  CHECK(Shape{}.ToString() == "(1)");
}

TEST_CASE("an axis may count from the end") {
  const Shape shape{2, 3};
  CHECK(shape.CanonicalAxisIndex(-1) == 1);
  CHECK(shape.CanonicalAxisIndex(1) == 1);
  CHECK_THROWS_MATCHES(shape.CanonicalAxisIndex(2), ShapeError,
                       Message("Shape::CanonicalAxisIndex: axis 2 of shape 2 3 (6); its axes are -2 to 1"));
  CHECK_THROWS_AS(shape.CanonicalAxisIndex(-3), ShapeError);
  CHECK_THROWS_MATCHES(
      Shape{}.CanonicalAxisIndex(0), ShapeError,
      Message("Shape::CanonicalAxisIndex: axis 0 of a shape without axes; ask num_axes first"));
}

TEST_CASE("a legacy shape is filled up with ones at the end that the axis counts from") {
  const Shape shape{2, 3};
  CHECK(shape.Legacy(0) == 2);
  CHECK(shape.Legacy(2) == 1);
  CHECK(shape.Legacy(-1) == 3);
  CHECK(shape.Legacy(-4) == 1);
  CHECK_THROWS_AS(shape.Legacy(4), ShapeError);
  CHECK_THROWS_AS(shape.Legacy(-5), ShapeError);
  CHECK_THROWS_AS(Shape({1, 1, 1, 1, 1}).Legacy(0), ShapeError);
}

TEST_CASE("dims that cannot be are errors with the call and the shape") {
  CHECK_THROWS_MATCHES(Shape({2, -3}, "Call"), ShapeError,
                       Message("Call: shape 2 -3 has a negative dim; dims are 0 or more"));
  CHECK_THROWS_MATCHES(Shape({kMax, 2}), ShapeError,
                       Message("Shape: shape 9223372036854775807 2 is too large: the product of its dims "
                               "that are not 0 must fit int64"));
  CHECK_THROWS_AS(Shape(std::vector{std::numeric_limits<std::uint64_t>::max()}), ShapeError);
}

TEST_CASE("a product over int64 is an error also behind a zero dim") {
  CHECK_THROWS_AS(Shape({0, kMax, 2}), ShapeError);
  CHECK_THROWS_AS(Shape({kMax, 2, 0}), ShapeError);
}

TEST_CASE("there are up to 32 axes") {
  CHECK(Shape(std::vector(32, 1)).num_axes() == 32);
  CHECK_THROWS_AS(Shape(std::vector(33, 1)), ShapeError);
}

}  // namespace
}  // namespace ferry
