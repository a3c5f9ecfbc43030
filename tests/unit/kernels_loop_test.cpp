// SPDX-License-Identifier: BSD-2-Clause
// Loops of the user's own, over operands.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <stdexcept>

#include "ferry/blob.hpp"
#include "ferry/error.hpp"
#include "ferry/kokkos.hpp"
#include "tests/unit/kernels_world.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::Message;

struct AddAll {
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, const int* a, const int* b, int* sum) const {
    sum[i] = a[i] + b[i];
  }
};

TEST_CASE("A loop of one dim gives its body pointers, const for what it reads", "[kernels]") {
  const World world(Everywhere());
  const Array<int> a(Indices(100), world.device());
  Blob<int> b({100}, world.device());
  Set(world.place(), 7, b);
  Array<int> sum(102, world.device());
  ParallelFor(world.place(), 100, Read(a), Read(b), Overwrite(sum.Slice(1, 100)), AddAll{});
  const std::vector<int> values = ValuesOf(sum);
  CHECK((values.front() == 0 && values.back() == 0));
  for (std::size_t i = 0; i < 100; ++i) CHECK(values[i + 1] == static_cast<int>(i) + 7);
}

TEST_CASE("A body may be a lambda", "[kernels]") {
  const World world(Everywhere());
  Array<int> x(Indices(100), world.device());
  const int by = 3;
  ParallelFor(
      world.place(), x.size(), ReadWrite(x), KOKKOS_LAMBDA(std::int64_t i, int* y) { y[i] *= by; });
  CHECK(ValuesOf(x)[99] == 297);
}

/// Numbers each element by its indices, and checks the dims.
struct Number2 {
  std::int64_t rows, columns;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t j, std::int64_t i, const View<int, 2>& x) const {
    if (x.dim(0) == rows && x.dim(1) == columns) x(j, i) += static_cast<int>(j * 1000 + i);
  }
};
struct Number3 {
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k, std::int64_t j, std::int64_t i,
                                         const View<int, 3>& x) const {
    x(k, j, i) += static_cast<int>((k * 100 + j) * 1000 + i);
  }
};
struct Number4 {
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t l, std::int64_t k, std::int64_t j, std::int64_t i,
                                         const View<int, 4>& x) const {
    x(l, k, j, i) += static_cast<int>(((l * 10 + k) * 10 + j) * 1000 + i);
  }
};

TEST_CASE("Loops of two, three and four dims run each index once, whatever their lengths", "[kernels]") {
  const World world(Everywhere());
  for (const std::int64_t ny : {1, 2, 7})
    for (const std::int64_t nx : {1, 63, 64, 129}) {
      Array<int> x(ny * nx, world.device());
      ParallelFor(world.place(), {ny, nx}, ReadWrite(x), Number2{ny, nx});
      const std::vector<int> values = ValuesOf(x);
      for (std::int64_t i = 0; i < ny * nx; ++i)
        REQUIRE(values[static_cast<std::size_t>(i)] == i / nx * 1000 + i % nx);
      for (const std::int64_t nz : {1, 3}) {
        Array<int> y(nz * ny * nx, world.device()), z(2 * nz * ny * nx, world.device());
        ParallelFor(world.place(), {nz, ny, nx}, ReadWrite(y), Number3{});
        ParallelFor(world.place(), {2, nz, ny, nx}, ReadWrite(z), Number4{});
        const std::vector<int> threes = ValuesOf(y), fours = ValuesOf(z);
        for (std::int64_t i = 0; i < nz * ny * nx; ++i)
          REQUIRE(threes[static_cast<std::size_t>(i)] == (i / nx / ny * 100 + i / nx % ny) * 1000 + i % nx);
        for (std::int64_t i = 0; i < 2 * nz * ny * nx; ++i)
          REQUIRE(fours[static_cast<std::size_t>(i)] ==
                  ((i / nx / ny / nz * 10 + i / nx / ny % nz) * 10 + i / nx % ny) * 1000 + i % nx);
      }
    }
}

