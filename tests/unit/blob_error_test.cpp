// SPDX-License-Identifier: BSD-2-Clause
// Calls that are refused for what they are given.
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

/// A call that must be refused before it does anything, and what its error says.
struct Wrong {
  std::string message;
  std::function<void(Blob<float>&)> call;
};

/// Elements on the CPU or on the GPU: neither they nor the storage nor the head may change.
void CheckRefused(const BlobWorld& world, const std::vector<Wrong>& wrongs) {
  const bool on_gpu = GENERATE(false, true);
  Victim victim(world.device());
  Blob<float>& blob = victim.blob;
  if (on_gpu) ToGpu(blob);
  const Head head = on_gpu ? Head::HEAD_AT_GPU : Head::HEAD_AT_CPU;
  const auto data = blob.data(), diff = blob.diff();
  const Statistics before = world.statistics();
  for (const Wrong& wrong : wrongs) {
    CAPTURE(wrong.message, on_gpu);
    CHECK_THROWS_MATCHES(wrong.call(blob), ShapeError, Message(wrong.message));
    CHECK(blob.data() == data);
    CHECK(blob.diff() == diff);
    CHECK(data->size() == 6 * sizeof(float));
    CHECK(diff->size() == 6 * sizeof(float));
    CHECK(data->head() == head);
    CHECK(diff->head() == head);
  }
  const Statistics did = world.statistics() - before;
  CHECK(did.allocations.count + did.host_to_device.count + did.device_to_host.count == 0);
  CHECK(did.live_bytes == before.live_bytes);
  victim.CheckUntouched();
}

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

std::string Ones() {
  std::string ones;
  for (int i = 0; i < kMaxBlobAxes; ++i) ones += " 1";
  return ones;
}

BlobShape MessageShape(const std::vector<std::int64_t>& dims) {
  BlobShape shape;
  for (const std::int64_t dim : dims) shape.add_dim(dim);
  return shape;
}

TEST_CASE("a shape that cannot be is an error that names the call, and the blob stays as it was") {
  const EachWorld world;
  CheckRefused(
      world,
      {{"Blob::Reshape: shape 2 -3 has a negative dim; dims are 0 or more",
        [](auto& blob) {
          blob.Reshape({2, -3});
        }},
       {"Blob::Reshape: shape -2 3 has a negative dim; dims are 0 or more",
        [](auto& blob) {
          blob.Reshape(std::vector{-2, 3});
        }},
       {"Blob::Reshape: shape 1 1 1 -1 has a negative dim; dims are 0 or more",
        [](auto& blob) { blob.Reshape(1, 1, 1, -1); }},
       {"Blob::Reshape: shape -7 has a negative dim; dims are 0 or more",
        [](auto& blob) { blob.Reshape(MessageShape({-7})); }},
       {"Blob::Reshape: shape 9223372036854775807 2 is too large: the product of its dims that are not 0 "
        "must fit int64",
        [](auto& blob) {
          blob.Reshape({kMax, 2});
        }},
       {"Blob::Reshape: shape 4611686018427387903 (4611686018427387903) has more than 2305843009213693951 "
        "elements of 4 bytes, the most that can be addressed",
        [](auto& blob) { blob.Reshape({kMax / 2}); }},
       {"Blob::Reshape: shape" + Ones() + " goes on after 32 axes, the most that a shape can have",
        [](auto& blob) { blob.Reshape(std::vector(33, 1)); }},
       {"Blob::Reshape: dim 1 of a shape is 9223372036854775808; dims go up to 9223372036854775807",
        [](auto& blob) {
          blob.Reshape(std::vector<std::uint64_t>{2, std::uint64_t{1} << 63});
        }}});
}

TEST_CASE("a blob is not constructed of a shape that cannot be, and the error names its constructor") {
  const BlobWorld world;
  Device& device = world.device();
  CHECK_THROWS_MATCHES(Blob<float>({-1}, device), ShapeError,
                       Message("Blob: shape -1 has a negative dim; dims are 0 or more"));
  CHECK_THROWS_MATCHES(Blob<float>(std::vector{2, -1}, device), ShapeError,
                       Message("Blob: shape 2 -1 has a negative dim; dims are 0 or more"));
  CHECK_THROWS_MATCHES(Blob<float>(1, -2, 3, 4, device), ShapeError,
                       Message("Blob: shape 1 -2 3 4 has a negative dim; dims are 0 or more"));
  CHECK_THROWS_MATCHES(Blob<float>({kMax}, device), ShapeError,
                       Message("Blob: shape 9223372036854775807 (9223372036854775807) has more than "
                               "2305843009213693951 elements of 4 bytes, the most that can be addressed"));
}

