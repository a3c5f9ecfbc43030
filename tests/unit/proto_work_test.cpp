// SPDX-License-Identifier: BSD-2-Clause
// What a message costs a GPU that has the elements.
#include "ferry/proto.hpp"
#include "tests/unit/blob_world.hpp"

namespace ferry::testing {
namespace {

TEST_CASE("FromProto does not fetch elements that it replaces") {
  const BlobWorld world;
  Blob<float> blob({4}, world.device());
  BlobProto proto;
  blob.ToProto(&proto);
  blob.overwrite_gpu_data(), blob.overwrite_gpu_diff();
  const Statistics before = world.statistics();
  blob.FromProto(proto);
  CHECK((world.statistics() - before).device_to_host.count == 0);
}

TEST_CASE("FromProto with a diff fetches neither array, for it takes both at once or none") {
  const BlobWorld world;
  Blob<float> blob({4}, world.device());
  BlobProto proto;
  blob.ToProto(&proto, true);
  blob.overwrite_gpu_data(), blob.overwrite_gpu_diff();
  const Statistics before = world.statistics();
  blob.FromProto(proto);
  CHECK((world.statistics() - before).device_to_host.count == 0);
}

TEST_CASE("ToProto fetches what it writes once, and what the message has not, never") {
  const BlobWorld world;
  Blob<float> blob({4}, world.device());
  blob.overwrite_gpu_data(), blob.overwrite_gpu_diff();
  BlobProto proto;
  const Statistics before = world.statistics();
  blob.ToProto(&proto), blob.ToProto(&proto);
  CHECK((world.statistics() - before).device_to_host.count == 1);
}

}  // namespace
}  // namespace ferry::testing