TEST_CASE("Any part of an index space is run as a worker gets it", "[kernels][no-gpu]") {
  std::vector<int> x(1050);  // 3 x 5 x 70
  using Functor = detail::BoundTo<3, Number3, Operand<int>>;
  const std::int64_t dims[] = {3, 5, 70};
  const detail::EachOf<Functor, 3> each{Functor(Number3{}, View<int, 3>(x.data(), dims)), {3, 5, 70}};
  std::int64_t first = 0;
  for (const std::int64_t share : {1, 68, 1, 2, 139, 400, 0, 439}) {
    detail::Run(each, first, first + share);
    first += share;
  }
  REQUIRE(first == 1050);
  for (int i = 0; i < 1050; ++i)
    REQUIRE(x[static_cast<std::size_t>(i)] == (i / 70 / 5 * 100 + i / 70 % 5) * 1000 + i % 70);
}

struct Stencil {
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t j, std::int64_t i, View<const float, 2> a,
                                         View<float, 2> b) const {
    b(j, i) = a(j, i + 1) + a(j + 2, i + 1) + a(j + 1, i) + a(j + 1, i + 2) - 4 * a(j + 1, i + 1);
  }
};

TEST_CASE("A View has a blob's own dims, or those that were said, or else the loop's", "[kernels]") {
  const World world(Everywhere());
  std::vector<float> squares(30);
  for (std::size_t j = 0; j < 5; ++j)
    for (std::size_t i = 0; i < 6; ++i) squares[j * 6 + i] = static_cast<float>(j * j + i * i);
  const Array<float> a(squares, world.device());
  Blob<float> blob({5, 6}, world.device());
  Copy(world.place(), a, blob);
  Array<float> b(12, world.device()), c(12, world.device());
  ParallelFor(world.place(), {3, 4}, Read(a, {5, 6}), Overwrite(b), Stencil{});
  ParallelFor(world.place(), {3, 4}, Read(blob), Overwrite(c), Stencil{});
  CHECK(ValuesOf(b) == std::vector<float>(12, 4));
  CHECK(ValuesOf(c) == std::vector<float>(12, 4));
}

struct AddRow {
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t j, std::int64_t i, View<const int, 1> row,
                                         View<int, 2> x) const {
    x(j, i) = row(i);
  }
};
struct Diagonal {
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, View<int, 2> x) const { x(i, i) = 1; }
};

TEST_CASE("An operand with said dims may have others than the loop", "[kernels]") {
  const World world(Everywhere());
  Array<int> x(12, world.device()), square(9, world.device());
  ParallelFor(world.place(), {3, 4}, Read(Array<int>(Indices(4), world.device()), {4}), Overwrite(x),
              AddRow{});
  CHECK(ValuesOf(x) == std::vector<int>{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3});
  ParallelFor(world.place(), 3, ReadWrite(square, {3, 3}), Diagonal{});
  CHECK(ValuesOf(square) == std::vector<int>{1, 0, 0, 0, 1, 0, 0, 0, 1});
}

