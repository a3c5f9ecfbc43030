// SPDX-License-Identifier: BSD-2-Clause
// Each allocation of host memory in a Reshape of storage in parts fails once.
#include <functional>

#include "tests/property/host_memory.hpp"
#include "tests/unit/blob_world.hpp"

namespace ferry::testing {
namespace {

/// Data and diff have room for 9 elements and use 6, of which both sides hold some.
void GiveRoom(Blob<float>& blob) {
  blob.Reshape({9});
  Fill(blob);
  FillDiff(blob, 11.f);
  blob.Reshape({2, 3});
  blob.gpu_data(), blob.gpu_diff();
  blob.Slice(1, 1).mutable_gpu_data();
  blob.Slice(1, 1).mutable_cpu_diff();
}

TEST_CASE("a blob that grows happens, or leaves all as it was, whichever allocation fails") {
  const std::function<void(Blob<float>&)> works[] = {
      [](Blob<float>& blob) { blob.Reshape({9}); },
      [](Blob<float>& blob) { blob.Reshape({8}); },
      [](Blob<float>& blob) { blob.Reshape({1}); },
      [](Blob<float>& blob) { blob.set_name("x"); },
      [](Blob<float>& blob) {
        Blob<float> source({9}, blob.device());
        Fill(source, 50.f);
        blob.CopyFrom(source, BlobPart::kDiff, WithReshape::kYes);
      },
      [](Blob<float>& blob) { (void)blob.Slice(1, 1).asum_data(); }};
  for (const auto& work : works) {
    CAPTURE(&work - works);
    ForEachFailedAllocation([&](const auto& happens) {
      sim::Reset();
      const auto device = MakeShielded(true);
      Victim victim(*device);
      GiveRoom(victim.blob);
      if (!happens([&] { work(victim.blob); })) {
        victim.CheckUntouched();
        work(victim.blob);
      }
      if (&work - works < 2) {
        auto expected = Counted<float>(victim.blob.count());
        for (std::size_t i = 6; i < expected.size(); ++i) expected[i] = 0;
        CHECK(Data(victim.blob) == expected);
      }
    });
  }
}

TEST_CASE("a blob whose memory was made smaller grows, or leaves it so, whichever allocation fails") {
  ForEachFailedAllocation([](const auto& happens) {
    sim::Reset();
    const auto device = MakeShielded(true);
    Blob<float> blob({9}, *device);
    Fill(blob);
    blob.gpu_data();
    blob.data()->Resize(4 * sizeof(float));
    blob.Slice(1, 1).mutable_gpu_data();
    if (!happens([&] { blob.Reshape({8}); })) {
      CHECK(blob.data()->size() == 4 * sizeof(float));
      blob.Reshape({8});
    }
    CHECK(Data(blob) == std::vector<float>{1, 2, 3, 4, 0, 0, 0, 0});
  });
}

}  // namespace
}  // namespace ferry::testing
