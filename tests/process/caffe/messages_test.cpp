// SPDX-License-Identifier: BSD-2-Clause
// A program that links Caffe's messages and ours: it starts, and each reads what the other wrote.
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <string>
#include <vector>

#include "caffe.pb.h"
#include "ferry/backend.hpp"
#include "ferry/error.hpp"
#include "ferry/proto.hpp"

namespace ferry {
namespace {

caffe::BlobProto Theirs() {
  caffe::BlobProto message;
  message.mutable_shape()->add_dim(2);
  message.add_data(1.5F);
  message.add_data(2.5F);
  return message;
}

TEST_CASE("Caffe's messages and ours read each other's bytes") {
  BlobProto ours;
  caffe::BlobProto back;
  REQUIRE(ours.ParseFromString(Theirs().SerializeAsString()));
  REQUIRE(back.ParseFromString(ours.SerializeAsString()));
  CHECK(ours.shape().dim(0) == 2);
  CHECK(ours.data(1) == 2.5F);
  CHECK(back.SerializeAsString() == Theirs().SerializeAsString());
}

TEMPLATE_TEST_CASE("a blob writes into Caffe's message what it writes into ours", "", float, double) {
  const auto device = MakeDevice("sim");
  Blob<TestType> blob({2, 1}, *device);
  blob.mutable_gpu_data();
  blob.mutable_cpu_data()[1] = TestType{1} / 3;
  blob.mutable_cpu_diff()[0] = 4;
  for (const bool with_diff : {false, true}) {
    BlobProto ours;
    caffe::BlobProto theirs = Theirs();
    theirs.set_num(9);
    blob.ToProto(&ours, with_diff);
    blob.ToProto(&theirs, with_diff);
    CHECK(theirs.SerializeAsString() == ours.SerializeAsString());
    Blob<TestType> back(*device);
    back.FromProto(theirs);
    CHECK(back.ShapeEquals(theirs));
    CHECK(back.shape() == blob.shape());
    CHECK(back.cpu_data()[1] == blob.cpu_data()[1]);
    CHECK(back.cpu_diff()[0] == (with_diff ? 4 : 0));
  }
}

TEST_CASE("Caffe's message of legacy dims is a blob's that it fills up from the front") {
  const auto device = MakeDevice("host");
  caffe::BlobProto bias = Theirs();
  bias.set_num(1);
  bias.set_channels(1);
  bias.set_height(1);
  bias.set_width(2);
  Blob<float> blob({2}, *device);
  CHECK(blob.ShapeEquals(bias));
  blob.FromProto(bias, false);
  CHECK(blob.shape() == Shape{2});
  CHECK(blob.data_at({1}) == 2.5F);
  blob.FromProto(bias);
  CHECK(blob.shape() == Shape{1, 1, 1, 2});
  bias.set_height(3);
  CHECK_FALSE(blob.ShapeEquals(bias));
  CHECK_THROWS_AS(blob.FromProto(bias, false), ShapeError);
}

TEST_CASE("a blob is reshaped to Caffe's shape") {
  const auto device = MakeDevice("host");
  caffe::BlobShape shape;
  shape.add_dim(3);
  shape.add_dim(4);
  Blob<int> blob(*device);
  blob.Reshape(shape);
  CHECK(blob.shape() == Shape{3, 4});
  shape.set_dim(1, -4);
  CHECK_THROWS_MATCHES(
      blob.Reshape(shape), ShapeError,
      Catch::Matchers::Message("Blob::Reshape: shape 3 -4 has a negative dim; dims are 0 or more"));
}

}  // namespace
}  // namespace ferry
