// SPDX-License-Identifier: BSD-2-Clause
#include <vector>

#include "ferry/blob.hpp"
#include "ferry/error.hpp"
#include "tests/unit/blob_world.hpp"

namespace ferry::testing {
namespace {

enum class Where { kNowhere, kCpu, kGpu, kBoth };

void FillAt(Blob<float>& blob, Where where, float first) {
  if (where == Where::kNowhere) return;
  Fill(blob, first);
  if (where == Where::kGpu) blob.mutable_gpu_data();
  if (where == Where::kBoth) blob.gpu_data();
}

TEST_CASE("CopyFrom copies wherever the bytes of source and destination are") {
  const EachWorld world;
  const auto source_at = GENERATE(Where::kNowhere, Where::kCpu, Where::kGpu, Where::kBoth);
  const auto destination_at = GENERATE(Where::kNowhere, Where::kCpu, Where::kGpu, Where::kBoth);
  const int old_count = GENERATE(4, 2, 9);
  Blob<float> source({2, 2}, world.device()), destination({old_count}, world.device());
  FillAt(source, source_at, 1);
  FillAt(destination, destination_at, 50);
  FillDiff(destination, 20.f);
  destination.CopyFrom(source, false, true);
  CHECK(destination.shape() == Shape{2, 2});
  const std::vector<float> want = source_at == Where::kNowhere ? std::vector<float>(4) : Counted<float>(4);
  CHECK(Data(destination) == want);
  CHECK(Data(source) == want);
  const std::vector<float> diff = old_count == 2 ? std::vector<float>(4) : Counted<float>(4, 20);
  CHECK(DiffValues(destination) == diff);
  destination.mutable_cpu_data()[0] = 99;
  CHECK(Data(source) == want);
}

TEST_CASE("CopyFrom moves count elements on the side of the source, and no others") {
  const BlobWorld world;
  Blob<float> source({1000}, world.device()), destination({1000}, world.device());
  source.Reshape({10});
  destination.Reshape({10});
  Fill(source);
  source.gpu_data();
  Fill(destination, 5.f);
  const Statistics before = world.statistics();
  destination.CopyFrom(source);
  Statistics did = world.statistics() - before;
  CHECK(did.device_to_device.count == 1);
  CHECK(did.device_to_device.bytes == 10 * sizeof(float));
  CHECK(did.host_to_device.count + did.device_to_host.count + did.fills.count == 0);
  Fill(source, 3.f);
  destination.CopyFrom(source);
  did = world.statistics() - before;
  CHECK(did.host_to_device.count + did.device_to_host.count == 0);
  CHECK(Data(destination) == Counted<float>(10, 3));
}

TEST_CASE("CopyFrom of elements that nobody wrote allocates and copies nothing") {
  const BlobWorld world;
  Blob<float> source({4}, world.device()), destination({4}, world.device());
  Fill(destination);
  const Statistics before = world.statistics();
  destination.CopyFrom(source);
  CHECK((world.statistics() - before).allocations.count == 0);
  CHECK(Data(destination) == std::vector<float>(4));
}

TEST_CASE("CopyFrom with copy_diff copies the diff, and the data stays") {
  const EachWorld world;
  Blob<float> source({3}, world.device()), destination({3}, world.device());
  FillDiff(source, 4.f);
  Fill(source, 70.f);
  Fill(destination);
  ToGpu(source);
  destination.CopyFrom(source, true);
  CHECK(DiffValues(destination) == Counted<float>(3, 4));
  CHECK(Data(destination) == Counted<float>(3));
}

TEST_CASE("CopyFrom between devices goes by way of the host") {
  const BlobWorld world;
  const auto host = MakeDevice("host");
  Blob<float> gpu({3}, world.device()), cpu({3}, *host);
  Fill(gpu);
  ToGpu(gpu);
  cpu.CopyFrom(gpu);
  CHECK(Data(cpu) == Counted<float>(3));
  Fill(cpu, 8.f);
  gpu.CopyFrom(cpu);
  CHECK(Data(gpu) == Counted<float>(3, 8));
  Blob<float> whole({4}, world.device());
  Fill(whole);
  ToGpu(cpu);
  gpu.Reshape({4});
  gpu.ShareData(whole);
  gpu.Reshape({3});
  gpu.CopyFrom(cpu);
  CHECK(Data(whole) == std::vector<float>{8, 9, 10, 4});
}

TEST_CASE("CopyFrom into a part of shared storage copies what was lent to a unified device by the host") {
  const BlobWorld world({.unified = true});
  Blob<float> whole({4}, world.device()), part({4}, world.device()), source({2}, world.device());
  std::vector<float> mine{8, 9};
  Fill(whole);
  part.ShareData(whole);
  part.Reshape({2});
  source.set_cpu_data(mine.data());
  ToGpu(source);
  part.CopyFrom(source);
  CHECK(Data(whole) == std::vector<float>{8, 9, 3, 4});
}

TEST_CASE("CopyFrom grows within the capacity, and keeps all that it brought") {
  const EachWorld world;
  const bool copy_diff = GENERATE(false, true);
  Blob<float> source({4}, world.device()), destination({9}, world.device());
  Fill(source);
  FillDiff(source, 11.f);
  Fill(destination, 50.f);
  FillDiff(destination, 60.f);
  destination.Reshape({2});
  destination.CopyFrom(source, copy_diff, true);
  CHECK(Data(destination) == (copy_diff ? std::vector<float>{50, 51, 0, 0} : Counted<float>(4)));
  CHECK(DiffValues(destination) == (copy_diff ? Counted<float>(4, 11) : std::vector<float>{60, 61, 0, 0}));
}

TEST_CASE("a blob can copy from itself, and from one that shares its storage") {
  const EachWorld world;
  const bool on_gpu = GENERATE(false, true);
  Blob<float> a({4}, world.device()), b({4}, world.device());
  Fill(a);
  if (on_gpu) ToGpu(a);
  a.CopyFrom(a);
  b.ShareData(a);
  b.CopyFrom(a);
  CHECK(Data(a) == Counted<float>(4));
  b.Reshape({2});
  b.CopyFrom(a, false, true);
  CHECK(Data(b) == Counted<float>(4));
  a.Reshape({2});
  b.CopyFrom(a, false, true);
  b.Reshape({4});
  CHECK(Data(b) == Counted<float>(4));
}

TEST_CASE("CopyFrom into a part of shared storage leaves the other part alone") {
  const EachWorld world;
  const auto source_at = GENERATE(Where::kNowhere, Where::kCpu, Where::kGpu);
  Blob<float> whole({4}, world.device()), part({4}, world.device()), source({2}, world.device());
  Fill(whole);
  part.ShareData(whole);
  part.Reshape({2});
  FillAt(source, source_at, 8);
  part.CopyFrom(source);
  CHECK(whole.data()->size() == 4 * sizeof(float));
  const bool zeros = source_at == Where::kNowhere;
  CHECK(Data(whole) == std::vector<float>{zeros ? 0.f : 8.f, zeros ? 0.f : 9.f, 3, 4});
}

TEST_CASE("CopyFrom reaches a pointer that the caller gave to the destination") {
  const EachWorld world;
  Blob<float> source({2}, world.device()), destination({2}, world.device());
  std::vector<float> mine(2);
  Fill(source);
  destination.set_cpu_data(mine.data());
  destination.CopyFrom(source);
  CHECK(mine == Counted<float>(2));
}

TEST_CASE("a blob without a shape copies from one of its kind") {
  Blob<float> blob;
  CHECK_NOTHROW(blob.CopyFrom(Blob<float>()));
  CHECK(blob.data() == nullptr);
}

TEST_CASE("a blob without a shape and one of no axes are of different shapes to CopyFrom") {
  Blob<float> none, scalar(Shape{});
  *scalar.mutable_cpu_data() = 3;
  CHECK_THROWS_AS(none.CopyFrom(scalar), ShapeError);
  CHECK_THROWS_AS(scalar.CopyFrom(none), ShapeError);
  CHECK(none.data() == nullptr);
  CHECK(*scalar.cpu_data() == 3);
}

}  // namespace
}  // namespace ferry::testing
