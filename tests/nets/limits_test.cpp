// SPDX-License-Identifier: BSD-2-Clause
// Files that are too large, and messages that are too deep.
#include <google/protobuf/struct.pb.h>

#include <cstdint>

#include "tests/nets/format_world.hpp"

namespace ferry::testing {
namespace {

using google::protobuf::Struct;

/// A Struct is in a Value, that in an entry, and that in a Struct.
std::string DeepText(int structs) {
  std::string text;
  for (int i = 0; i < structs; ++i) text += "fields { key: 'a' value { struct_value {\n";
  for (int i = 0; i < structs; ++i) text += "} } }";
  return text;
}
std::string Field(char tag, const std::string& contents) {
  std::string length;
  std::size_t rest = contents.size();
  for (; rest > 127; rest >>= 7U) length += static_cast<char>((rest & 127U) | 128U);
  return tag + length + static_cast<char>(rest) + contents;
}
std::string DeepBytes(int structs) {
  std::string bytes;
  for (int i = 0; i < structs; ++i) bytes = Field(0x0A, "\x0A\001a" + Field(0x12, Field(0x2A, bytes)));
  return bytes;
}

TEST_CASE("a file of 2 GiB is refused before it is read, with the way out") {
  const Folder folder;
  Put(folder / "net", "");
  std::filesystem::resize_file(folder / "net",
                               std::uintmax_t{1} << 31U);  // sparse: no block of it is on a disk
  NetParameter net;
  for (const auto read : {ReadProtoFromTextFile, ReadProtoFromBinaryFile})
    CHECK_THROWS_MATCHES(read(folder / "net", &net), NetError,
                         MessageMatches(ContainsSubstring("it has 2147483648 bytes") &&
                                        ContainsSubstring("HDF5") && ContainsSubstring(".npy")));
}

TEST_CASE("a message of 2 GiB is not written, and the error names the way out") {
  const Folder folder;
  constexpr int kElements = (1 << 29) + 1;
  NetParameter net;
  auto* const data = net.add_layer()->add_blobs()->mutable_data();
  data->Reserve(kElements);
  data->AddNAlreadyReserved(kElements);  // which no one writes or reads: they cost no memory
  CHECK_THROWS_MATCHES(WriteProtoToBinaryFile(net, folder / "net"), NetError,
                       MessageMatches(ContainsSubstring("protobuf writes 2147483647 at most") &&
                                      ContainsSubstring("Net::ToHDF5")));
  CHECK(folder.Files().size() == 0);
}

TEST_CASE("a text with messages in more than a hundred others is refused with the place") {
  const Folder folder;
  Struct message;
  Put(folder / "shallow", DeepText(30));
  CHECK(ReadProtoFromTextFile(folder / "shallow", &message));
  CHECK(message.SerializeAsString() == DeepBytes(30));
  Put(folder / "deep", DeepText(100000));
  CHECK_THROWS_MATCHES(
      ReadProtoFromTextFile(folder / "deep", &message), NetError,
      MessageMatches(ContainsSubstring("deep:34:") && ContainsSubstring("recursion limit of 100")));
}

TEST_CASE("bytes with messages in more than a hundred others are refused with the byte") {
  const Folder folder;
  Struct message;
  Put(folder / "shallow", DeepBytes(30));
  CHECK(ReadProtoFromBinaryFile(folder / "shallow", &message));
  Put(folder / "deep", DeepBytes(10000));
  CHECK_THROWS_MATCHES(ReadProtoFromBinaryFile(folder / "deep", &message), FormatError,
                       MessageMatches(ContainsSubstring("is in more than 100 messages")));
}

TEST_CASE("groups of unknown fields may be a hundred deep as well") {
  const Folder folder;
  const auto groups = [](int deep) {
    std::string bytes = "\n\001a";
    for (int i = 0; i < deep; ++i) bytes += char{0x4B};  // field 9 begins
    for (int i = 0; i < deep; ++i) bytes += char{0x4C};  // and ends
    return bytes;
  };
  NetParameter net;
  const LogLines log;
  Put(folder / "shallow", groups(90));
  CHECK(ReadProtoFromBinaryFile(folder / "shallow", &net));
  CHECK(net.SerializeAsString() == groups(90));
  Put(folder / "deep", groups(100000));
  CHECK_THROWS_MATCHES(ReadProtoFromBinaryFile(folder / "deep", &net), FormatError,
                       MessageMatches(ContainsSubstring("byte 3: NetParameter field 9 is a group") &&
                                      ContainsSubstring("too many groups in groups")));
}

}  // namespace
}  // namespace ferry::testing
