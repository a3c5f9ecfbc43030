// SPDX-License-Identifier: BSD-2-Clause
// Elements that the caller brings, and blobs that are moved from.
#include <stdexcept>
#include <utility>

#include "ferry/blob.hpp"
#include "ferry/error.hpp"
#include "tests/unit/blob_world.hpp"

namespace ferry::testing {
namespace {

/// Both setters of `blob` must refuse `ptr`.
void CheckRefused(Blob<float>& blob, float* ptr) {
  const auto data = blob.data();
  CHECK_THROWS_MATCHES(blob.set_cpu_data(ptr), std::invalid_argument,
                       Message("Blob::set_cpu_data: the pointer is to elements that this blob owns and would "
                               "free; give it those of another owner"));
  CHECK_THROWS_MATCHES(blob.set_gpu_data(ptr), std::invalid_argument,
                       Message("Blob::set_gpu_data: the pointer is to elements that this blob owns and would "
                               "free; give it those of another owner"));
  CHECK(blob.data() == data);
}

TEST_CASE("a blob refuses its own elements, and stays as it was") {
  const EachWorld world;
  Victim victim(world.device());
  CheckRefused(victim.blob, victim.blob.mutable_cpu_data());
  CheckRefused(victim.blob, victim.blob.mutable_cpu_data() + 5);
  CheckRefused(victim.blob, victim.blob.mutable_gpu_data());
  CheckRefused(victim.blob, victim.blob.mutable_cpu_diff());
  victim.CheckUntouched();
}

TEST_CASE("a blob refuses elements of the storage that it would depart from") {
  const EachWorld world;
  Blob<float> whole({6}, world.device()), part({6}, world.device());
  Fill(whole);
  part.ShareData(whole);
  part.Reshape({2});
  CheckRefused(part, whole.mutable_cpu_data());
  CheckRefused(part, whole.mutable_cpu_data() + 3);
  CHECK(Data(whole) == Counted<float>(6));
  CHECK(Data(part) == Counted<float>(2));
}

TEST_CASE("a blob takes the same elements of the caller's again") {
  const EachWorld world;
  Blob<float> blob({2}, world.device());
  float mine[] = {1, 2};
  for (int i = 0; i < 2; ++i) {
    blob.set_cpu_data(mine);
    CHECK(Data(blob) == Counted<float>(2));
  }
}

TEST_CASE("a blob of const elements does not grow within them, and stays as it was") {
  const EachWorld world;
  const float elements[] = {1, 2, 3, 4};
  Blob<float> blob({4}, world.device());
  blob.data()->set_const_cpu_data(elements);
  blob.Reshape({2});
  CHECK_THROWS_AS(blob.Reshape({4}), std::logic_error);
  CHECK(blob.shape() == Shape{2});
  CHECK(blob.cpu_data()[1] == 2);
}

TEST_CASE("a blob that was moved from keeps its device, and has no shape") {
  const EachWorld world;
  Blob<float> first({2}, world.device()), second({3}, world.device());
  const Blob<float> made(std::move(first));
  // NOLINTBEGIN(bugprone-use-after-move): what is left is what the test is about
  CHECK(&first.device() == &world.device());
  CHECK(first.data() == nullptr);
  CHECK(first.count() == 0);
  first.Reshape({4});
  CHECK(&first.data()->device() == &world.device());
  first = std::move(second);
  CHECK(&second.device() == &world.device());
  CHECK(second.data() == nullptr);
  CHECK(first.shape() == Shape{3});
  // NOLINTEND(bugprone-use-after-move)
}

TEST_CASE("a blob that is moved to takes the other's device") {
  const BlobWorld world;
  const auto elsewhere = MakeDevice("host");
  Blob<float> blob({2}, world.device()), other({3}, *elsewhere);
  blob = std::move(other);
  CHECK(&blob.device() == elsewhere.get());
  CHECK(&other.device() == elsewhere.get());  // NOLINT(bugprone-use-after-move)
}

}  // namespace
}  // namespace ferry::testing
