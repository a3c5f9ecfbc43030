// SPDX-License-Identifier: BSD-2-Clause
// Calls that fail in the middle, for want of memory or by a fault of the runtime.
#include <catch2/matchers/catch_matchers_string.hpp>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "ferry/blob.hpp"
#include "ferry/error.hpp"
#include "ferry/proto.hpp"
#include "tests/unit/blob_world.hpp"

namespace ferry::testing {
namespace {

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
  const Head head = victim.blob.data()->head();
  CHECK_THROWS_MATCHES(victim.blob.CopyFrom(source, false, true), OutOfMemory,
                       Catch::Matchers::MessageMatches(Catch::Matchers::StartsWith(
                           std::string(gpu ? "" : "host memory pinned for ") +
                           "sim:0: cannot allocate 4194304 bytes; the largest of ")));
  CHECK(victim.blob.data()->head() == head);
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

/// For all counts that are tried, so that no new storage is made.
void GiveRoom(Blob<float>& blob) {
  blob.Reshape({9});
  blob.Reshape({2, 3});
  Fill(blob);
  FillDiff(blob, 11.f);
}

TEST_CASE("a runtime call that fails in CopyFrom leaves the blob as it was") {
  const int count = GENERATE(6, 3, 9);
  const bool grown = GENERATE(false, true), diff = GENERATE(false, true);
  const Head head = GENERATE(Head::HEAD_AT_CPU, Head::HEAD_AT_GPU, Head::SYNCED);
  CAPTURE(count, grown, diff, Name(head));
  FailEachCall([&](Victim& victim, Device& device, const auto& from_here) {
    if (grown) GiveRoom(victim.blob);
    if (head != Head::HEAD_AT_CPU) ToGpu(victim.blob);
    if (head == Head::SYNCED) victim.blob.cpu_data();
    Blob<float> source({count}, device);
    Fill(source, 50.f);
    FillDiff(source, 70.f);
    ToGpu(source);
    from_here();
    victim.blob.CopyFrom(source, diff, true);
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
  const bool grown = GENERATE(false, true);
  CAPTURE(count, grown);
  BlobProto proto;
  proto.mutable_shape()->add_dim(count);
  proto.mutable_data()->Resize(count, 2);
  proto.mutable_diff()->Resize(count, 3);
  FailEachCall([&](Victim& victim, Device&, const auto& from_here) {
    if (grown) GiveRoom(victim.blob);
    ToGpu(victim.blob);
    from_here();
    victim.blob.FromProto(proto);
    CHECK(Data(victim.blob) == std::vector<float>(static_cast<std::size_t>(count), 2));
  });
}

TEST_CASE("a runtime call that fails in ShrinkToFit leaves the blob as it was") {
  FailEachCall([&](Victim& victim, Device&, const auto& from_here) {
    GiveRoom(victim.blob);
    ToGpu(victim.blob);
    from_here();
    victim.blob.ShrinkToFit();
    CHECK(victim.blob.data()->capacity() == 6 * sizeof(float));
  });
}

using Work = std::function<void(Blob<float>&)>;

TEST_CASE("a runtime call that fails in the mathematics leaves the blob as it was") {
  const Work works[] = {[](Blob<float>& blob) { blob.Update(); },
                        [](Blob<float>& blob) { blob.mutable_cpu_diff(), blob.Update(); },
                        [](Blob<float>& blob) { blob.scale_data(2); },
                        [](Blob<float>& blob) { blob.scale_diff(2); },
                        [](Blob<float>& blob) { (void)blob.asum_data(); },
                        [](Blob<float>& blob) { (void)blob.sumsq_diff(); }};
  for (const Work& work : works)
    FailEachCall([&](Victim& victim, Device& device, const auto& from_here) {
      const Stream other(device);  // the mathematics must wait for
      victim.blob.mutable_gpu_data(other), victim.blob.mutable_gpu_diff(other);
      from_here();
      work(victim.blob);
    });
}

TEST_CASE("a runtime call that fails in an access leaves the blob as it was, and a message too") {
  BlobProto proto;
  proto.add_data(5);
  const std::string before = proto.SerializeAsString();
  const Work works[] = {[](Blob<float>& blob) {
                          (void)blob.data_at({1, 2});
                        },
                        [](Blob<float>& blob) { blob.gpu_shape(); },
                        [&](Blob<float>& blob) { blob.ToProto(&proto, true); }};
  for (const Work& work : works)
    FailEachCall([&](Victim& victim, Device&, const auto& from_here) {
      proto.ParseFromString(before);
      ToGpu(victim.blob);
      from_here();
      try {
        work(victim.blob);
      } catch (...) {
        CHECK(proto.SerializeAsString() == before);
        throw;
      }
    });
}

}  // namespace
}  // namespace ferry::testing
