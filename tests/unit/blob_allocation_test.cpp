// SPDX-License-Identifier: BSD-2-Clause
// Each allocation of host memory in a call of a Blob fails once: the call happens, or leaves all as it was.
#include <algorithm>
#include <functional>
#include <string_view>

#include "ferry/error.hpp"
#include "ferry/proto.hpp"
#include "tests/property/host_memory.hpp"
#include "tests/unit/blob_world.hpp"

namespace ferry::testing {
namespace {

using Work = std::function<void(Blob<float>&)>;

/// Runs `work` on a fresh blob again and again, each time with another allocation failing in it.
void FailEachAllocation(Head head, const Work& work) {
  CAPTURE(Name(head));
  ForEachFailedAllocation([&](const auto& happens) {
    sim::Reset();
    {
      const auto device = MakeShielded(true);
      Victim victim(*device);
      if (head != Head::HEAD_AT_CPU) ToGpu(victim.blob);
      if (head == Head::SYNCED) victim.blob.cpu_data(), victim.blob.cpu_diff();
      if (!happens([&] { work(victim.blob); })) {
        victim.CheckUntouched();
        work(victim.blob);
      }
    }
    CHECK(Complaint() == "");
  });
}

void FailEachAllocation(const Work& work) {
  for (const Head head : {Head::HEAD_AT_CPU, Head::HEAD_AT_GPU, Head::SYNCED}) FailEachAllocation(head, work);
}

TEST_CASE("no host memory in a change of shape leaves the blob as it was") {
  FailEachAllocation([](Blob<float>& blob) { blob.Reshape({5, 7}); });
  FailEachAllocation([](Blob<float>& blob) { blob.Reshape({2}); });
  FailEachAllocation([](Blob<float>& blob) { blob.ShrinkToFit(); });
}

TEST_CASE("no host memory for the words of an OutOfMemory leaves a shorter one") {
  sim::Reset({.memory = 64});
  const auto device = MakeShielded(false);
  SyncedMemory held(64, *device, "held"), over(64, *device, "over");
  held.gpu_data();
  std::size_t most = 0, least = 1000;
  for (long nth = 0; nth < 20; ++nth) {
    allocations = 0, fails_at = nth;
    try {
      const InFerry in_ferry;
      over.gpu_data();
    } catch (const OutOfMemory& error) {
      const std::size_t length = std::string_view(error.what()).size();
      most = std::max(most, length), least = std::min(least, length);
    } catch (const std::bad_alloc&) {  // before the device was asked
    }
  }
  fails_at = 0;
  CHECK(least == std::string_view("sim:0: cannot allocate 64 bytes").size());
  CHECK(most > least + 50);
}

TEST_CASE("no host memory for a name leaves the old one in all places") {
  const std::string name = "a name too long to be kept within a string itself";
  sim::Reset();
  const auto device = MakeShielded(true);
  Blob<float> blob({2}, *device);
  blob.set_name("old");
  ForEachFailedAllocation([&](const auto& happens) {
    if (happens([&] { blob.set_name(name); })) return;
    REQUIRE(blob.name() == "old");
    CHECK(blob.data()->label() == "old");
    CHECK(blob.diff()->label() == "old.diff");
  });
  CHECK(blob.data()->label() == name);
  CHECK(blob.diff()->label() == name + ".diff");
}

TEST_CASE("no host memory in a copy or for shared or adopted bytes leaves the blob as it was") {
  for (const int count : {6, 3, 40})
    for (const bool diff : {false, true})
      FailEachAllocation([=](Blob<float>& blob) {
        Blob<float> source({count}, blob.device());
        Fill(source, 50.F);
        source.mutable_gpu_data();
        blob.CopyFrom(source, diff, true);
      });
  FailEachAllocation([](Blob<float>& blob) {
    const Blob<float> other({6}, blob.device());
    blob.ShareData(other);
    blob.ShareDiff(other);
  });
  std::vector<float> mine(6);
  FailEachAllocation([&](Blob<float>& blob) { blob.set_cpu_data(mine.data()); });
}

TEST_CASE("no host memory in the mathematics leaves the blob as it was") {
  FailEachAllocation([](Blob<float>& blob) { blob.Update(); });
  FailEachAllocation([](Blob<float>& blob) { blob.scale_data(2); });
  FailEachAllocation([](Blob<float>& blob) { blob.scale_diff(2); });
  FailEachAllocation([](Blob<float>& blob) { (void)blob.asum_data(); });
  FailEachAllocation([](Blob<float>& blob) { (void)blob.sumsq_diff(); });
}

TEST_CASE("no host memory in an access or for words leaves the blob as it was") {
  FailEachAllocation([](Blob<float>& blob) { (void)blob.data_at({1, 2}); });
  FailEachAllocation([](Blob<float>& blob) { (void)blob.gpu_shape(); });
  FailEachAllocation([](Blob<float>& blob) { (void)blob.shape_string(); });
}

TEST_CASE("no host memory for a message leaves it and the blob as they were") {
  BlobProto proto;
  for (const float value : {1.F, 2.F, 3.F}) proto.add_data(value);
  proto.set_num(3), proto.set_channels(1), proto.set_height(1), proto.set_width(1);
  FailEachAllocation([&](Blob<float>& blob) { blob.FromProto(proto); });
  const auto serialized = [&] {
    const InFerry not_in_ferry(false);
    return proto.SerializeAsString();
  };
  FailEachAllocation([&](Blob<float>& blob) {
    proto.Clear();
    proto.set_num(3);
    const std::string before = serialized();
    try {
      blob.ToProto(&proto, true);
    } catch (...) {
      CHECK(serialized() == before);
      throw;
    }
  });
}

}  // namespace
}  // namespace ferry::testing