TEST_CASE("an index without numbers is named as such where there is no element") {
  const BlobWorld world;
  const Blob<float> none({0}, world.device());
  CHECK_THROWS_MATCHES(none.data_at(std::vector<int>{}), ShapeError,
                       Message("Blob::data_at: no index in shape 0; at most 1 number is allowed, from 0 to "
                               "its dim - 1"));
}

TEST_CASE("an axis that is not there is an error that names the call and the shape") {
  const EachWorld world;
  CheckRefused(
      world,
      {{"Blob::shape: axis 2 of shape 2 3 (6); its axes are -2 to 1", [](auto& blob) { blob.shape(2); }},
       {"Blob::shape: axis -3 of shape 2 3 (6); its axes are -2 to 1", [](auto& blob) { blob.shape(-3); }},
       {"Blob::CanonicalAxisIndex: axis -3 of shape 2 3 (6); its axes are -2 to 1",
        [](auto& blob) { blob.CanonicalAxisIndex(-3); }},
       {"Blob::count: axes 1 to 3 of shape 2 3 (6); 0 <= start <= end <= 2 must hold",
        [](auto& blob) { blob.count(1, 3); }},
       {"Blob::count: axes -1 to 1 of shape 2 3 (6); 0 <= start <= end <= 2 must hold",
        [](auto& blob) { blob.count(-1, 1); }},
       {"Blob::count: axes 3 to 2 of shape 2 3 (6); 0 <= start <= end <= 2 must hold",
        [](auto& blob) { blob.count(3); }},
       {"Blob::LegacyShape: axis 4 of shape 2 3 (6); legacy axes are -4 to 3",
        [](auto& blob) { blob.LegacyShape(4); }},
       {"Blob::LegacyShape: axis -5 of shape 2 3 (6); legacy axes are -4 to 3",
        [](auto& blob) { blob.LegacyShape(-5); }}});
}

TEST_CASE("a blob of five axes has no legacy dims, and the error names what was called") {
  const BlobWorld world;
  const Blob<float> blob({1, 1, 1, 1, 1}, world.device());
  const std::pair<std::string, std::function<void()>> calls[] = {
      {"num", [&] { blob.num(); }},
      {"channels", [&] { blob.channels(); }},
      {"height", [&] { blob.height(); }},
      {"width", [&] { blob.width(); }},
      {"offset", [&] { blob.offset(0); }},
      {"data_at", [&] { blob.data_at(0, 0, 0, 0); }},
      {"diff_at", [&] { blob.diff_at(0, 0, 0, 0); }}};
  for (const auto& [name, call] : calls)
    CHECK_THROWS_MATCHES(call(), ShapeError,
                         Message("Blob::" + name +
                                 ": shape 1 1 1 1 1 (1) has 5 axes, and num, channels, height and width are "
                                 "of 4 at most; use shape(axis), or an index of as many numbers"));
}

