// SPDX-License-Identifier: BSD-2-Clause
// Every public member of Caffe's SyncedMemory and Blob, called with Caffe's argument and result types.
// Compiled without -Wconversion, as programs written for Caffe are.
#include <catch2/catch_template_test_macros.hpp>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "ferry/blob.hpp"
#include "ferry/proto.hpp"
#include "tests/unit/blob_world.hpp"

namespace ferry {
namespace {

using std::shared_ptr;
using std::string;
using std::vector;

int Ordinal(const SyncedMemory& memory) {
  switch (memory.head()) {
    case SyncedMemory::UNINITIALIZED:
      return 0;
    case SyncedMemory::HEAD_AT_CPU:
      return 1;
    case SyncedMemory::HEAD_AT_GPU:
      return 2;
    case SyncedMemory::SYNCED:
      return 3;
  }
  return -1;
}

TEST_CASE("SyncedMemory has Caffe's members") {
  const testing::BlobWorld world;
  const Stream stream = Stream::Main(DefaultDevice());
  CHECK(SyncedMemory().size() == 0);
  int mine[2] = {3, 4};
  shared_ptr<SyncedMemory> memory(new SyncedMemory(2 * sizeof(int)));
  size_t size = memory->size();
  CHECK(size == 8);
  SyncedMemory::SyncedHead head = memory->head();
  CHECK(head == SyncedMemory::UNINITIALIZED);
  CHECK(Ordinal(*memory) == 0);
  const void* from = memory->cpu_data();
  void* to = memory->mutable_cpu_data();
  CHECK(from == to);
  CHECK(Ordinal(*memory) == 1);
  memset(to, 0, memory->size());
  memory->async_gpu_push(stream);
  CHECK(Ordinal(*memory) == 3);
  const void* gpu_from = memory->gpu_data();
  void* gpu_to = memory->mutable_gpu_data();
  CHECK(gpu_from == gpu_to);
  CHECK(Ordinal(*memory) == 2);
  memory->set_cpu_data(mine);
  CHECK(static_cast<const int*>(memory->cpu_data())[1] == 4);
  memory->set_gpu_data(gpu_to);
  CHECK(memory->gpu_data() == gpu_to);
}

TEMPLATE_TEST_CASE("Blob has Caffe's members for a shape", "", float, double, int, unsigned int) {
  const testing::BlobWorld world;
  const vector<int> dims(3, 2);
  Blob<TestType> blob, legacy(2, 3, 4, 5), shaped(dims);
  CHECK(kMaxBlobAxes == 32);
  blob.Reshape(2, 3, 4, 5);
  blob.Reshape(dims);
  BlobShape message;
  message.add_dim(2);
  message.add_dim(12);
  blob.Reshape(message);
  blob.ReshapeLike(legacy);
  string text = blob.shape_string();
  CHECK(text == "2 3 4 5 (120)");
  const vector<int>& shape = blob.shape();
  CHECK(shape.size() == 4);
  vector<int> copy(blob.shape()), assigned;
  assigned = blob.shape();
  assigned.push_back(1);
  CHECK(copy == shape);
  CHECK(assigned != blob.shape());
  Blob<TestType> same(blob.shape());
  CHECK(same.shape() == blob.shape());

  int axes = blob.num_axes(), dim = blob.shape(-1), count = blob.count();
  int inner = blob.count(2), outer = blob.count(0, 2), axis = blob.CanonicalAxisIndex(-2);
  CHECK(vector<int>{axes, dim, count, inner, outer, axis} == vector<int>{4, 5, 120, 20, 6, 2});
  int num = blob.num(), channels = blob.channels(), height = blob.height(), width = blob.width();
  CHECK(vector<int>{num, channels, height, width} == vector<int>{2, 3, 4, 5});
  int last = blob.LegacyShape(-1);
  CHECK(last == 5);
  vector<int> indices(2, 1);
  int at = blob.offset(indices), start = blob.offset(1), row = blob.offset(1, 1),
      column = blob.offset(1, 1, 1), element = blob.offset(1, 1, 1, 1);
  CHECK(vector<int>{at, start, row, column, element} == vector<int>{80, 60, 80, 85, 86});
  for (int i = 0; i < blob.shape().size(); ++i) CHECK(blob.shape()[i] == shape[i]);
}

TEMPLATE_TEST_CASE("Blob has Caffe's members for its elements", "", float, double, int, unsigned int) {
  const testing::BlobWorld world;
  Blob<TestType> blob(1, 1, 1, 2), other(1, 1, 1, 2);
  const Blob<TestType>& seen = blob;
  vector<int> index(4, 0);
  TestType mine[2] = {5, 6};
  TestType *data = blob.mutable_cpu_data(), *diff = blob.mutable_cpu_diff();
  data[0] = diff[0] = 7;
  TestType data_at = seen.data_at(0, 0, 0, 0), diff_at = seen.diff_at(0, 0, 0, 0);
  CHECK((data_at == 7 && diff_at == 7));
  CHECK((seen.data_at(index) == 7 && seen.diff_at(index) == 7));
  const shared_ptr<SyncedMemory>&memory = seen.data(), &diff_memory = seen.diff();
  CHECK(memory != diff_memory);
  data = blob.mutable_gpu_data(), diff = blob.mutable_gpu_diff();
  const TestType *gpu_data = seen.gpu_data(), *gpu_diff = seen.gpu_diff();
  CHECK((gpu_data == data && gpu_diff == diff));
  const TestType *cpu_data = seen.cpu_data(), *cpu_diff = seen.cpu_diff();
  CHECK((cpu_data[0] == 7 && cpu_diff[0] == 7));
  const int* shape = seen.gpu_shape();
  CHECK(shape != nullptr);

  other.CopyFrom(blob);
  other.CopyFrom(blob, true);
  other.CopyFrom(blob, false, true);
  CHECK(other.data_at(index) == 7);
  other.ShareData(blob);
  other.ShareDiff(blob);
  CHECK((other.data() == blob.data() && other.diff() == blob.diff()));
  blob.set_cpu_data(mine);
  CHECK(blob.cpu_data() == mine);
  blob.set_gpu_data(data);
  CHECK(blob.gpu_data() == data);
}

TEMPLATE_TEST_CASE("Blob has Caffe's members for mathematics and messages", "", float, double) {
  const testing::BlobWorld world;
  Blob<TestType> blob(vector<int>(1, 2));
  const Blob<TestType>& seen = blob;
  blob.mutable_cpu_data()[0] = 3;
  blob.mutable_cpu_diff()[0] = 1;
  blob.scale_data(2);
  blob.scale_diff(2);
  blob.Update();
  TestType asum = seen.asum_data(), asum_diff = seen.asum_diff();
  TestType sumsq = seen.sumsq_data(), sumsq_diff = seen.sumsq_diff();
  CHECK((asum == 4 && asum_diff == 2 && sumsq == 16 && sumsq_diff == 4));
  BlobProto proto;
  seen.ToProto(&proto);
  seen.ToProto(&proto, true);
  Blob<TestType> other;
  other.FromProto(proto);
  other.FromProto(proto, false);
  bool equal = other.ShapeEquals(proto);
  CHECK(equal);
  CHECK(other.diff_at(vector<int>(1, 0)) == 2);
}

}  // namespace
}  // namespace ferry
