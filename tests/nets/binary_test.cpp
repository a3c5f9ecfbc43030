// SPDX-License-Identifier: BSD-2-Clause
// Messages in binary files. FERRY_CAFFE_DATA has some that Caffe wrote, and statistics that were read off
// them.
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <sys/stat.h>

#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <thread>

#include "tests/nets/format_world.hpp"
#include "tests/sanitized.hpp"

namespace ferry::testing {
namespace {

using google::protobuf::Struct;

Struct Json(const std::filesystem::path& file) {
  if (kThreadSanitized)
    SKIP("under ThreadSanitizer protobuf's headers lay a Struct out otherwise than its library does");
  Struct json;
  REQUIRE(google::protobuf::util::JsonStringToMessage(Bytes(file), &json).ok());
  return json;
}
const auto& At(const Struct& json, const char* name) { return json.fields().at(name); }

NetParameter Small() {
  return Make(R"(name: 'net' layer { name: 'ip' type: 'InnerProduct' bottom: 'data' top: 'ip'
                 param { lr_mult: 2 } inner_product_param { num_output: 3 weight_filler { std: 0.5 } }
                 blobs { shape { dim: 2 dim: 1 } data: 1 data: 2 } blobs { double_data: 0.1 } })");
}

void CheckBlob(const BlobProto& blob, const Struct& want) {
  const auto& shape = At(want, "shape").list_value();
  if (At(want, "shape_from").string_value() == "shape") {
    REQUIRE(blob.shape().dim_size() == shape.values_size());
    for (int i = 0; i < shape.values_size(); ++i)
      CHECK(static_cast<double>(blob.shape().dim(i)) == shape.values(i).number_value());
  }
  const Struct& data = At(want, "data").struct_value();
  CHECK(blob.data_size() == static_cast<int>(At(want, "count").number_value()));
  long double sum = 0, asum = 0;
  for (const float x : blob.data()) {
    sum += static_cast<long double>(x);
    asum += std::abs(static_cast<long double>(x));
  }
  // Of at most 400000 numbers of 24 bits a sum of 64 bits loses none that matters here.
  CHECK(std::abs(static_cast<double>(sum) - At(data, "sum").number_value()) <=
        1e-15 * static_cast<double>(asum));
  CHECK(std::abs(static_cast<double>(asum) - At(data, "asum").number_value()) <=
        1e-15 * static_cast<double>(asum));
}

/// `unknown` is what the warning of its unknown fields ends with, if it has any.
void CheckModel(const std::string& name, const std::string& unknown = "") {
  const std::filesystem::path file = CaffeFile(name);
  const Struct want = Json(CaffeFile(name + ".json"));
  NetParameter net;
  const LogLines log;
  ReadNetParamsFromBinaryFileOrDie(file, &net);
  REQUIRE(log.lines().size() == (unknown.empty() ? 0 : 1));
  if (!unknown.empty()) CHECK(log.lines()[0].ends_with("unknown and kept: " + unknown));
  CHECK(net.name() == At(want, "net_name").string_value());
  const auto& layers = At(want, "layers").list_value();
  REQUIRE(net.layer_size() == layers.values_size());
  int blobs = 0;
  for (int i = 0; i < net.layer_size(); ++i) {
    const Struct& layer = layers.values(i).struct_value();
    CAPTURE(i, net.layer(i).name());
    CHECK(net.layer(i).name() == At(layer, "name").string_value());
    CHECK(net.layer(i).type() == At(layer, "type").string_value());
    CHECK(net.layer(i).bottom_size() == At(layer, "bottom").list_value().values_size());
    const auto& params = At(layer, "param").list_value();
    REQUIRE(net.layer(i).param_size() == params.values_size());
    for (int j = 0; j < params.values_size(); ++j)
      CHECK(static_cast<double>(net.layer(i).param(j).lr_mult()) ==
            At(params.values(j).struct_value(), "lr_mult").number_value());
    const auto& of_layer = At(layer, "blobs").list_value();
    REQUIRE(net.layer(i).blobs_size() == of_layer.values_size());
    for (int j = 0; j < of_layer.values_size(); ++j, ++blobs)
      CheckBlob(net.layer(i).blobs(j), of_layer.values(j).struct_value());
  }
  CHECK(blobs > 0);

  const Folder folder;
  WriteProtoToBinaryFile(net, folder / "again");
  CHECK((Bytes(folder / "again") == Bytes(file)));  // which no one could read in a report
  net.DiscardUnknownFields();
  WriteProtoToTextFile(net, folder / "text");
  NetParameter again;
  ReadNetParamsFromTextFileOrDie(folder / "text", &again);
  CHECK((again.SerializeAsString() == net.SerializeAsString()));
}

TEST_CASE("weights of LeNet that Caffe wrote are read, and written as they were") {
  CheckModel("kaffe_lenet.caffemodel");
}
TEST_CASE("weights of MTCNN that Caffe wrote are read, and written as they were") {
  CheckModel("mtcnn_det1.caffemodel", "SoftmaxParameter field 3");
}

TEST_CASE("a message that is written in binary is read as the same, and replaces what there was") {
  const Folder folder;
  WriteProtoToBinaryFile(Small(), folder / "net");
  CHECK(Bytes(folder / "net") == Small().SerializeAsString());
  NetParameter net = Make("force_backward: true");
  CHECK(ReadProtoFromBinaryFile(folder / "net", &net));
  CHECK(Difference(Small(), net) == "");
  WriteProtoToBinaryFile(net, folder / "net");
  ReadProtoFromBinaryFileOrDie(folder / "net", &net);
  CHECK(Difference(Small(), net) == "");
  CHECK(folder.Files().size() == 1);
}

TEST_CASE("a message can be read from a pipe") {
  const Folder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  std::thread writer([&] { Put(folder / "pipe", Small().SerializeAsString()); });
  NetParameter net;
  ReadProtoFromBinaryFile(folder / "pipe", &net);
  writer.join();
  CHECK(Difference(Small(), net) == "");
}

TEST_CASE("fields that are unknown are kept, and named once") {
  const Folder folder;
  NetParameter net = Make("name: 'a' layer { } layer { pooling_param { } }");
  const auto of_layer = GENERATE(true, false);  // unknown ones of the net itself are looked at twice
  if (!of_layer) net.mutable_unknown_fields()->AddLengthDelimited(9, "text");
  for (LayerParameter& layer : *net.mutable_layer()) layer.mutable_unknown_fields()->AddVarint(999, 1);
  net.mutable_layer(1)->mutable_pooling_param()->mutable_unknown_fields()->AddFixed32(77, 1);
  const std::string bytes = net.SerializeAsString();
  Put(folder / "net", bytes);
  const LogLines log;
  NetParameter read;
  ReadProtoFromBinaryFile(folder / "net", &read);
  CHECK(read.SerializeAsString() == bytes);
  REQUIRE(log.lines().size() == 1);
  CHECK(log.lines()[0] == "ReadNetParameter: " + (folder / "net").string() +
                              ": these fields are unknown and kept: LayerParameter field 999 (2 times), " +
                              (of_layer ? "" : "NetParameter field 9, ") + "PoolingParameter field 77");
}

TEST_CASE("a warning of many unknown fields names twenty") {
  const Folder folder;
  NetParameter net;
  for (int i = 0; i < 25; ++i) net.mutable_unknown_fields()->AddVarint(1000 + i, 1);
  net.set_name("a");
  Put(folder / "net", net.SerializeAsString());
  const LogLines log;
  ReadProtoFromBinaryFile(folder / "net", &net);
  REQUIRE(log.lines().size() == 1);
  CHECK_THAT(log.lines()[0], ContainsSubstring("field 1019 and 5 more") && !ContainsSubstring("field 1020"));
}

TEST_CASE("a file that is cut short is an error with the byte where the field begins that is cut") {
  const Folder folder;
  const std::string bytes = Small().SerializeAsString();
  const std::size_t layer = 2 + Small().name().size();  // there, and at the end, a field ends
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CAPTURE(length);
    Put(folder / "net", bytes.substr(0, length));
    NetParameter net = Make("name: 'before'");
    if (length == layer) {
      CHECK(ReadProtoFromBinaryFile(folder / "net", &net));
      CHECK(net.layer_size() == 0);
      continue;
    }
    try {
      ReadProtoFromBinaryFile(folder / "net", &net);
      FAIL_CHECK("it was read");
    } catch (const FormatError& error) {
      CHECK(error.offset() == (length < layer ? 0 : layer));
      CHECK_THAT(error.what(), StartsWith("ReadNetParameter: " + (folder / "net").string() + ", byte "));
    }
    CHECK(net.name() == "before");
  }
}