TEST_CASE("an index that is not there is an error that names the call and the shape") {
  const EachWorld world;
  CheckRefused(
      world,
      {{"Blob::offset: index 3 0 0 0 in shape 2 3 1 1; at most 4 numbers are allowed, each from 0 to its dim",
        [](auto& blob) { blob.offset(3); }},
       {"Blob::offset: index 0 -1 0 0 in shape 2 3 1 1; at most 4 numbers are allowed, each from 0 to its "
        "dim",
        [](auto& blob) { blob.offset(0, -1); }},
       {"Blob::offset: index 0 4 in shape 2 3; at most 2 numbers are allowed, each from 0 to its dim",
        [](auto& blob) {
          blob.offset({0, 4});
        }},
       {"Blob::offset: index -1 in shape 2 3; at most 2 numbers are allowed, each from 0 to its dim",
        [](auto& blob) { blob.offset(std::vector{-1}); }},
       {"Blob::offset: index 18446744073709551615 in shape 2 3; at most 2 numbers are allowed, each from 0 "
        "to "
        "its dim",
        [](auto& blob) { blob.offset(std::vector{~std::uint64_t{0}}); }},
       {"Blob::offset: index 0 0 0 in shape 2 3; at most 2 numbers are allowed, each from 0 to its dim",
        [](auto& blob) {
          blob.offset({0, 0, 0});
        }},
       {"Blob::data_at: index 2 0 in shape 2 3; at most 2 numbers are allowed, each from 0 to its dim - 1",
        [](auto& blob) {
          blob.data_at({2, 0});
        }},
       {"Blob::data_at: index 0 3 in shape 2 3; at most 2 numbers are allowed, each from 0 to its dim - 1",
        [](auto& blob) {
          blob.data_at(std::vector{0, 3});
        }},
       {"Blob::data_at: index 0 3 0 0 in shape 2 3 1 1; at most 4 numbers are allowed, each from 0 to its "
        "dim - 1",
        [](auto& blob) { blob.data_at(0, 3, 0, 0); }},
       {"Blob::diff_at: index 0 -1 in shape 2 3; at most 2 numbers are allowed, each from 0 to its dim - 1",
        [](auto& blob) {
          blob.diff_at({0, -1});
        }},
       {"Blob::diff_at: index 2 in shape 2 3; at most 2 numbers are allowed, each from 0 to its dim - 1",
        [](auto& blob) { blob.diff_at(std::vector{2}); }},
       {"Blob::diff_at: index 0 0 0 1 in shape 2 3 1 1; at most 4 numbers are allowed, each from 0 to its "
        "dim - 1",
        [](auto& blob) { blob.diff_at(0, 0, 0, 1); }}});
}

TEST_CASE("a blob without a shape has no element at any index") {
  const Blob<float> blob;
  CHECK_THROWS_MATCHES(blob.data_at({0}), ShapeError,
                       Message("Blob::data_at: the blob has no shape, and so no elements; Reshape it first"));
  CHECK_THROWS_MATCHES(blob.data_at(0, 0, 0, 0), ShapeError,
                       Message("Blob::data_at: the blob has no shape, and so no elements; Reshape it first"));
  CHECK_THROWS_MATCHES(blob.diff_at(std::vector<int>()), ShapeError,
                       Message("Blob::diff_at: the blob has no shape, and so no elements; Reshape it first"));
}

TEST_CASE("a null pointer is an invalid argument, and changes nothing") {
  const EachWorld world;
  const Stream stream(world.device());
  Victim victim(world.device());
  Blob<float>& blob = victim.blob;
  BlobProto* const none = nullptr;
  CHECK_THROWS_MATCHES(blob.set_cpu_data(nullptr), std::invalid_argument,
                       Message("Blob::set_cpu_data: the pointer is null; give one to 6 elements"));
  CHECK_THROWS_MATCHES(blob.set_gpu_data(nullptr), std::invalid_argument,
                       Message("Blob::set_gpu_data: the pointer is null; give one to 6 elements"));
  CHECK_THROWS_MATCHES(blob.set_gpu_data(nullptr, stream), std::invalid_argument,
                       Message("Blob::set_gpu_data: the pointer is null; give one to 6 elements"));
  CHECK_THROWS_MATCHES(blob.ToProto(none), std::invalid_argument,
                       Message("Blob::ToProto: the pointer is null; give one to a message"));
  victim.CheckUntouched();
}

TEST_CASE("a blob without a shape takes no pointer") {
  float mine = 0;
  CHECK_THROWS_MATCHES(
      Blob<float>().set_cpu_data(&mine), ShapeError,
      Message("Blob::set_cpu_data: the blob has no shape, and so no elements; Reshape it first"));
  CHECK_THROWS_MATCHES(
      Blob<float>().set_gpu_data(&mine), ShapeError,
      Message("Blob::set_gpu_data: the blob has no shape, and so no elements; Reshape it first"));
}

