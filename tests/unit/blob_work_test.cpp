// SPDX-License-Identifier: BSD-2-Clause
// What a copy of a blob of the same shape does, and need not do.
#include "tests/unit/blob_world.hpp"

namespace ferry::testing {
namespace {

TEST_CASE("CopyFrom of the same shape makes one copy, and leaves the size of shared storage") {
  const BlobWorld world;
  Blob<float> whole({4}, world.device()), part({4}, world.device()), source({2}, world.device());
  part.ShareData(whole);
  part.Reshape({2});
  whole.overwrite_gpu_data(), source.overwrite_gpu_data();
  const Statistics before = world.statistics();
  part.CopyFrom(source);
  const Statistics work = world.statistics() - before;
  CHECK(work.device_to_device.count == 1);
  CHECK(work.device_to_device.bytes == 2 * sizeof(float));
  CHECK(work.host_to_device.count + work.device_to_host.count + work.allocations.count == 0);
  CHECK(whole.data()->size() == 4 * sizeof(float));
}

TEST_CASE("CopyFrom of a blob's own storage does nothing") {
  const BlobWorld world;
  Blob<float> blob({4}, world.device()), other({4}, world.device());
  blob.overwrite_gpu_data();
  other.ShareData(blob);
  const Statistics before = world.statistics();
  blob.CopyFrom(blob), blob.CopyFrom(other);
  CHECK((world.statistics() - before).device_to_device.count == 0);
}

}  // namespace
}  // namespace ferry::testing