TEST_CASE("weights that Caffe wrote and that are cut short are an error with the byte") {
  const std::string bytes = Bytes(CaffeFile("kaffe_lenet.caffemodel"));
  const Folder folder;
  Put(folder / "net", bytes.substr(0, bytes.size() - 5));
  NetParameter net;
  try {
    ReadNetParamsFromBinaryFileOrDie(folder / "net", &net);
    FAIL_CHECK("it was read");
  } catch (const FormatError& error) {
    CHECK(error.offset() > bytes.size() - 1000);  // the last layer
    CHECK_THAT(error.what(), ContainsSubstring("NetParameter.layer says") && ContainsSubstring("are left"));
  }
}

TEST_CASE("a file of another kind is an error that says which") {
  const Folder folder;
  NetParameter net;
  const auto what = [&](const std::string& bytes) {
    Put(folder / "net", bytes);
    try {
      ReadProtoFromBinaryFile(folder / "net", &net);
    } catch (const FormatError& error) {
      CHECK(error.offset() == 0);
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(what("name: \"net\"\nlayer { }\n"), ContainsSubstring("this is text"));
  CHECK_THAT(what("\x89HDF\r\n\x1a\n and more"),
             ContainsSubstring("an HDF5 file") && ContainsSubstring("Net::CopyTrainedLayersFromHDF5"));
  for (const char* const state :
       {"iter: 3 learned_net: 'a'", "iter: 3 learned_net: 'a' seed: 1 solver_type: 'SGD'"})
    CHECK_THAT(what(Make<SolverState>(state).SerializeAsString()),
               ContainsSubstring("this is a SolverState"));
  CHECK_THAT(what(Make<BlobProto>("shape { dim: 2 } data: [1, 2]").SerializeAsString()),
             ContainsSubstring("this is a BlobProto"));
  CHECK_THAT(what(""), ContainsSubstring("there are no bytes"));
}

TEST_CASE("a file whose kind cannot be asked for is an error that names it") {
  NetParameter net;
  const std::string too_long(300, 'a');
  try {
    ReadProtoFromBinaryFile(too_long, &net);
    FAIL("there is no such file");
  } catch (const NetError& error) {
    CHECK_THAT(error.what(), ContainsSubstring(too_long));
  }
}

TEST_CASE("a required field that bytes lack is named") {
  const Folder folder;
  NetParameter partial = Make("layer { } layer { clip_param { min: 0 max: 1 } }");
  partial.mutable_layer(1)->mutable_clip_param()->clear_min();
  Put(folder / "net", partial.SerializePartialAsString());
  NetParameter net = Make("name: 'before'");
  CHECK_THROWS_MATCHES(ReadProtoFromBinaryFile(folder / "net", &net), NetError,
                       Message("ReadNetParameter: " + (folder / "net").string() +
                               ": the required field layer[1].clip_param.min is missing"));
  CHECK(net.name() == "before");
}

TEST_CASE("a file that cannot be read or written is an error that names it") {
  const Folder folder;
  NetParameter net;
  CHECK_THROWS_MATCHES(ReadProtoFromBinaryFile(folder / "none", &net), NetError,
                       MessageMatches(ContainsSubstring((folder / "none").string() + ": cannot open")));
  CHECK_THROWS_MATCHES(ReadProtoFromBinaryFileOrDie(folder / "", &net), NetError,
                       MessageMatches(ContainsSubstring("Is a directory")));
  CHECK_THROWS_MATCHES(ReadProtoFromBinaryFile("", &net), NetError,
                       MessageMatches(ContainsSubstring("path is empty")));
  CHECK_THROWS_MATCHES(WriteProtoToBinaryFile(net, folder / "net"), NetError,
                       Message("WriteNetParameter: " + (folder / "net").string() + ": the message is empty"));
  CHECK_THROWS_MATCHES(WriteProtoToBinaryFile(Small(), folder / "no" / "net"), NetError,
                       MessageMatches(ContainsSubstring("cannot create")));
  CHECK_THROWS_AS(WriteProtoToBinaryFile(Small(), "/dev/full"), NetError);
}

}  // namespace
}  // namespace ferry::testing