TEST_CASE("a source or a message of another shape is an error that names both shapes") {
  const EachWorld world;
  Blob<float> five({5}, world.device()), turned({3, 2}, world.device());
  const Blob<float> none(world.device());
  const auto proto = [](const std::vector<std::int64_t>& dims, int elements) {
    BlobProto message;
    *message.mutable_shape() = MessageShape(dims);
    message.mutable_data()->Resize(elements, 9);
    return message;
  };
  BlobProto short_diff = proto({2, 3}, 6);
  short_diff.mutable_diff()->Resize(5, 9);
  CheckRefused(
      world, {{"Blob::CopyFrom: the source has shape 5 (5), this blob has shape 2 3 (6); they must be equal "
               "unless `reshape` is true",
               [&](auto& blob) { blob.CopyFrom(five); }},
              {"Blob::CopyFrom: the source has shape 3 2 (6), this blob has shape 2 3 (6); they must be "
               "equal unless `reshape` is true",
               [&](auto& blob) { blob.CopyFrom(turned, true); }},
              {"Blob::CopyFrom: the source has no shape, this blob has shape 2 3 (6); a source needs a shape",
               [&](auto& blob) { blob.CopyFrom(none, false, true); }},
              {"Blob::ShareData: the other blob has shape 5 (5), this blob has shape 2 3 (6); to share, both "
               "need a shape, and equal counts",
               [&](auto& blob) { blob.ShareData(five); }},
              {"Blob::ShareDiff: the other blob has shape 5 (5), this blob has shape 2 3 (6); to share, both "
               "need a shape, and equal counts",
               [&](auto& blob) { blob.ShareDiff(five); }},
              {"Blob::FromProto: the message has shape 3 2 (6), this blob has shape 2 3 (6); they must be "
               "equal unless `reshape` is true",
               [&](auto& blob) {
                 blob.FromProto(proto({3, 2}, 6), false);
               }},
              {"Blob::FromProto: the message has 5 elements of data for shape 2 3 (6); it must have 6",
               [&](auto& blob) {
                 blob.FromProto(proto({2, 3}, 5));
               }},
              {"Blob::FromProto: the message has 5 elements of data for shape 1073741824 1048576 "
               "(1125899906842624); it must have 1125899906842624",
               [&](auto& blob) {
                 blob.FromProto(proto({1 << 30, 1 << 20}, 5));
               }},
              {"Blob::FromProto: the message has 5 elements of data for shape 2 (2); it must have 2",
               [&](auto& blob) { blob.FromProto(proto({2}, 5)); }},
              {"Blob::FromProto: the message has 5 elements of diff for shape 2 3 (6); it must have 6",
               [&](auto& blob) { blob.FromProto(short_diff); }},
              {"Blob::FromProto: shape 2 -3 has a negative dim; dims are 0 or more",
               [&](auto& blob) {
                 blob.FromProto(proto({2, -3}, 6));
               }},
              {"Blob::FromProto: shape 9223372036854775807 2 is too large: the product of its dims that are "
               "not 0 must fit int64",
               [&](auto& blob) {
                 blob.FromProto(proto({kMax, 2}, 6));
               }},
              {"Blob::FromProto: shape" + Ones() + " goes on after 32 axes, the most that a shape can have",
               [&](auto& blob) { blob.FromProto(proto(std::vector<std::int64_t>(33, 1), 1)); }}});
  CHECK_THROWS_MATCHES(Blob<float>().FromProto(proto({}, 1), false), ShapeError,
                       Message("Blob::FromProto: the message has shape (1), this blob has no shape; they "
                               "must be equal unless `reshape` is true"));
}

TEST_CASE("storage of another device cannot be shared, and a blob without a shape has none") {
  const EachWorld world;
  const auto elsewhere = MakeDevice("host");
  Victim victim(world.device());
  Blob<float> far({6}, *elsewhere), empty({0}, world.device());
  const std::string devices = "the other blob's storage is on the device host:0, this blob's on another, " +
                              world.device().properties().backend + ":0; CopyFrom copies between devices";
  CHECK_THROWS_MATCHES(victim.blob.ShareData(far), std::invalid_argument,
                       Message("Blob::ShareData: " + devices));
  CHECK_THROWS_MATCHES(victim.blob.ShareDiff(far), std::invalid_argument,
                       Message("Blob::ShareDiff: " + devices));
  victim.CheckUntouched();
  CHECK_THROWS_MATCHES(empty.ShareData(Blob<float>()), ShapeError,
                       Message("Blob::ShareData: the other blob has no shape, this blob has shape 0 (0); to "
                               "share, both need a shape, and equal counts"));
}

}  // namespace
}  // namespace ferry::testing
