// SPDX-License-Identifier: BSD-2-Clause
// Files that Caffe wrote, and the statistics that were read off them: FERRY_CAFFE_DATA is their folder.
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "ferry/proto.hpp"
#include "tests/sanitized.hpp"
#include "tests/unit/blob_world.hpp"

namespace ferry {
namespace {

namespace fs = std::filesystem;
using google::protobuf::ListValue;
using google::protobuf::Struct;
using google::protobuf::internal::WireFormatLite;

fs::path Find(const std::string& name) {
  fs::path file = fs::path(FERRY_CAFFE_DATA) / name;
  if (!fs::exists(file)) SKIP("there is no " << file << "; -DFERRY_CAFFE_DATA names the folder");
  return file;
}

std::string Bytes(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Struct Json(const fs::path& file) {
  if (testing::kThreadSanitized)
    SKIP("under ThreadSanitizer protobuf's headers lay a Struct out otherwise than its library does");
  Struct json;
  REQUIRE(google::protobuf::util::JsonStringToMessage(Bytes(file), &json).ok());
  return json;
}

/// A sum to the last bit of a double: what each addition loses is added up as well.
class Sum {
 public:
  void Add(long double x) {
    const long double next = total_ + x;
    lost_ += std::abs(total_) >= std::abs(x) ? (total_ - next) + x : (x - next) + total_;
    total_ = next;
  }
  double value() const { return static_cast<double>(total_ + lost_); }

 private:
  long double total_ = 0;
  long double lost_ = 0;
};

void CheckBlob(const BlobProto& proto, const Struct& want) {
  const testing::EachWorld world;
  Blob<float> blob(world.device());
  blob.FromProto(proto);
  std::vector<std::int64_t> shape;
  for (const auto& dim : want.fields().at("shape").list_value().values())
    shape.push_back(static_cast<std::int64_t>(dim.number_value()));
  CHECK(blob.shape() == shape);

  const auto& statistics = want.fields().at("data").struct_value().fields();
  const auto number = [&](const char* name) { return statistics.at(name).number_value(); };
  const std::vector<float> data = testing::Data(blob);
  Sum sum, asum, sumsq;
  for (const float x : data) {
    sum.Add(x);
    asum.Add(std::abs(x));
    sumsq.Add(static_cast<long double>(x) * x);
  }
  CHECK(sum.value() == number("sum"));
  CHECK(asum.value() == number("asum"));
  CHECK(sumsq.value() == number("sumsq"));
  CHECK(*std::min_element(data.begin(), data.end()) == number("min"));
  CHECK(*std::max_element(data.begin(), data.end()) == number("max"));
  const ListValue& first = statistics.at("first").list_value();
  const ListValue& last = statistics.at("last").list_value();
  for (int i = 0; i < first.values_size(); ++i)
    CHECK(data[static_cast<std::size_t>(i)] == first.values(i).number_value());
  for (int i = 0; i < last.values_size(); ++i)
    CHECK(*(data.end() - last.values_size() + i) == last.values(i).number_value());

  for (const bool on_gpu : {false, true}) {
    if (on_gpu) blob.gpu_data();
    CHECK(std::abs(blob.asum_data() - number("asum")) <= 1.2e-7 * number("asum"));
    CHECK(std::abs(blob.sumsq_data() - number("sumsq")) <= 1.2e-7 * number("sumsq"));
  }
}

/// The contents of the fields `number` of a message.
std::vector<std::string> Fields(const std::string& message, int number) {
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(message.data()),
                                            static_cast<int>(message.size()));
  std::vector<std::string> contents;
  while (const std::uint32_t tag = in.ReadTag()) {
    if (tag == WireFormatLite::MakeTag(number, WireFormatLite::WIRETYPE_LENGTH_DELIMITED))
      REQUIRE(WireFormatLite::ReadString(&in, &contents.emplace_back()));
    else
      REQUIRE(WireFormatLite::SkipField(&in, tag));
  }
  return contents;
}

TEST_CASE("the mean image that Caffe wrote has its shape and statistics") {
  const fs::path file = Find("imagenet_256x256_mean.binaryproto");
  const BlobProto proto = ReadBlobProto(file);
  CHECK(proto.SerializeAsString() == Bytes(file));
  CheckBlob(proto, Json(file.string() + ".json").fields().at("blob").struct_value());
}

TEST_CASE("the weights of nets that Caffe trained have their shapes and statistics") {
  const auto name = GENERATE("kaffe_lenet.caffemodel", "mtcnn_det1.caffemodel");
  const fs::path file = Find(name);
  const Struct json = Json(file.string() + ".json");
  const ListValue& wanted = json.fields().at("layers").list_value();
  const std::vector<std::string> layers = Fields(Bytes(file), 100);  // NetParameter.layer
  REQUIRE(layers.size() == static_cast<std::size_t>(wanted.values_size()));
  int blobs_seen = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::vector<std::string> blobs = Fields(layers[i], 7);  // LayerParameter.blobs
    const ListValue& want =
        wanted.values(static_cast<int>(i)).struct_value().fields().at("blobs").list_value();
    REQUIRE(blobs.size() == static_cast<std::size_t>(want.values_size()));
    for (std::size_t b = 0; b < blobs.size(); ++b, ++blobs_seen) {
      BlobProto proto;
      REQUIRE(proto.ParseFromString(blobs[b]));
      CheckBlob(proto, want.values(static_cast<int>(b)).struct_value());
    }
  }
  CHECK(blobs_seen >= 8);
}

}  // namespace
}  // namespace ferry
