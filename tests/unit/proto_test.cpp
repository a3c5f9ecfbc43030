// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/proto.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "ferry/error.hpp"
#include "tests/unit/blob_world.hpp"

namespace ferry::testing {
namespace {

BlobProto Proto(const std::vector<int>& dims, int elements, float first = 1) {
  BlobProto proto;
  for (const int dim : dims) proto.mutable_shape()->add_dim(dim);
  for (int i = 0; i < elements; ++i) proto.add_data(first + static_cast<float>(i));
  return proto;
}
void SetLegacy(BlobProto& proto, int num, int channels, int height, int width) {
  proto.set_num(num);
  proto.set_channels(channels);
  proto.set_height(height);
  proto.set_width(width);
}

TEST_CASE("the fields have Caffe's numbers and encodings") {
  const std::string bytes(
      "\x08\x01\x10\x02\x18\x03\x20\x04"           // num, channels, height, width
      "\x2a\x04\x00\x00\x80\x3f"                   // data, packed
      "\x32\x04\x00\x00\x00\x40"                   // diff, packed
      "\x3a\x05\x0a\x03\x02\x80\x01"               // shape, packed dims 2 and 128
      "\x42\x08\x00\x00\x00\x00\x00\x00\x08\x40"   // double_data, packed
      "\x4a\x08\x00\x00\x00\x00\x00\x00\x10\x40",  // double_diff, packed
      8 + 6 + 6 + 7 + 10 + 10);
  BlobProto proto;
  SetLegacy(proto, 1, 2, 3, 4);
  proto.add_data(1);
  proto.add_diff(2);
  proto.mutable_shape()->add_dim(2);
  proto.mutable_shape()->add_dim(128);
  proto.add_double_data(3);
  proto.add_double_diff(4);
  CHECK(proto.SerializeAsString() == bytes);
  BlobProtoVector vector;
  *vector.add_blobs() = proto;
  CHECK(vector.SerializeAsString() == "\x0a\x2f" + bytes);
  CHECK(std::string(proto.GetTypeName()) == "ferry.BlobProto");
}

TEST_CASE("elements are read packed and unpacked, and data before the shape") {
  const EachWorld world;
  const std::string unpacked("\x2d\x00\x00\x80\x3f\x2d\x00\x00\x00\x40\x3a\x04\x08\x01\x08\x02", 16);
  BlobProto proto;
  REQUIRE(proto.ParseFromString(unpacked));
  Blob<float> blob(world.device());
  blob.FromProto(proto);
  CHECK(blob.shape() == Shape{1, 2});
  CHECK(Data(blob) == std::vector<float>{1, 2});
}

TEMPLATE_TEST_CASE("a blob comes back from its message, shape and bits", "", float, double) {
  const EachWorld world;
  const bool on_gpu = GENERATE(false, true);
  const auto shape = GENERATE(Shape{2, 3}, Shape{}, Shape{0, 4}, Shape{1, 1, 1, 1, 7});
  Blob<TestType> blob(shape, world.device()), back(world.device());
  Fill(blob, TestType{0.1f});
  FillDiff(blob, TestType{-1});
  if (blob.count() > 4) {
    blob.mutable_cpu_data()[3] = std::numeric_limits<TestType>::infinity();
    blob.mutable_cpu_data()[4] = std::numeric_limits<TestType>::denorm_min();
  }
  if (on_gpu) ToGpu(blob);
  BlobProto proto;
  blob.ToProto(&proto, true);
  CHECK(proto.has_shape() == !shape.empty());
  CHECK(blob.ShapeEquals(proto));
  back.FromProto(proto);
  CHECK(back.shape() == shape);
  CHECK(Data(back) == Data(blob));
  CHECK(DiffValues(back) == DiffValues(blob));
}

TEST_CASE("a message is read in the other precision too") {
  const EachWorld world;
  Blob<double> doubles({2}, world.device());
  Blob<float> floats({2}, world.device());
  Fill(doubles, 1.5);
  FillDiff(doubles, 2.5);
  BlobProto proto;
  doubles.ToProto(&proto, true);
  CHECK(proto.data_size() == 0);
  CHECK(proto.double_data_size() == 2);
  floats.FromProto(proto, false);
  CHECK(Data(floats) == std::vector<float>{1.5, 2.5});
  CHECK(DiffValues(floats) == std::vector<float>{2.5, 3.5});
  floats.ToProto(&proto);
  doubles.FromProto(proto);
  CHECK(Data(doubles) == std::vector<double>{1.5, 2.5});
}

TEST_CASE("ToProto leaves nothing stale in a message that is used again") {
  const BlobWorld world;
  Blob<double> before({3}, world.device());
  BlobProto proto;
  before.ToProto(&proto, true);
  SetLegacy(proto, 9, 9, 9, 9);
  BlobProto::GetReflection()->MutableUnknownFields(&proto)->AddVarint(100, 1);
  Blob<float> blob({2}, world.device());
  Fill(blob);
  blob.ToProto(&proto, false);
  BlobProto fresh;
  blob.ToProto(&fresh, false);
  CHECK(proto.SerializeAsString() == fresh.SerializeAsString());
  Blob<float>({}, world.device()).ToProto(&proto);
  CHECK(!proto.has_shape());
  CHECK(proto.data_size() == 1);
}

TEST_CASE("legacy dims win over the shape as soon as one is present") {
  const BlobWorld world;
  BlobProto proto = Proto({6}, 6);
  SetLegacy(proto, 1, 1, 2, 3);
  Blob<float> blob(world.device());
  blob.FromProto(proto);
  CHECK(blob.shape() == Shape{1, 1, 2, 3});
  BlobProto ones[4];
  ones[0].set_num(0), ones[1].set_channels(0), ones[2].set_height(0), ones[3].set_width(0);
  for (BlobProto& one : ones) {
    one.MergeFrom(Proto({6}, 0));
    blob.Reshape({6});
    blob.FromProto(one);
    CHECK(blob.shape() == Shape{0, 0, 0, 0});
  }
}

TEST_CASE("legacy dims equal a shape that they fill up from the front") {
  const BlobWorld world;
  BlobProto proto = Proto({}, 6);
  SetLegacy(proto, 1, 1, 2, 3);
  Blob<float> blob({2, 3}, world.device());
  CHECK(blob.ShapeEquals(proto));
  CHECK(!Blob<float>({2, 3, 1}).ShapeEquals(proto));
  CHECK(!Blob<float>({1, 1, 1, 2, 3}).ShapeEquals(proto));
  blob.FromProto(proto, false);
  CHECK(blob.shape() == Shape{2, 3});
  CHECK(Data(blob) == Counted<float>(6));
  for (const int dim : {0, 1}) {
    SetLegacy(proto, dim == 0 ? 5 : 1, dim == 1 ? 5 : 1, 2, 3);
    CHECK(!blob.ShapeEquals(proto));
  }
  SetLegacy(proto, 1, 1, 1, 1);
  CHECK(Blob<float>({}, world.device()).ShapeEquals(proto));
  CHECK(!Blob<float>(world.device()).ShapeEquals(proto));
  CHECK(!Blob<float>(world.device()).ShapeEquals(Proto({}, 1)));
  CHECK(!blob.ShapeEquals(Proto({3, 2}, 0)));
  CHECK(blob.ShapeEquals(Proto({2, 3}, 0)));
}

TEST_CASE("double_data wins over data, and double_diff over diff") {
  const BlobWorld world;
  BlobProto proto = Proto({2}, 2);
  proto.add_double_data(7);
  proto.add_double_data(8);
  proto.add_diff(1);
  proto.add_double_diff(5);
  proto.add_double_diff(6);
  Blob<float> blob(world.device());
  blob.FromProto(proto);
  CHECK(Data(blob) == std::vector<float>{7, 8});
  CHECK(DiffValues(blob) == std::vector<float>{5, 6});
}

TEST_CASE("FromProto grows within the capacity, and keeps all that it brought") {
  const EachWorld world;
  Blob<float> blob({9}, world.device());
  blob.Reshape({2});
  BlobProto proto = Proto({4}, 4);
  *proto.mutable_diff() = proto.data();
  blob.FromProto(proto);
  CHECK(Data(blob) == Counted<float>(4));
  CHECK(DiffValues(blob) == Counted<float>(4));
}

TEST_CASE("a message without a diff leaves the diff as Reshape does") {
  const EachWorld world;
  Blob<float> blob({3}, world.device());
  FillDiff(blob);
  blob.FromProto(Proto({3}, 3));
  CHECK(DiffValues(blob) == Counted<float>(3));
  blob.FromProto(Proto({2}, 2, 8));
  CHECK(Data(blob) == Counted<float>(2, 8));
  CHECK(DiffValues(blob) == Counted<float>(2));
}

TEST_CASE("FromProto into a part of shared storage leaves the other part alone") {
  const EachWorld world;
  const bool on_gpu = GENERATE(false, true);
  Blob<float> whole({4}, world.device()), part({4}, world.device());
  Fill(whole);
  if (on_gpu) ToGpu(whole);
  part.ShareData(whole);
  part.FromProto(Proto({2}, 2, 8));
  CHECK(Data(whole) == std::vector<float>{8, 9, 3, 4});
}

TEST_CASE("a blob that no message can have is an error, and the message stays") {
  const BlobWorld world;
  BlobProto proto = Proto({2}, 2);
  const std::string before = proto.SerializeAsString();
  CHECK_THROWS_AS(Blob<float>().ToProto(&proto), ShapeError);
  CHECK_THROWS_AS(Blob<float>({std::int64_t{1} << 31}, world.device()).ToProto(&proto), ShapeError);
  CHECK(proto.SerializeAsString() == before);
}

}  // namespace
}  // namespace ferry::testing
