// SPDX-License-Identifier: BSD-2-Clause
// Files of another kind than the one that was asked for. FERRY_CAFFE_DATA is the folder of files that Caffe
// wrote.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <filesystem>
#include <sstream>
#include <string>

#include "ferry/error.hpp"
#include "tests/unit/proto_world.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::Message;
using namespace std::string_literals;

constexpr const char* kNet =
    "this is a NetParameter (a .caffemodel), and not a BlobProto; read it by Caffe's messages, and give its "
    "blobs to Blob::FromProto";
constexpr const char* kSolver =
    "this is a SolverState (a .solverstate), and not a BlobProto; read it by Caffe's messages, and give its "
    "history to Blob::FromProto";

BlobProto Read(const std::string& bytes) {
  std::istringstream in(bytes);
  return ReadBlobProto(in, "here");
}
BlobProtoVector ReadVector(const std::string& bytes) {
  std::istringstream in(bytes);
  return ReadBlobProtoVector(in, "here");
}
auto Says(const std::string& words, const std::string& call = "ReadBlobProto") {
  return Message(call + ": here, byte 0: " + words);
}

TEST_CASE("an empty file is no blob, and is a vector of none") {
  CHECK_THROWS_MATCHES(Read(""), FormatError, Says("there are no bytes, and a BlobProto has some"));
  CHECK(ReadVector("").blobs_size() == 0);
  const Folder folder;
  Put(folder / "empty", "");
  CHECK_THROWS_MATCHES(ReadBlobProto(folder / "empty"), FormatError,
                       Message("ReadBlobProto: " + (folder / "empty").string() +
                               ", byte 0: there are no bytes, and a BlobProto has some"));
}

TEST_CASE("a message without any field is not written, as it could not be read") {
  const Folder folder;
  WriteBlobProto(folder / "blob", Proto(1));
  CHECK_THROWS_MATCHES(WriteBlobProto(folder / "blob", BlobProto()), Error,
                       Message("WriteBlobProto: " + (folder / "blob").string() +
                               ": the message is empty; fill it by Blob::ToProto"));
  CHECK(ReadBlobProto(folder / "blob").data_size() == 1);
  WriteBlobProtoVector(folder / "none", BlobProtoVector());
  CHECK(ReadBlobProtoVector(folder / "none").blobs_size() == 0);
}

TEST_CASE("a net's weights are named as such") {
  const auto name = GENERATE("kaffe_lenet.caffemodel", "mtcnn_det1.caffemodel");
  const std::filesystem::path file = std::filesystem::path(FERRY_CAFFE_DATA) / name;
  if (!std::filesystem::exists(file)) SKIP("there is no " << file << "; -DFERRY_CAFFE_DATA names the folder");
  CHECK_THROWS_MATCHES(ReadBlobProto(file), FormatError,
                       Message("ReadBlobProto: " + file.string() + ", byte 0: " + kNet));
  std::string words = kNet;
  words.replace(words.find("BlobProto;"), 10, "BlobProtoVector;");
  CHECK_THROWS_MATCHES(ReadBlobProtoVector(file), FormatError,
                       Message("ReadBlobProtoVector: " + file.string() + ", byte 0: " + words));
  const std::string bytes = Bytes(file);
  CHECK_THROWS_MATCHES(Read(bytes.substr(0, bytes.size() / 2)), FormatError, Says(kNet));
}

TEST_CASE("nets of either form of layers, with and without a name, are named as such") {
  const std::string name = "\x0a\x02zz", old_layer = "\x12\x02\x20\x01", layer = "\xa2\x06\x02\x0a\x00"s;
  for (const std::string& bytes : {name + old_layer, old_layer, name + layer, layer})
    CHECK_THROWS_MATCHES(Read(bytes), FormatError, Says(kNet));
}

TEST_CASE("a solver's state is named as such") {
  const std::string blob = Proto(2).SerializeAsString();
  const std::string history = "\x1a" + std::string(1, static_cast<char>(blob.size())) + blob;
  const std::string net = "\x08\x64\x12\x03net";
  std::string whole = net;
  whole.append(history).append(history).append("\x20\x02");
  for (const std::string& bytes : {whole, "\x08\x64" + history, net})
    CHECK_THROWS_MATCHES(Read(bytes), FormatError, Says(kSolver));
}

TEST_CASE("a blob and a vector of blobs are told apart, and the error says which call reads which") {
  BlobProtoVector vector;
  *vector.add_blobs() = Proto(2);
  *vector.add_blobs() = Proto(3);
  CHECK_THROWS_MATCHES(
      Read(vector.SerializeAsString()), FormatError,
      Says("this is a BlobProtoVector, and not a BlobProto; read it by ReadBlobProtoVector"));
  BlobProto legacy;
  legacy.set_num(1);
  legacy.add_data(1);
  for (const BlobProto& blob : {Proto(2), legacy})
    CHECK_THROWS_MATCHES(ReadVector(blob.SerializeAsString()), FormatError,
                         Says("this is a BlobProto, and not a BlobProtoVector; read it by ReadBlobProto",
                              "ReadBlobProtoVector"));
}

TEST_CASE("an HDF5 file is named as such") {
  for (const std::string& rest : {""s, std::string(100, '\0')})
    CHECK_THROWS_MATCHES(Read("\x89HDF\r\n\x1a\n" + rest), FormatError,
                         Says("this is an HDF5 file, and not a BlobProto; read it by HDF5's own library"));
}

TEST_CASE("a message of any other kind is an error at the field that shows it") {
  CHECK_THROWS_MATCHES(Read("\x08\x01\x2a\x04\x00\x00\x80\x3f\x12\x01z"s), FormatError,
                       Message("ReadBlobProto: here, byte 8: field 2 is not BlobProto.channels: this is a "
                               "message of another kind"));
  CHECK_THROWS_MATCHES(Read("\x98\x06\x01"), FormatError,
                       Says("no field of a BlobProto is here: this is a message of another kind"));
}

TEST_CASE("fields that a later version may add are left alone") {
  CHECK(Read(Proto(2).SerializeAsString() + "\x98\x06\x01").data_size() == 2);
}

}  // namespace
}  // namespace ferry::testing
