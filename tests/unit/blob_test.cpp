// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/blob.hpp"

#include <array>
#include <catch2/catch_template_test_macros.hpp>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "ferry/error.hpp"
#include "tests/unit/blob_world.hpp"

namespace ferry::testing {
namespace {

TEST_CASE("a blob without a shape has no elements, no storage and null pointers") {
  Blob<float> blob;
  CHECK(blob.num_axes() == 0);
  CHECK(blob.count() == 0);
  CHECK(blob.shape_string() == "(0)");
  CHECK(blob.data() == nullptr);
  CHECK(blob.cpu_data() == nullptr);
  CHECK(blob.mutable_gpu_diff() == nullptr);
  CHECK(blob.overwrite_cpu_data() == nullptr);
  CHECK(blob.asum_data() == 0);
  blob.scale_diff(2);
  blob.Update();
  blob.ShrinkToFit();
  CHECK(blob.count() == 0);
}

TEST_CASE("a blob is constructed of a shape in all its forms") {
  const EachWorld world;
  Device& device = world.device();
  const Shape want{2, 3, 4, 5};
  CHECK(Blob<float>({2, 3, 4, 5}, device).shape() == want);
  CHECK(Blob<float>(2, 3, 4, 5, device).shape() == want);
  CHECK(Blob<float>(std::vector{2, 3, 4, 5}, device).shape() == want);
  CHECK(Blob<float>(want, device).shape() == want);
  CHECK(Blob<float>({}, device).count() == 1);
  CHECK(&Blob<float>({2}, device).device() == &device);
  CHECK(&Blob<float>({2}).device() == &DefaultDevice());
  CHECK(Blob<float>({2, 3, 4, 5}).shape() == want);
  CHECK(Blob<float>{2, 3}.shape() == Shape{2, 3});
}

TEST_CASE("a blob takes every form of Reshape") {
  const BlobWorld world;
  Blob<float> blob(world.device()), other({7}, world.device());
  const int n = 2;
  blob.Reshape({n, 3});
  CHECK(blob.shape() == std::vector{2, 3});
  blob.Reshape(1, 2, 3, 4);
  CHECK(blob.shape_string() == "1 2 3 4 (24)");
  blob.Reshape(std::vector<int>{});
  CHECK(blob.count() == 1);
  blob.Reshape(std::array<std::size_t, 2>{4, 5});
  CHECK(blob.count() == 20);
  blob.ReshapeLike(other);
  CHECK(blob.shape() == other.shape());
  blob.Reshape(other.shape());
  CHECK(blob.shape() == Shape{7});
}

TEST_CASE("axes, dims and counts are those of the shape") {
  const Blob<float> blob({2, 3, 4}, DefaultDevice());
  CHECK(blob.shape(-1) == 4);
  CHECK(blob.shape(0) == 2);
  CHECK(blob.CanonicalAxisIndex(-3) == 0);
  CHECK(blob.count(1) == 12);
  CHECK(blob.count(0, 2) == 6);
  CHECK(blob.num() == 2);
  CHECK(blob.channels() == 3);
  CHECK(blob.height() == 4);
  CHECK(blob.width() == 1);
  CHECK(blob.LegacyShape(-4) == 1);
}

TEST_CASE("count and dims have 64 bits") {
  const Blob<std::int8_t> blob({std::int64_t{1} << 40, 1 << 20});
  CHECK(blob.count() == std::int64_t{1} << 60);
  CHECK(blob.offset({1, 0}) == 1 << 20);
  CHECK(blob.offset({std::int64_t{1} << 40, 0}) == std::int64_t{1} << 60);
}

TEST_CASE("offset accepts 0 to dim, one past the end, and nothing else") {
  const Blob<float> blob({2, 3, 4, 5});
  CHECK(blob.offset(1, 2, 3, 4) == 119);
  CHECK(blob.offset(2) == 120);
  CHECK(blob.offset(2, 3, 4, 5) == 120 + 60 + 20 + 5);
  CHECK(blob.offset({1, 2}) == 100);
  CHECK(blob.offset({1}) == 60);
  CHECK(blob.offset(std::vector{2, 0, 0, 0}) == 120);
  CHECK_THROWS_MATCHES(blob.offset(3), ShapeError,
                       Message("Blob::offset: index 3 0 0 0 in shape 2 3 4 5; at most 4 numbers are allowed, "
                               "each from 0 to its dim"));
  CHECK_THROWS_AS(blob.offset(0, -1), ShapeError);
  CHECK_THROWS_AS(blob.offset(0, 0, 0, 6), ShapeError);
  CHECK_THROWS_AS(blob.offset({0, 4}), ShapeError);
  CHECK_THROWS_AS(blob.offset({0, 0, 0, 0, 0}), ShapeError);
  CHECK_THROWS_AS(blob.offset(std::vector(40, 0)), ShapeError);
  CHECK_THROWS_AS(Blob<float>({1, 1, 1, 1, 1}).offset(0), ShapeError);
}

TEST_CASE("data_at and diff_at reach elements only") {
  const EachWorld world;
  Blob<float> blob({2, 3}, world.device());
  Fill(blob);
  FillDiff(blob, 10.f);
  CHECK(blob.data_at(1, 2, 0, 0) == 6);
  CHECK(blob.data_at({1, 1}) == 5);
  CHECK(blob.data_at(std::vector{1}) == 4);
  CHECK(blob.diff_at({0, 1}) == 11);
  CHECK(blob.diff_at(1, 0, 0, 0) == 13);
  CHECK(blob.diff_at(std::vector{1, 2}) == 15);
  CHECK_THROWS_MATCHES(blob.data_at({2, 0}), ShapeError,
                       Message("Blob::data_at: index 2 0 in shape 2 3; at most 2 numbers are allowed, each "
                               "from 0 to its dim - 1"));
  CHECK_THROWS_AS(blob.data_at(0, 3, 0, 0), ShapeError);
  CHECK_THROWS_AS(blob.diff_at(0, 0, 0, 1), ShapeError);
  CHECK_THROWS_AS(Blob<float>({2, 0}, world.device()).data_at({1}), ShapeError);
  CHECK_THROWS_AS(Blob<float>().data_at({0}), ShapeError);
}

TEST_CASE("an index is refused with all its numbers, in words that fit the axes") {
  const BlobWorld world;
  CHECK_THROWS_MATCHES(
      Blob<float>({3}, world.device()).data_at({3}), ShapeError,
      Message("Blob::data_at: index 3 in shape 3; at most 1 number is allowed, from 0 to its "
              "dim - 1"));
  CHECK_THROWS_MATCHES(
      Blob<float>(Shape(), world.device()).offset({0}), ShapeError,
      Message("Blob::offset: index 0 in a shape without axes; give an index without numbers"));
  CHECK_THROWS_MATCHES(
      Blob<float>({2, 3}, world.device()).data_at(std::vector<std::uint64_t>{1, ~std::uint64_t{0}}),
      ShapeError,
      Message("Blob::data_at: index 1 18446744073709551615 in shape 2 3; at most 2 numbers are allowed, each "
              "from "
              "0 to its dim - 1"));
}

TEST_CASE("a blob of no axes has one element, at the empty index") {
  const EachWorld world;
  const Blob<float> one(Shape{}, world.device());
  CHECK(one.data_at(0, 0, 0, 0) == 0);
  CHECK(one.diff_at(std::vector<int>{}) == 0);
}

TEMPLATE_TEST_CASE("storage holds every arithmetic type, and starts from zeros", "", float, double, bool,
                   long double, wchar_t, char8_t, char16_t, char32_t, char, std::int8_t, std::int16_t,
                   std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t,
                   long long) {
  const EachWorld world;
  Blob<TestType> blob({3}, world.device());
  CHECK(Data(blob) == std::vector<TestType>(3));
  blob.mutable_cpu_data()[1] = TestType{1};
  blob.mutable_gpu_data();
  CHECK(Data(blob) == std::vector<TestType>{0, 1, 0});
  Blob<TestType> copy(world.device());
  copy.CopyFrom(blob, false, true);
  CHECK(Data(copy) == Data(blob));
}

TEST_CASE("a blob of no elements works") {
  const EachWorld world;
  Blob<float> blob({2, 0, 3}, world.device()), other({2, 0, 3}, world.device());
  CHECK(blob.count() == 0);
  CHECK(blob.cpu_data() == nullptr);
  CHECK(blob.mutable_gpu_data() == nullptr);
  CHECK(blob.sumsq_data() == 0);
  blob.CopyFrom(other);
  blob.ShareData(other);
  blob.Update();
  blob.scale_data(3);
  blob.Reshape({2});
  CHECK(Data(blob) == std::vector<float>{0, 0});
}

TEST_CASE("every access of data and diff reaches the same elements") {
  const EachWorld world;
  const Stream stream(world.device());
  Blob<float> blob({2}, world.device());
  for (int round = 0; round < 2; ++round) {
    blob.overwrite_cpu_data()[0] = 1, blob.mutable_cpu_data()[1] = 2;
    blob.overwrite_cpu_diff()[0] = 3, blob.mutable_cpu_diff()[1] = 4;
    CHECK(blob.mutable_gpu_data() == blob.gpu_data());
    CHECK(blob.mutable_gpu_data(stream) == blob.gpu_data(stream));
    CHECK(blob.mutable_gpu_diff() == blob.gpu_diff());
    CHECK(blob.mutable_gpu_diff(stream) == blob.gpu_diff(stream));
    CHECK(blob.data()->head() == SyncedMemory::HEAD_AT_GPU);
    CHECK(Data(blob) == std::vector<float>{1, 2});
    CHECK(DiffValues(blob) == std::vector<float>{3, 4});
    CHECK(blob.overwrite_gpu_data() == blob.overwrite_gpu_data(stream));
    CHECK(blob.overwrite_gpu_diff() == blob.overwrite_gpu_diff(stream));
    CHECK(blob.diff()->head() == SyncedMemory::HEAD_AT_GPU);
  }
}

TEST_CASE("a blob that is moved leaves one without a shape") {
  const EachWorld world;
  Blob<float> a({2}, world.device());
  Fill(a);
  Blob<float> b(std::move(a));
  CHECK(Data(b) == Counted<float>(2));
  CHECK(&b.device() == &world.device());
  CHECK(a.count() == 0);  // NOLINT(bugprone-use-after-move): the header says what is left
  CHECK(a.data() == nullptr);
  a = std::move(b);
  CHECK(Data(a) == Counted<float>(2));
  a.Reshape({1});
  CHECK(Data(a) == Counted<float>(1));
}

TEST_CASE("gpu_shape has the dims as ints, and follows the shape and the blob") {
  const BlobWorld world;
  Blob<float> blob({2, 3}, world.device());
  const Stream stream(world.device());
  for (const std::vector<int>& shape : {std::vector{2, 3}, std::vector{4, 5, 6}}) {
    blob.Reshape(shape);
    const int* const dims = blob.gpu_shape(stream);
    std::vector<int> seen(shape.size());
    sim::Launch(stream, {dims}, [&] { std::memcpy(seen.data(), dims, seen.size() * sizeof(int)); });
    stream.Synchronize();
    CHECK(seen == shape);
    CHECK(blob.gpu_shape() == dims);
  }
  blob = Blob<float>({7}, world.device());
  const int* const dims = blob.gpu_shape(stream);
  int seen = 0;
  sim::Launch(stream, {dims}, [&] { std::memcpy(&seen, dims, sizeof(int)); });
  stream.Synchronize();
  CHECK(seen == 7);
  CHECK(Blob<float>({}, world.device()).gpu_shape() == nullptr);
  CHECK_THROWS_AS(Blob<float>({std::int64_t{1} << 31, 1}, world.device()).gpu_shape(), ShapeError);
}

TEST_CASE("a pointer given to a blob is its data, and the diff stays") {
  const EachWorld world;
  Blob<float> blob({3}, world.device());
  FillDiff(blob);
  std::vector<float> mine{7, 8, 9};
  blob.set_cpu_data(mine.data());
  CHECK(blob.cpu_data() == mine.data());
  CHECK(DiffValues(blob) == Counted<float>(3));
  blob.Reshape({2});
  CHECK(blob.cpu_data() == mine.data());
  blob.Reshape({3});
  CHECK(Data(blob) == std::vector<float>{7, 8, 0});
  blob.Reshape({4});
  CHECK(blob.cpu_data() != mine.data());
  CHECK(Data(blob) == std::vector<float>(4));
  CHECK(DiffValues(blob) == std::vector<float>(4));
}

TEST_CASE("a pointer given after a blob got smaller has count elements, and growing does not overrun it") {
  const EachWorld world;
  Blob<float> blob({8}, world.device());
  Fill(blob);
  FillDiff(blob);
  blob.Reshape({2});
  std::vector<float> mine{7, 8};
  blob.set_cpu_data(mine.data());
  CHECK(Data(blob) == mine);
  CHECK(DiffValues(blob) == Counted<float>(2));
  blob.Reshape({8});
  CHECK(Data(blob) == std::vector<float>(8));
  CHECK(DiffValues(blob) == std::vector<float>{1, 2, 0, 0, 0, 0, 0, 0});
  blob.mutable_gpu_data();
  Fill(blob);
  CHECK(mine == std::vector<float>{7, 8});
}

TEST_CASE("a device pointer given to a blob is its data") {
  const BlobWorld world;
  const Stream stream(world.device());
  Blob<float> owner({2}, world.device()), blob({2}, world.device());
  Fill(owner);
  float* const mine = owner.mutable_gpu_data();
  blob.set_gpu_data(mine);
  CHECK(blob.gpu_data() == mine);
  CHECK(Data(blob) == Counted<float>(2));
  blob.set_gpu_data(owner.mutable_gpu_data(stream), stream);
  CHECK(Data(blob) == Counted<float>(2));
}

}  // namespace
}  // namespace ferry::testing