TEST_CASE("Dims that cannot be or do not fit are refused, and nothing has changed", "[kernels]") {
  const World world(Everywhere());
  Array<float> x(20, world.device(), "x"), y(6, world.device(), "y");
  Blob<float> blob({20}, world.device());
  const Stencil body;
  CHECK_THROWS_MATCHES(
      ParallelFor(world.place(), {2, 3}, Read(x), Overwrite(y), body), ShapeError,
      Message("ferry::ParallelFor: an operand (\"x\") has 20 elements, the loop is of 2 x 3; they must be as "
              "many, or have dims, as in Read(x, {ny, nx})"));
  CHECK_THROWS_MATCHES(
      ParallelFor(world.place(), {2, 3}, Read(blob), Overwrite(y), body), ShapeError,
      Message("ferry::ParallelFor: an operand (no label) has the shape 20, the loop is of 2 x 3; say its "
              "dims, as in Read(x, {ny, nx})"));
  Blob<float> shapeless(world.device()), scalar(Shape(), world.device());
  scalar.set_name("scalar");
  CHECK_THROWS_MATCHES(
      ParallelFor(world.place(), {2, 3}, Read(shapeless), Overwrite(y), body), ShapeError,
      Message("ferry::ParallelFor: an operand (no label) has no shape, the loop is of 2 x 3; "
              "Reshape the blob first"));
  CHECK_THROWS_MATCHES(ParallelFor(world.place(), {2, 3}, Read(scalar), Overwrite(y), body), ShapeError,
                       Message("ferry::ParallelFor: an operand (\"scalar\") has a shape without axes, the "
                               "loop is of 2 x 3; say its dims, as in Read(x, {ny, nx})"));
  CHECK_THROWS_MATCHES(
      Read(x, {3, 6}), ShapeError,
      Message("ferry: the dims 3 x 6 of an operand (\"x\") of 20 elements; their product must be the count"));
  CHECK_THROWS_MATCHES(Read(y, {-2, -3}), ShapeError,
                       Message("ferry::Operand: the dims -2 x -3 have a negative one; each is 0 or more"));
  CHECK_THROWS_MATCHES(
      Read(Array<float>(), {std::int64_t{1} << 32, std::int64_t{1} << 32}), ShapeError,
      Message(
          "ferry::Operand: the dims 4294967296 x 4294967296 are too large; their product must fit int64"));
  CHECK_THROWS_AS(ParallelFor(world.place(), {2, -3}, Read(x, {4, 5}), Overwrite(y), body), ShapeError);
  CHECK_THROWS_AS(ParallelFor(world.place(), {std::int64_t{1} << 40, std::int64_t{1} << 40}, Read(x, {4, 5}),
                              Overwrite(y), body),
                  ShapeError);
  CHECK_THROWS_MATCHES(
      ParallelFor(
          world.place(), -1, ReadWrite(y), KOKKOS_LAMBDA(std::int64_t i, float* z) { z[i] = 0; }),
      std::invalid_argument, Message("ferry::ParallelFor: n is -1; it counts elements, and is 0 or more"));
  CHECK_THROWS_AS(ParallelFor(
                      world.place(), 2, Read(x.Slice(0, 4)), ReadWrite(x.Slice(2, 4)),
                      KOKKOS_LAMBDA(std::int64_t i, const float* z, float* w) { w[i] = z[i]; }),
                  std::invalid_argument);
  CHECK(x.memory()->head() == Head::UNINITIALIZED);
  CHECK(y.memory()->head() == Head::UNINITIALIZED);
  CHECK(blob.data()->head() == Head::UNINITIALIZED);
}

TEST_CASE("A loop without an index takes nothing, and operands without elements are left alone",
          "[kernels]") {
  const World world(Everywhere());
  Array<float> x(std::vector<float>{1, 2}, world.device()), none;
  const auto body = KOKKOS_LAMBDA(std::int64_t i, float* y) { y[i] = 5; };
  ParallelFor(world.place(), 0, Overwrite(x), body);
  ParallelFor(world.place(), {0, 3}, Read(x, {1, 2}), Overwrite(none), Stencil{});
  ParallelFor(world.place(), 2, Read(x), Read(none),
              KOKKOS_LAMBDA(std::int64_t, const float*, const float*){});
  CHECK(ValuesOf(x) == std::vector<float>{1, 2});
  Array<float> y(2, world.device());
  ParallelFor(
      world.place(), 2, Read(x), Read(none), Overwrite(y),
      KOKKOS_LAMBDA(std::int64_t i, const float* from, const float*, float* to) { to[i] = from[i]; });
  CHECK(ValuesOf(y) == std::vector<float>{1, 2});
}

TEST_CASE("Several operands of one array in one loop", "[kernels]") {
  const World world(Everywhere());
  Array<int> x(Indices(20), world.device());
  ParallelFor(world.place(), 5, Read(x.Slice(0, 5)), Read(x.Slice(5, 5)), Overwrite(x.Slice(10, 5)),
              AddAll{});
  const std::vector<int> values = ValuesOf(x);
  for (std::size_t i = 0; i < 5; ++i) CHECK(values[10 + i] == static_cast<int>(5 + 2 * i));
  CHECK((values[9] == 9 && values[15] == 15));
  ParallelFor(world.place(), 5, Read(x.Slice(0, 5)), Read(x.Slice(0, 5)), ReadWrite(x.Slice(0, 5)), AddAll{});
  CHECK(ValuesOf(x)[4] == 8);
}

}  // namespace
}  // namespace ferry::testing
