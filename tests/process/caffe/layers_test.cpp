// SPDX-License-Identifier: BSD-2-Clause
// What Caffe's own layers do with blobs, in a program that has Caffe's messages and ferry/blob.hpp alone.
// Compiled without -Wconversion, as programs written for Caffe are.
#include <catch2/catch_template_test_macros.hpp>
#include <memory>
#include <vector>

#include "caffe.pb.h"
#include "ferry/blob.hpp"

namespace ferry {
namespace {

using caffe::BlobProto;
using caffe::BlobShape;
using caffe::LayerParameter;
using std::shared_ptr;
using std::vector;

/// Parameters that come from a net's file or are made, and go back there.
template <typename Dtype>
class Layer {
 public:
  explicit Layer(const LayerParameter& param) {
    for (int i = 0; i < param.blobs_size(); ++i) {
      blobs_.push_back(shared_ptr<Blob<Dtype> >(new Blob<Dtype>()));
      blobs_[i]->FromProto(param.blobs(i));
    }
  }
  void ToProto(LayerParameter* param, bool write_diff = false) const {
    param->clear_blobs();
    for (const shared_ptr<Blob<Dtype> >& blob : blobs_) blob->ToProto(param->add_blobs(), write_diff);
  }
  void CopyFrom(const LayerParameter& source) {
    for (int i = 0; i < source.blobs_size(); ++i) {
      if (!blobs_[i]->ShapeEquals(source.blobs(i))) blobs_[i]->FromProto(source.blobs(i), true);
      blobs_[i]->FromProto(source.blobs(i), false);
    }
  }
  vector<shared_ptr<Blob<Dtype> > >& blobs() { return blobs_; }

 private:
  vector<shared_ptr<Blob<Dtype> > > blobs_;
};

TEMPLATE_TEST_CASE("a layer's parameters come from Caffe's messages and go back there", "", float, double) {
  LayerParameter param, written;
  for (const float first : {1.0F, 5.0F}) {
    BlobProto* const blob = param.add_blobs();
    blob->mutable_shape()->add_dim(2);
    blob->add_data(first);
    blob->add_data(first + 1);
  }
  Layer<TestType> layer(param);
  layer.ToProto(&written);
  CHECK(written.blobs_size() == 2);
  param.mutable_blobs(0)->mutable_shape()->set_dim(0, 1);
  param.mutable_blobs(0)->mutable_data()->Truncate(1);
  layer.CopyFrom(param);
  CHECK(layer.blobs()[0]->shape_string() == "1 (1)");
  layer.CopyFrom(written);
  CHECK(layer.blobs()[0]->shape_string() == "2 (2)");
  CHECK(layer.blobs()[1]->cpu_data()[1] == 6);
}

TEST_CASE("a shape is used as the vectors of ints that layers keep") {
  Blob<float> bottom(2, 3, 4, 5), top;
  const int axis = bottom.CanonicalAxisIndex(1), num_axes = 2;
  // From axis to axis, as a layer of a bias or a scale has it.
  const auto begin = bottom.shape().begin() + axis;
  const auto end = num_axes == -1 ? bottom.shape().end() : begin + num_axes;
  const vector<int> bias_shape(begin, end);
  CHECK(bias_shape == vector<int>({3, 4}));
  // The axes before the channels, and then some, as a convolution's and a reduction's.
  vector<int> top_shape(bottom.shape().begin(), bottom.shape().begin() + axis);
  top_shape.push_back(7);
  top.Reshape(top_shape);
  CHECK(top.shape() == vector<int>({2, 7}));
  CHECK(top_shape == top.shape());
  const auto* const dims = bottom.shape().data() + axis;
  CHECK(dims[2] == 5);
  const Shape* const kept = &bottom.shape();
  CHECK((*kept)[3] == 5);
  vector<int> rest;
  // NOLINTNEXTLINE(bugprone-narrowing-conversions): as Caffe's sources have it
  for (int i = 1; i < bottom.shape().size(); ++i) rest.push_back(bottom.shape()[i]);
  CHECK(rest == vector<int>({3, 4, 5}));
  const vector<int>& shape = bottom.shape();
  CHECK(shape.size() == 4);
  vector<int> assigned;
  assigned = bottom.shape();
  assigned.insert(assigned.end(), bottom.shape().begin(), bottom.shape().end());
  CHECK(assigned.size() == 8);
}

TEST_CASE("a layer's top takes the shape that its parameter says") {
  BlobShape shape;
  shape.add_dim(6);
  vector<Blob<float>*> top;
  Blob<float> blob;
  top.push_back(&blob);
  top[0]->Reshape(shape);
  CHECK(blob.count() == 6);
}

}  // namespace
}  // namespace ferry
