// SPDX-License-Identifier: BSD-2-Clause
// A program in the spelling of Caffe's, ints and vectors of ints: what compiled there must compile here.
#include <catch2/catch_template_test_macros.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "ferry/blob.hpp"
#include "ferry/proto.hpp"
#include "tests/unit/blob_world.hpp"

namespace ferry {
namespace {

using std::shared_ptr;
using std::vector;

/// A layer as there are many: the top's shape is the bottom's with another number of channels.
template <typename Dtype>
class TileLayer {
 public:
  explicit TileLayer(int tiles) : tiles_(tiles) {}

  void Reshape(const vector<Blob<Dtype>*>& bottom, const vector<Blob<Dtype>*>& top) {
    const int axis = bottom[0]->CanonicalAxisIndex(1);
    vector<int> top_shape = bottom[0]->shape();
    top_shape[static_cast<size_t>(axis)] = static_cast<int>(bottom[0]->shape(axis)) * tiles_;
    top[0]->Reshape(top_shape);
    outer_ = static_cast<int>(bottom[0]->count(0, axis));
    inner_ = static_cast<int>(bottom[0]->count(axis));
    if (buffer_.count() != bottom[0]->count()) buffer_.Reshape(bottom[0]->shape());
  }
  void Forward(const vector<Blob<Dtype>*>& bottom, const vector<Blob<Dtype>*>& top) {
    const Dtype* from = bottom[0]->cpu_data();
    Dtype* to = top[0]->mutable_cpu_data();
    for (int i = 0; i < outer_; ++i, from += inner_)
      for (int t = 0; t < tiles_; ++t)
        for (int j = 0; j < inner_; ++j) *to++ = from[j];
  }

 private:
  int tiles_, outer_ = 0, inner_ = 0;
  Blob<Dtype> buffer_;
};

TEMPLATE_TEST_CASE("a layer written for Caffe's Blob compiles and runs", "", float, double) {
  const testing::BlobWorld world;
  shared_ptr<Blob<TestType> > bottom(new Blob<TestType>(2, 1, 1, 2));
  auto* const top = new Blob<TestType>();
  const shared_ptr<Blob<TestType> > owner(top);
  testing::Fill(*bottom);
  TileLayer<TestType> layer(2);
  const vector<Blob<TestType>*> bottoms(1, bottom.get()), tops(1, top);
  layer.Reshape(bottoms, tops);
  layer.Forward(bottoms, tops);
  CHECK(top->shape_string() == "2 2 1 2 (8)");
  CHECK(testing::Data(*top) == vector<TestType>{1, 2, 1, 2, 3, 4, 3, 4});
  CHECK(top->data_at(1, 1, 0, 1) == 4);
}

TEST_CASE("Caffe's calls have Caffe's meaning") {
  const testing::BlobWorld world;
  vector<int> shape(3);
  shape[0] = 2, shape[1] = 3, shape[2] = 4;
  Blob<float> blob(shape), other;
  other.ReshapeLike(blob);
  const vector<int>& same = blob.shape();
  CHECK(same == shape);
  CHECK(blob.shape() == shape);
  CHECK(blob.shape()[2] == 4);
  CHECK(vector<int>(blob.shape().begin() + 1, blob.shape().end()) == vector<int>({3, 4}));
  other.Reshape(blob.num(), blob.channels(), blob.height(), blob.width());
  CHECK(other.count() == blob.count());
  const int offset = static_cast<int>(blob.offset(vector<int>(3, 1)));
  CHECK(offset == 12 + 4 + 1);

  float* const data = blob.mutable_cpu_data();
  for (int i = 0; i < blob.count(); ++i) data[i] = 1;
  CHECK(blob.data()->head() == SyncedMemory::HEAD_AT_CPU);
  const shared_ptr<SyncedMemory>& memory = blob.data();
  CHECK(memory->size() == static_cast<size_t>(blob.count()) * sizeof(float));
  const auto sum = static_cast<float>(blob.asum_data());
  CHECK(sum == 24);
  blob.scale_data(2);
  blob.mutable_cpu_diff()[0] = 1;
  blob.Update();
  CHECK(blob.data_at(vector<int>(3, 0)) == 1);

  BlobProto proto;
  blob.ToProto(&proto, true);
  other.FromProto(proto);
  CHECK(other.ShapeEquals(proto));
  CHECK(other.diff_at(vector<int>(3, 0)) == 1);
  other.FromProto(proto, false);
  BlobShape proto_shape;
  proto_shape.add_dim(5);
  other.Reshape(proto_shape);
  CHECK(other.num() == 5);
}

}  // namespace
}  // namespace ferry
