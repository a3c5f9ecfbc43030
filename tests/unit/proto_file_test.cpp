// SPDX-License-Identifier: BSD-2-Clause
#include <sys/resource.h>
#include <sys/stat.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "ferry/error.hpp"
#include "ferry/proto.hpp"
#include "tests/sanitized.hpp"
#include "tests/unit/proto_world.hpp"

namespace ferry::testing {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;
using Catch::Matchers::MessageMatches;

TEST_CASE("messages come back from files and streams") {
  const Folder folder;
  const BlobProto proto = Proto(100000, 3);
  BlobProtoVector vector;
  *vector.add_blobs() = proto;
  *vector.add_blobs() = Proto(2);
  WriteBlobProto(folder / "blob", proto);
  WriteBlobProtoVector(folder / "blobs", vector);
  CHECK(Bytes(folder / "blob") == proto.SerializeAsString());
  CHECK(ReadBlobProto(folder / "blob").SerializeAsString() == proto.SerializeAsString());
  CHECK(ReadBlobProtoVector(folder / "blobs").SerializeAsString() == vector.SerializeAsString());
  CHECK(folder.Files().size() == 2);
  std::stringstream stream, streams;
  WriteBlobProto(stream, proto);
  CHECK(ReadBlobProto(stream).SerializeAsString() == proto.SerializeAsString());
  WriteBlobProtoVector(streams, vector);
  CHECK(ReadBlobProtoVector(streams).SerializeAsString() == vector.SerializeAsString());
}

TEST_CASE("a file that is not there, or is a folder, is an error with the path and the system's reason") {
  const Folder folder;
  const fs::path missing = folder / "missing";
  CHECK_THROWS_MATCHES(
      ReadBlobProto(missing), Error,
      Message("ReadBlobProto: " + missing.string() + ": cannot open: No such file or directory"));
  CHECK_THROWS_MATCHES(ReadBlobProtoVector(folder / ""), Error,
                       MessageMatches(ContainsSubstring("Is a directory")));
  CHECK_THROWS_MATCHES(WriteBlobProto(folder / "no/blob", Proto(1)), Error,
                       MessageMatches(ContainsSubstring("No such file or directory")));
  const fs::path pipe = folder / "pipe";  // not a device of the machine's: one that is replaced is gone
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_MATCHES(
      WriteBlobProto(pipe, Proto(1)), Error,
      Message("WriteBlobProto: " + pipe.string() +
              ": cannot write: not a regular file; write to a pipe or a device by a stream"));
  CHECK(fs::is_fifo(pipe));
}

TEST_CASE("a pipe is read to its end, though it has no size") {
  const Folder folder;
  const fs::path pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const BlobProto proto = Proto(100000, 3);
  const std::string bytes = proto.SerializeAsString();
  std::jthread writer([&] { Put(pipe, bytes); });
  CHECK(ReadBlobProto(pipe).SerializeAsString() == bytes);
}

TEST_CASE("groups in more groups than protobuf reads are an error that says so") {
  const Folder folder;
  Put(folder / "blob", "\x08\x01" + std::string(1000, '\x5B') + std::string(1000, '\x5C'));
  CHECK_THROWS_MATCHES(
      ReadBlobProto(folder / "blob"), FormatError,
      MessageMatches(ContainsSubstring(
          "byte 2: BlobProto field 11 is a group without an end, or with too many groups in groups")));
}

TEST_CASE("a file that is cut short anywhere is an error with the offset, or fits no shape") {
  const Folder folder;
  BlobProto proto = Proto(300);
  proto.mutable_diff()->Resize(300, 2);
  const std::string bytes = proto.SerializeAsString();
  const std::string diff = "\x32\xb0\x09";
  const std::size_t diff_begin = bytes.find(diff);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CAPTURE(length);
    Put(folder / "cut", bytes.substr(0, length));
    try {
      const BlobProto cut = ReadBlobProto(folder / "cut");
      Blob<float> blob;
      if (length != diff_begin + diff.size() + 1200 &&
          length != diff_begin)  // ends of fields: all that is promised
        CHECK_THROWS_AS(blob.FromProto(cut), ShapeError);
    } catch (const FormatError& error) {
      CHECK(error.offset() <= length);
      CHECK_THAT(error.what(), ContainsSubstring((folder / "cut").string() + ", byte "));
      if (length > diff_begin + diff.size() && length < diff_begin + diff.size() + 1200)
        CHECK_THAT(error.what(), ContainsSubstring("byte " + std::to_string(diff_begin) +
                                                   ": BlobProto.diff says 1200 bytes"));
    }
  }
}

TEST_CASE("corrupt bytes are an error with the offset of the first bad field") {
  const auto offset = [](const std::string& bytes) -> std::uint64_t {
    std::istringstream in(bytes);
    try {
      ReadBlobProto(in);
    } catch (const FormatError& error) {
      return error.offset();
    }
    return ~std::uint64_t{0};
  };
  using namespace std::string_literals;
  CHECK(offset("\x08\x01\x00"s) == 2);  // field number 0
  CHECK(offset("\x08\x01\x0f"s) == 2);  // wire type 7
  CHECK(offset("\x08\x01\x0c"s) == 2);  // the end of a group that never began
  CHECK(offset("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"s) == 0);  // a number that does not end
  CHECK(offset("\x2a\x03\x00\x00\x00"s) == 0);                              // a part of a float
  CHECK(offset("\x08\x01\x3a\x04\x08\x01\x0a\x05"s) == 6);                  // dims beyond their shape
  CHECK(offset("\x3a\x03\x0a\x01\x80"s) == 2);                              // a dim beyond its field
  CHECK(offset("\x2a\xff\xff\xff\xff\xff\xff\xff\xff\x7f"s) == 0);          // a length over any
  std::istringstream in("\x0a\x04\x08\x01\x2a\x09"s);
  CHECK_THROWS_MATCHES(
      ReadBlobProtoVector(in, "here"), FormatError,
      Message("ReadBlobProtoVector: here, byte 4: BlobProto.data says 9 bytes, and 0 are left"));
}

TEST_CASE("every flip of one bit is read or is an error, and is never more") {
  BlobProto proto = Proto(20, -1);
  proto.set_num(3);
  const std::string bytes = proto.SerializeAsString();
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    std::istringstream in(flipped);
    Blob<float> blob;
    try {
      blob.FromProto(ReadBlobProto(in));
      CHECK(blob.count() <= 20);
    } catch (const Error& error) {
      CHECK(blob.count() == 0);
    }
  }
}

TEST_CASE("a file over protobuf's limit is an error before it is read") {
  const Folder folder;
  Put(folder / "large", "");
  fs::resize_file(folder / "large", std::uintmax_t{1} << 40);
  CHECK_THROWS_MATCHES(ReadBlobProto(folder / "large"), Error,
                       Message("ReadBlobProto: " + (folder / "large").string() +
                               ": it has more than 2147483647 bytes, the most that protobuf reads"));
}

TEST_CASE("a length that a small file claims is not allocated") {
  rlimit old{};
  const std::string claim("\x2a\xfc\xff\xff\xff\x07\x00\x00\x80\x3f",
                          10);  // 2 GiB of data, of which one float is there
  std::istringstream in(claim);
  ::getrlimit(RLIMIT_DATA, &old);
  const rlimit small{512U << 20, old.rlim_max};
  if (!kSanitized) ::setrlimit(RLIMIT_DATA, &small);
  CHECK_THROWS_AS(ReadBlobProto(in), FormatError);
  ::setrlimit(RLIMIT_DATA, &old);
}

}  // namespace
}  // namespace ferry::testing
