// SPDX-License-Identifier: BSD-2-Clause
// Parts of blobs.
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "ferry/error.hpp"
#include "ferry/kernels.hpp"
#include "ferry/proto.hpp"
#include "tests/unit/blob_world.hpp"

namespace ferry::testing {
namespace {

template <class X>
using SliceOf = decltype(std::declval<X>().Slice(0, 1));
static_assert(std::is_same_v<SliceOf<Blob<float>&>, Blob<float>>);
static_assert(std::is_same_v<SliceOf<const Blob<float>&>, Blob<const float>>);
static_assert(std::is_same_v<SliceOf<Blob<const float>&>, Blob<const float>>);
static_assert(!std::is_constructible_v<Blob<float>, Blob<const float>>);
static_assert(!std::is_convertible_v<Blob<const float>&, Blob<float>&>);
static_assert(std::is_same_v<decltype(*std::declval<Blob<const float>&>()), const Blob<float>&>);
static_assert(std::is_same_v<ElementOf<Blob<const float>>, const float>);
static_assert(std::is_same_v<decltype(Diff(std::declval<Blob<const float>&>())), DiffOf<const float>>);
static_assert(std::is_same_v<decltype(Diff(std::declval<Blob<const float>>())), DiffOf<const float>>);
static_assert(std::is_same_v<decltype(Diff(std::declval<Blob<float>>())), DiffOf<float>>);
static_assert(sizeof(Blob<float>) <= 368 && sizeof(SyncedMemory) <= 344);

/// 4 x 2 elements: data 1 to 8, diff 11 to 18.
struct Whole {
  explicit Whole(const BlobWorld& world) : blob({4, 2}, world.device()) {
    Fill(blob);
    FillDiff(blob, 11.f);
  }
  Blob<float> blob;
};

TEST_CASE("a slice has the shape and the elements of its part") {
  const EachWorld world;
  Whole whole(world);
  if (GENERATE(false, true)) ToGpu(whole.blob);
  Blob<float> slice = whole.blob.Slice(1, 2);
  CHECK(slice.shape() == Shape{2, 2});
  CHECK(slice.count() == 4);
  CHECK(&slice.device() == &world.device());
  CHECK(slice.data() == whole.blob.data());
  CHECK(Data(slice) == Counted<float>(4, 3));
  CHECK(DiffValues(slice) == Counted<float>(4, 13));
  CHECK(slice.data_at({1, 1}) == 6);
  CHECK(slice.diff_at(1, 1, 0, 0) == 16);
  CHECK(slice.asum_data() == 18);
  CHECK(slice.sumsq_diff() == 13 * 13 + 14 * 14 + 15 * 15 + 16 * 16);
  const Blob<const float> last = std::as_const(whole.blob).Slice(1, 3).Slice(2, 1);
  CHECK(Data<float>(last) == std::vector<float>{7, 8});
  CHECK(last->shape() == Shape{1, 2});
  CHECK(last.Slice(0, 0)->count() == 0);
}

TEST_CASE("slices and their blob see each other's writes, on each side") {
  const EachWorld world;
  Whole whole(world);
  Blob<float> slice = whole.blob.Slice(1, 2), inner = slice.Slice(1, 1), all = whole.blob.Slice(0, 4);
  const Place gpu(world.device()), cpu = Place::Cpu(world.device());
  Set(gpu, 20, inner);
  slice.mutable_cpu_data()[0] = 30;
  all.mutable_cpu_data()[7] = 80;
  Scale(gpu, 2, whole.blob);
  Set(cpu, 0, Diff(slice));
  slice.scale_data(0.5F);
  CHECK(Data(whole.blob) == std::vector<float>{2, 4, 30, 4, 20, 20, 14, 160});
  CHECK(DiffValues(whole.blob) == std::vector<float>{11, 12, 0, 0, 0, 0, 17, 18});
  CHECK(Data(inner) == std::vector<float>{20, 20});
}

TEST_CASE("a slice may be written on the spot, its diff too") {
  const EachWorld world;
  Whole whole(world);
  const Place gpu(world.device());
  Axpy(gpu, 1, Diff(whole.blob.Slice(0, 1)), whole.blob.Slice(3, 1));
  Copy(gpu, whole.blob.Slice(3, 1), Diff(whole.blob.Slice(1, 1)));
  for (float& value : Place::Cpu(world.device()).Overwrite(whole.blob.Slice(2, 1))) value = 9;
  whole.blob.Slice(0, 1).CopyFrom(whole.blob.Slice(2, 1));
  CHECK(Data(whole.blob) == std::vector<float>{9, 9, 3, 4, 9, 9, 18, 20});
  CHECK(DiffValues(whole.blob) == std::vector<float>{11, 12, 18, 20, 15, 16, 17, 18});
}

TEST_CASE("an operand of a slice has the slice's own dims") {
  const BlobWorld world;
  Whole whole(world);
  const Blob<float> slice = whole.blob.Slice(1, 2);
  for (const detail::Part& part : {Read(slice).part(), Read(Diff(slice)).part()}) {
    CHECK(std::vector(part.dims.begin(), part.dims.end()) == std::vector<std::int64_t>{2, 2});
    CHECK(part.range.first == 2 * sizeof(float));
    CHECK(part.range.bytes == 4 * sizeof(float));
  }
}

TEST_CASE("an access of a slice moves the bytes of that slice alone, and an overwrite none") {
  const BlobWorld world;
  Whole whole(world);
  whole.blob.gpu_data(), whole.blob.mutable_cpu_data();
  Blob<float> slice = whole.blob.Slice(1, 2);
  Statistics before = world.statistics();
  slice.gpu_data(), slice.gpu_data();
  Statistics did = world.statistics() - before;
  CHECK(did.host_to_device.count == 1);
  CHECK(did.host_to_device.bytes == 4 * sizeof(float));
  before = world.statistics();
  whole.blob.Slice(0, 1).overwrite_gpu_data(), whole.blob.Slice(3, 1).overwrite_gpu_data();
  CHECK((world.statistics() - before).host_to_device.count == 0);
}

TEST_CASE("a slice outlives its blob, and goes its own way when its storage is too small") {
  const EachWorld world;
  Blob<float> slice;
  {
    Whole whole(world);
    slice = whole.blob.Slice(2, 2);
  }
  CHECK(Data(slice) == Counted<float>(4, 5));
  slice.Reshape({1, 2});
  slice.Reshape({2, 2});
  CHECK(Data(slice) == std::vector<float>{5, 6, 0, 0});
  slice.Reshape({5});
  CHECK(Data(slice) == std::vector<float>(5));
  CHECK(DiffValues(slice) == std::vector<float>(5));
}

TEST_CASE("a slice that changes its shape leaves the others' elements alone") {
  const EachWorld world;
  Whole whole(world);
  Blob<float> slice = whole.blob.Slice(1, 1);
  slice.Reshape({1});
  slice.overwrite_cpu_data()[0] = 30;
  slice.Reshape({4});
  CHECK(Data(slice) == std::vector<float>{30, 4, 5, 6});
  CHECK(DiffValues(slice) == Counted<float>(4, 13));
  slice.ShrinkToFit();
  CHECK(slice.data() == whole.blob.data());
  std::vector<float> mine{1, 2, 3, 4};
  slice.set_cpu_data(mine.data());
  CHECK(slice.data() != whole.blob.data());
  CHECK(slice.diff() == whole.blob.diff());
  CHECK(slice.cpu_data() == mine.data());
  slice.Reshape({7});
  CHECK(Data(whole.blob) == std::vector<float>{1, 2, 30, 4, 5, 6, 7, 8});
}

TEST_CASE("ShrinkToFit of the last slice keeps its elements and gives back the rest") {
  const EachWorld world;
  const bool on_gpu = GENERATE(false, true);
  Blob<float> slice;
  {
    Whole whole(world);
    if (on_gpu) ToGpu(whole.blob);
    slice = whole.blob.Slice(1, 2);
  }
  slice.ShrinkToFit();
  CHECK(slice.data()->capacity() == 4 * sizeof(float));
  CHECK(slice.diff()->capacity() == 4 * sizeof(float));
  CHECK(Data(slice) == Counted<float>(4, 3));
  CHECK(DiffValues(slice) == Counted<float>(4, 13));
}

TEST_CASE("a slice can be shared, and goes to a message and back") {
  const EachWorld world;
  Whole whole(world);
  ToGpu(whole.blob);
  Blob<float> slice = whole.blob.Slice(1, 2), shares({4}, world.device());
  shares.ShareData(slice);
  shares.mutable_cpu_data()[0] = 30;
  BlobProto proto;
  slice.ToProto(&proto, WithDiff::kYes);
  whole.blob.Slice(2, 2).FromProto(proto, WithReshape::kNo);
  CHECK(Data(whole.blob) == std::vector<float>{1, 2, 30, 4, 30, 4, 5, 6});
  CHECK(DiffValues(whole.blob) == std::vector<float>{11, 12, 13, 14, 13, 14, 15, 16});
  slice.ToProto(&proto, WithDiff::kNo);
  CHECK(proto.diff().empty());
}

TEST_CASE("a slice beyond the axis, or of a blob without one, is an error, and the blob stays") {
  const EachWorld world;
  Victim victim(world.device());
  Blob<float>& blob = victim.blob;
  blob.set_name("ip1");
  const auto refused = [](auto&& of, std::int64_t first, std::int64_t count, const std::string& text) {
    CHECK_THROWS_MATCHES(of.Slice(first, count), ShapeError, Message("Blob::Slice: " + text));
  };
  const std::string of = " on of axis 0 of shape 2 3 (6), \"ip1\"; a slice lies within the axis";
  refused(blob, 1, 2, "2 from number 1" + of);
  refused(std::as_const(blob), 3, 0, "0 from number 3" + of);
  refused(blob, -1, 1, "1 from number -1" + of);
  refused(blob, 0, -1, "-1 from number 0" + of);
  refused(blob, 1, INT64_MAX, "9223372036854775807 from number 1" + of);
  refused(blob.Slice(1, 1), 1, 1,
          "1 from number 1 on of axis 0 of shape 1 3 (3), \"ip1\"; a slice lies within the axis");
  refused(Blob<float>(Shape{}, world.device()), 0, 1,
          "1 from number 0 on of axis 0 of shape (1), no label; a blob without axes has no slices");
  refused(Blob<float>(), 0, 0, "the blob has no shape, and so no elements; Reshape it first");
  CHECK(blob.Slice(2, 0).count() == 0);
  CHECK(Blob<float>({0, 3}, world.device()).Slice(0, 0).shape() == Shape{0, 3});
  victim.CheckUntouched();
}

TEST_CASE("CopyFrom between slices that overlap in part is refused, and changes nothing") {
  const EachWorld world;
  const bool on_gpu = GENERATE(false, true);
  Whole whole(world);
  whole.blob.set_name("x");
  if (on_gpu) ToGpu(whole.blob);
  Blob<float> low = whole.blob.Slice(0, 3), high = whole.blob.Slice(1, 3);
  const auto text = [](const char* from, const char* to) {
    return std::string("SyncedMemory::Assign: bytes ") + from + " and " + to +
           " of \"x\" of 32 overlap in part; they must be identical or disjoint";
  };
  CHECK_THROWS_MATCHES(low.CopyFrom(high), std::invalid_argument, Message(text("8 to 32", "0 to 24")));
  CHECK_THROWS_MATCHES(high.CopyFrom(low), std::invalid_argument, Message(text("0 to 24", "8 to 32")));
  CHECK_THROWS_AS(high.CopyFrom(low, true), std::invalid_argument);
  CHECK_THROWS_AS(high.CopyFrom(low, Stream(world.device())), std::invalid_argument);
  Blob<float> grows = whole.blob.Slice(1, 1);
  CHECK_THROWS_AS(grows.CopyFrom(low, BlobPart::kData, WithReshape::kYes), std::invalid_argument);
  CHECK(grows.shape() == Shape{1, 2});
  CHECK(Data(grows) == std::vector<float>{3, 4});
  low.CopyFrom(low), low.CopyFrom(whole.blob.Slice(0, 3));
  CHECK(Data(whole.blob) == Counted<float>(8));
  CHECK(DiffValues(whole.blob) == Counted<float>(8, 11));
  whole.blob.Slice(0, 2).CopyFrom(whole.blob.Slice(2, 2));
  CHECK(Data(whole.blob) == std::vector<float>{5, 6, 7, 8, 5, 6, 7, 8});
}

TEST_CASE("CopyFrom into a slice changes that slice alone, wherever the bytes are") {
  const EachWorld world;
  const bool from_gpu = GENERATE(false, true), to_gpu = GENERATE(false, true);
  const bool diff = GENERATE(false, true), unwritten = GENERATE(false, true);
  CAPTURE(from_gpu, to_gpu, diff, unwritten);
  Whole whole(world), other(world);
  if (unwritten) other.blob = Blob<float>({4, 2}, world.device());
  if (from_gpu && !unwritten) ToGpu(other.blob);
  if (to_gpu) ToGpu(whole.blob);
  Blob<float> slice = whole.blob.Slice(2, 1);
  slice.CopyFrom(std::as_const(other.blob).Slice(1, 1), diff);
  std::vector<float> data = Counted<float>(8), diffs = Counted<float>(8, 11);
  (diff ? diffs : data)[4] = unwritten ? 0.F : diff ? 13.F : 3.F;
  (diff ? diffs : data)[5] = unwritten ? 0.F : diff ? 14.F : 4.F;
  CHECK(Data(whole.blob) == data);
  CHECK(DiffValues(whole.blob) == diffs);
}

}  // namespace
}  // namespace ferry::testing
