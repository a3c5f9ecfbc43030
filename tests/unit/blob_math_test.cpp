// SPDX-License-Identifier: BSD-2-Clause
#include <catch2/catch_template_test_macros.hpp>
#include <cmath>
#include <vector>

#include "ferry/blob.hpp"
#include "ferry/detail/kernel_place.hpp"
#include "tests/unit/blob_world.hpp"

namespace ferry::testing {
namespace {

template <class T>
concept HasMathematics =
    requires(Blob<T>& blob) { blob.Update(); } || requires(Blob<T>& blob) { blob.asum_data(); };
static_assert(HasMathematics<float> && HasMathematics<double>);
static_assert(!HasMathematics<int> && !HasMathematics<bool>);

TEMPLATE_TEST_CASE("Update takes the diff from the data, wherever they are", "", float, double) {
  const EachWorld world;
  const bool data_on_gpu = GENERATE(false, true), diff_on_gpu = GENERATE(false, true);
  Blob<TestType> blob({5}, world.device());
  Fill(blob, TestType{10});
  FillDiff(blob);
  if (data_on_gpu) blob.mutable_gpu_data();
  if (diff_on_gpu) blob.mutable_gpu_diff();
  blob.Update();
  CHECK(Data(blob) == std::vector<TestType>(5, 9));
  CHECK(DiffValues(blob) == Counted<TestType>(5));
}

TEST_CASE("mathematics stays on the side that holds the bytes, and both count as the GPU", "[no-gpu]") {
  const BlobWorld world;
  Blob<float> blob({4}, world.device());
  Fill(blob);
  FillDiff(blob);
  blob.Update();
  blob.scale_data(2);
  CHECK(blob.asum_diff() == 10);
  CHECK(blob.data()->head() == SyncedMemory::HEAD_AT_CPU);
  CHECK(world.statistics().host_to_device.count == 0);
  blob.gpu_data();
  blob.gpu_diff();
  blob.Update();
  blob.scale_diff(2);
  CHECK(blob.data()->head() == SyncedMemory::HEAD_AT_GPU);
  CHECK(blob.diff()->head() == SyncedMemory::HEAD_AT_GPU);
  CHECK(blob.sumsq_diff() == 120);
  CHECK(world.statistics().device_to_host.count == 0);
  CHECK(Data(blob) == std::vector<float>{-1, -2, -3, -4});
}

TEST_CASE("storage that nobody wrote sums to 0 and is not allocated", "[no-gpu]") {
  const BlobWorld world;
  Blob<float> blob({4}, world.device());
  CHECK(blob.asum_data() + blob.asum_diff() + blob.sumsq_data() + blob.sumsq_diff() == 0);
  blob.scale_data(2);
  blob.scale_diff(2);
  blob.Update();
  CHECK(world.statistics().allocations.count == 0);
}

TEST_CASE("Update of data that nobody wrote is the negative diff, and an untouched diff changes nothing") {
  const EachWorld world;
  Blob<float> blob({3}, world.device()), other({3}, world.device());
  FillDiff(blob);
  blob.mutable_gpu_diff();
  blob.Update();
  if (detail::KernelPlace(Place(world.device()))->side() == Side::kGpu)  // else kernels run on the CPU
    CHECK(world.statistics().device_to_host.count == 0);
  CHECK(Data(blob) == std::vector<float>{-1, -2, -3});
  Fill(other);
  other.Update();
  CHECK(Data(other) == Counted<float>(3));
}

TEMPLATE_TEST_CASE("sums of absolute values and of squares, and scaling", "", float, double) {
  const EachWorld world;
  const bool on_gpu = GENERATE(false, true);
  Blob<TestType> blob({2, 2}, world.device());
  Fill(blob, TestType{-2});
  FillDiff(blob, TestType{1});
  if (on_gpu) ToGpu(blob);
  CHECK(blob.asum_data() == 4);
  CHECK(blob.sumsq_data() == 6);
  CHECK(blob.asum_diff() == 10);
  CHECK(blob.sumsq_diff() == 30);
  blob.scale_data(TestType{0.5});
  blob.scale_diff(TestType{-1});
  CHECK(Data(blob) == std::vector<TestType>{-1, -0.5, 0, 0.5});
  CHECK(DiffValues(blob) == std::vector<TestType>{-1, -2, -3, -4});
}

TEST_CASE("mathematics is about count elements, not the capacity") {
  const EachWorld world;
  Blob<float> a({4}, world.device()), b({4}, world.device());
  Fill(a);
  b.ShareData(a);
  b.Reshape({2});
  b.scale_data(10);
  CHECK(b.asum_data() == 30);
  CHECK(Data(a) == std::vector<float>{10, 20, 3, 4});
}

TEST_CASE("sums keep float64 totals") {
  const EachWorld world;
  Blob<float> blob({1 << 20}, world.device());
  for (float* x = blob.overwrite_cpu_data(); x != blob.mutable_cpu_data() + blob.count(); ++x) *x = 0.1f;
  blob.mutable_cpu_data()[0] = 1e10f;
  const double exact = 1e10 + static_cast<double>(0.1f) * ((1 << 20) - 1);  // a float total stays at 1e10
  CHECK(std::abs(blob.asum_data() - exact) <= 1.2e-7 * exact);
}

}  // namespace
}  // namespace ferry::testing
