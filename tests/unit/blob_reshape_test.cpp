// SPDX-License-Identifier: BSD-2-Clause
#include <stdexcept>
#include <vector>

#include "ferry/blob.hpp"
#include "ferry/error.hpp"
#include "tests/unit/blob_world.hpp"

namespace ferry::testing {
namespace {

TEST_CASE("a blob that shrinks and grows within its capacity keeps what stayed and reads zeros beyond") {
  const EachWorld world;
  const bool gpu = GENERATE(false, true);
  Blob<float> blob({6}, world.device());
  Fill(blob);
  FillDiff(blob, 11.f);
  if (gpu) ToGpu(blob);
  const void* const storage = blob.data().get();
  blob.Reshape({2});
  if (gpu) blob.gpu_data();
  blob.Reshape({4});
  CHECK(Data(blob) == std::vector<float>{1, 2, 0, 0});
  CHECK(DiffValues(blob) == std::vector<float>{11, 12, 0, 0});
  blob.Reshape({3, 2});
  blob.gpu_data();
  CHECK(Data(blob) == std::vector<float>{1, 2, 0, 0, 0, 0});
  CHECK(blob.data().get() == storage);
}

TEST_CASE("growth beyond the capacity starts from zeros and copies nothing") {
  const BlobWorld world;
  Blob<float> blob({2}, world.device());
  Fill(blob);
  ToGpu(blob);
  const Statistics before = world.statistics();
  blob.Reshape({5});
  CHECK(Data(blob) == std::vector<float>(5));
  CHECK(DiffValues(blob) == std::vector<float>(5));
  const Statistics did = world.statistics() - before;
  CHECK(did.host_to_device.count + did.device_to_host.count + did.device_to_device.count == 0);
}

TEST_CASE("copies move count elements, not the capacity") {
  const BlobWorld world;
  Blob<float> blob({1000}, world.device());
  blob.Reshape({10});
  Fill(blob);
  blob.gpu_data();
  CHECK(world.statistics().host_to_device.bytes == 10 * sizeof(float));
}

TEST_CASE("Reshape allocates nothing before an access") {
  const BlobWorld world;
  Blob<float> blob({1 << 30}, world.device());
  blob.Reshape({1 << 20, 1 << 20});
  CHECK(world.statistics().allocations.count == 0);
}

TEST_CASE("ShrinkToFit gives memory back and keeps the elements where they are") {
  const EachWorld world;
  const bool gpu = GENERATE(false, true);
  Blob<float> blob({1000}, world.device());
  Fill(blob);
  FillDiff(blob, 11.f);
  if (gpu) ToGpu(blob);
  const Head head = blob.data()->head();
  blob.Reshape({3});
  blob.ShrinkToFit();
  CHECK(blob.data()->capacity() == 3 * sizeof(float));
  CHECK(blob.diff()->capacity() == 3 * sizeof(float));
  CHECK(blob.data()->head() == head);
  CHECK(Data(blob) == Counted<float>(3));
  CHECK(DiffValues(blob) == Counted<float>(3, 11));
  blob.Reshape({4});
  CHECK(Data(blob) == std::vector<float>(4));
}

TEST_CASE("ShrinkToFit leaves shared storage, and storage that fits, alone") {
  const EachWorld world;
  Blob<float> a({4}, world.device()), b({4}, world.device());
  const auto* const fits = b.diff().get();
  b.ShareData(a);
  a.Reshape({2});
  a.ShrinkToFit();
  b.ShrinkToFit();
  CHECK(a.data() == b.data());
  CHECK(a.data()->capacity() == 4 * sizeof(float));
  CHECK(a.diff()->capacity() == 2 * sizeof(float));
  CHECK(b.diff().get() == fits);
}

TEST_CASE("blobs that share data see one another's elements, and keep their own diff") {
  const EachWorld world;
  Blob<float> a({2, 3}, world.device()), b({6}, world.device());
  Fill(a);
  FillDiff(b, 21.f);
  b.ShareData(a);
  CHECK(b.data() == a.data());
  CHECK(Data(b) == Counted<float>(6));
  b.mutable_gpu_data();
  b.mutable_cpu_data()[5] = 60;
  CHECK(a.data_at({1, 2}) == 60);
  CHECK(DiffValues(b) == Counted<float>(6, 21));
  CHECK(DiffValues(a) == std::vector<float>(6));
  a.ShareDiff(b);
  CHECK(a.diff_at({1, 2}) == 26);
}

TEST_CASE("a blob that gets smaller leaves shared storage to the others") {
  const EachWorld world;
  Blob<float> a({6}, world.device()), b({6}, world.device());
  Fill(a);
  b.ShareData(a);
  b.Reshape({2});
  CHECK(b.data() == a.data());
  CHECK(Data(a) == Counted<float>(6));
  b.Reshape({4});
  CHECK(Data(b) == Counted<float>(4));
  b.Reshape({8});
  CHECK(b.data() != a.data());
  CHECK(Data(a) == Counted<float>(6));
  CHECK(Data(b) == std::vector<float>(8));
}

TEST_CASE("a blob that overwrites its part of shared storage keeps the rest") {
  const EachWorld world;
  Blob<float> a({6}, world.device()), b({6}, world.device());
  Fill(a);
  b.ShareData(a);
  b.Reshape({2});
  a.mutable_gpu_data();
  Fill(b, 7.f);
  CHECK(Data(a) == std::vector<float>{7, 8, 3, 4, 5, 6});
  b.overwrite_gpu_data();
  CHECK(Data(a) == std::vector<float>{7, 8, 3, 4, 5, 6});
}

TEST_CASE("bytes given to a blob are seen by those that share all of its storage, and by no others") {
  const EachWorld world;
  Blob<float> a({4}, world.device()), b({4}, world.device());
  std::vector<float> four{1, 2, 3, 4}, two{5, 6};
  b.ShareData(a);
  b.set_cpu_data(four.data());
  CHECK(a.data() == b.data());
  CHECK(Data(a) == four);
  b.Reshape({2});
  b.set_cpu_data(two.data());
  CHECK(a.data() != b.data());
  CHECK(Data(a) == std::vector<float>{1, 2, 3, 4});
  CHECK(Data(b) == two);
}

TEST_CASE("sharing and then growing within the other's capacity cannot overrun") {
  const EachWorld world;
  Blob<float> big({10}, world.device()), small({2}, world.device());
  big.Reshape({2});
  Fill(big);
  FillDiff(small, 5.f);
  small.ShareData(big);
  small.Reshape({10});
  CHECK(small.data() == big.data());
  CHECK(Data(small) == std::vector<float>{1, 2, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(DiffValues(small) == std::vector<float>(10));
  Fill(small);
  FillDiff(small);
  CHECK(Data(big) == Counted<float>(2));
}

TEST_CASE("elements that another blob left behind do not come back") {
  const EachWorld world;
  Blob<float> a({2}, world.device());
  {
    Blob<float> b({6}, world.device());
    b.Reshape({2});
    a.ShareData(b);
    b.Reshape({6});
    Fill(b);
  }
  a.Reshape({4});
  CHECK(Data(a) == std::vector<float>{1, 2, 0, 0});
}

TEST_CASE("a blob of no elements that shares storage does not clear the other's when it grows") {
  const EachWorld world;
  Blob<float> big({4}, world.device()), none({0}, world.device());
  big.Reshape({0});
  none.ShareData(big);
  big.Reshape({4});
  Fill(big);
  none.Reshape({3});
  CHECK(Data(none) == Counted<float>(3));
  CHECK(Data(big) == Counted<float>(4));
}

}  // namespace
}  // namespace ferry::testing
