// SPDX-License-Identifier: BSD-2-Clause
#include <catch2/matchers/catch_matchers_string.hpp>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "ferry/blob.hpp"
#include "ferry/error.hpp"
#include "ferry/proto.hpp"
#include "tests/unit/blob_world.hpp"

namespace ferry::testing {
namespace {

/// Six elements of data and diff; what a call that threw must have left as it was.
struct Victim {
  explicit Victim(Device& device) : blob({2, 3}, device) {
    Fill(blob);
    FillDiff(blob, 11.f);
  }
  void CheckUntouched() const {
    CHECK(blob.shape() == Shape{2, 3});
    CHECK(Data(blob) == Counted<float>(6));
    CHECK(Diff(blob) == Counted<float>(6, 11));
  }
  Blob<float> blob;
};

TEST_CASE("a shape that cannot be is an error that names the call, and the blob stays as it was") {
  const EachWorld world;
  Victim victim(world.device());
  Blob<float>& blob = victim.blob;
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  CHECK_THROWS_MATCHES(blob.Reshape({2, -3}), ShapeError,
                       Message("Blob::Reshape: shape 2 -3 has a negative dim"));
  CHECK_THROWS_MATCHES(blob.Reshape({kMax, 2}), ShapeError,
                       Message("Blob::Reshape: shape 9223372036854775807 2 has a product over int64"));
  CHECK_THROWS_MATCHES(
      blob.Reshape({kMax / 2}), ShapeError,
      Message("Blob::Reshape: shape 4611686018427387903 (4611686018427387903) has more bytes "
              "than there are addresses"));
  CHECK_THROWS_AS(blob.Reshape(std::vector(33, 1)), ShapeError);
  CHECK_THROWS_AS(blob.Reshape(1, 1, 1, -1), ShapeError);
  CHECK_THROWS_MATCHES(Blob<float>({-1}, world.device()), ShapeError,
                       Message("Blob: shape -1 has a negative dim"));
  victim.CheckUntouched();
}

TEST_CASE("an axis that is not there is an error that names the call and the shape") {
  const Victim victim(DefaultDevice());
  const Blob<float>& blob = victim.blob;
  CHECK_THROWS_MATCHES(blob.shape(2), ShapeError, Message("Blob::shape: axis 2 of shape 2 3 (6)"));
  CHECK_THROWS_MATCHES(blob.CanonicalAxisIndex(-3), ShapeError,
                       Message("Blob::CanonicalAxisIndex: axis -3 of shape 2 3 (6)"));
  CHECK_THROWS_MATCHES(blob.count(1, 3), ShapeError, Message("Blob::count: axes 1 to 3 of shape 2 3 (6)"));
  CHECK_THROWS_MATCHES(blob.LegacyShape(4), ShapeError,
                       Message("Blob::LegacyShape: axis 4 of shape 2 3 (6)"));
  CHECK_THROWS_AS(Blob<float>({1, 1, 1, 1, 1}).num(), ShapeError);
}

TEST_CASE("null pointers, and pointers for a blob without a shape, are errors") {
  const EachWorld world;
  Victim victim(world.device());
  CHECK_THROWS_MATCHES(victim.blob.set_cpu_data(nullptr), Error,
                       Message("Blob::set_cpu_data: a null pointer for shape 2 3 (6)"));
  CHECK_THROWS_AS(victim.blob.set_gpu_data(nullptr), Error);
  CHECK_THROWS_AS(victim.blob.set_gpu_data(nullptr, Stream::Main(world.device())), Error);
  victim.CheckUntouched();
  float mine = 0;
  CHECK_THROWS_AS(Blob<float>().set_cpu_data(&mine), ShapeError);
}

TEST_CASE("storage of another count or device cannot be shared") {
  const EachWorld world;
  const auto elsewhere = MakeDevice("host");
  Victim victim(world.device());
  Blob<float> five({5}, world.device()), far({6}, *elsewhere);
  CHECK_THROWS_MATCHES(victim.blob.ShareData(five), ShapeError,
                       Message("Blob::ShareData: storage of shape 5 (5) for shape 2 3 (6)"));
  CHECK_THROWS_AS(victim.blob.ShareDiff(five), ShapeError);
  CHECK_THROWS_AS(victim.blob.ShareData(far), std::invalid_argument);
  CHECK_THROWS_AS(victim.blob.ShareDiff(far), std::invalid_argument);
  CHECK_THROWS_AS(Blob<float>({0}, world.device()).ShareData(Blob<float>()), ShapeError);
  victim.CheckUntouched();
}

TEST_CASE("a stream of another device is misuse, and changes nothing") {
  const BlobWorld world;
  const auto elsewhere = MakeDevice("host");
  Victim victim(world.device());
  const Stream stream(*elsewhere);
  float mine[6];
  CHECK_THROWS_AS(victim.blob.gpu_data(stream), std::invalid_argument);
  CHECK_THROWS_AS(victim.blob.overwrite_gpu_diff(stream), std::invalid_argument);
  CHECK_THROWS_AS(victim.blob.set_gpu_data(mine, stream), std::invalid_argument);
  victim.CheckUntouched();
}

TEST_CASE("out of memory on either side leaves the blob as it was, and a later retry works") {
  const bool gpu = GENERATE(false, true);
  constexpr int kCount = 1 << 20;
  constexpr std::size_t kLimit = kCount * sizeof(float) * 5 / 2;  // room for two, and not for three
  const BlobWorld world({.memory = gpu ? kLimit : 0, .pinned_memory = gpu ? 0 : kLimit});
  const auto touch = [gpu](Blob<float>& blob) {
    gpu ? blob.overwrite_gpu_data() : blob.overwrite_cpu_data();
  };
  Victim victim(world.device());
  ToGpu(victim.blob);
  Blob<float> source({kCount}, world.device()), hog({kCount}, world.device()), fresh(world.device());
  touch(source);
  touch(hog);
  CHECK_THROWS_AS(victim.blob.CopyFrom(source, false, true), OutOfMemory);
  CHECK_THROWS_AS(fresh.CopyFrom(source, false, true), OutOfMemory);
  CHECK(fresh.data() == nullptr);
  BlobProto proto;
  proto.mutable_shape()->add_dim(kCount);
  proto.mutable_data()->Resize(kCount, 2);
  if (!gpu) CHECK_THROWS_AS(victim.blob.FromProto(proto), OutOfMemory);
  victim.CheckUntouched();
  hog = Blob<float>();
  victim.blob.CopyFrom(source, false, true);
  CHECK(victim.blob.count() == kCount);
  source = Blob<float>();
  fresh.Reshape({kCount});
  touch(fresh);
}

/// Runs `work` again and again, each time with another of the runtime's calls failing in it.
void FailEachCall(const std::function<void(Victim&, Device&, const std::function<void()>& from_here)>& work) {
  long begin = 0, end = 0;
  {
    const BlobWorld world;
    Victim victim(world.device());
    work(victim, world.device(), [&] { begin = sim::Inspect().calls; });
    end = sim::Inspect().calls;
  }
  REQUIRE(begin < end);
  for (long nth = begin + 1; nth <= end; ++nth) {
    CAPTURE(nth);
    const BlobWorld world({.fail_at = nth});
    Victim victim(world.device());
    bool here = false;
    try {
      work(victim, world.device(), [&] { here = true; });
    } catch (const std::exception&) {
      CHECK(here);
      victim.CheckUntouched();
    }
  }
}

TEST_CASE("a runtime call that fails in CopyFrom leaves the blob as it was") {
  const int count = GENERATE(6, 3, 9);
  const bool grown = GENERATE(false, true);
  const Head head = GENERATE(Head::HEAD_AT_CPU, Head::HEAD_AT_GPU, Head::SYNCED);
  CAPTURE(count, grown, Name(head));
  FailEachCall([&](Victim& victim, Device& device, const auto& from_here) {
    if (grown) {  // room for all counts, so that no new storage is made
      victim.blob.Reshape({9});
      victim.blob.Reshape({2, 3});
      Fill(victim.blob);
      FillDiff(victim.blob, 11.f);
    }
    if (head != Head::HEAD_AT_CPU) ToGpu(victim.blob);
    if (head == Head::SYNCED) victim.blob.cpu_data();
    Blob<float> source({count}, device);
    Fill(source, 50.f);
    ToGpu(source);
    from_here();
    victim.blob.CopyFrom(source, false, true);
    CHECK(victim.blob.shape() == Shape{count});
  });
}

TEST_CASE("a copy into a part of shared storage that fails when it is done leaves the cpu its bytes") {
  const BlobWorld world({.fail_at = 3, .fail_call = "MemcpyAsync", .fail_late = true});
  Blob<float> whole({9}, world.device()), part({9}, world.device()), source({6}, world.device());
  part.ShareData(whole);
  part.Reshape({6});
  Fill(whole);
  whole.gpu_data();
  Fill(source, 50.f);
  source.gpu_data();
  CHECK_THROWS_AS(part.CopyFrom(source), DeviceError);
  CHECK(Data(whole) == Counted<float>(9));
  part.CopyFrom(source);
  CHECK(Data(whole) == std::vector<float>{50, 51, 52, 53, 54, 55, 7, 8, 9});
}

TEST_CASE("a runtime call that fails in FromProto leaves the blob as it was") {
  const int count = GENERATE(6, 3, 9);
  BlobProto proto;
  proto.mutable_shape()->add_dim(count);
  proto.mutable_data()->Resize(count, 2);
  proto.mutable_diff()->Resize(count, 3);
  FailEachCall([&](Victim& victim, Device&, const auto& from_here) {
    ToGpu(victim.blob);
    from_here();
    victim.blob.FromProto(proto);
    CHECK(Data(victim.blob) == std::vector<float>(static_cast<std::size_t>(count), 2));
  });
}

TEST_CASE("a runtime call that fails in ShrinkToFit leaves the blob as it was") {
  FailEachCall([&](Victim& victim, Device&, const auto& from_here) {
    victim.blob.Reshape({9});
    victim.blob.Reshape({2, 3});
    Fill(victim.blob);
    FillDiff(victim.blob, 11.f);
    ToGpu(victim.blob);
    from_here();
    victim.blob.ShrinkToFit();
    CHECK(victim.blob.data()->capacity() == 6 * sizeof(float));
  });
}

}  // namespace
}  // namespace ferry::testing
