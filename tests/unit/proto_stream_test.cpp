// SPDX-License-Identifier: BSD-2-Clause
// Messages from and to streams: what is thrown, and what is left of the stream.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <fstream>
#include <ios>
#include <sstream>
#include <stdexcept>
#include <streambuf>
#include <string>

#include "ferry/error.hpp"
#include "tests/unit/proto_world.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::Message;

constexpr std::ios::iostate kAll = std::ios::badbit | std::ios::failbit | std::ios::eofbit;

/// Has a few bytes, and then fails as a disk does.
class Broken : public std::streambuf {
 public:
  Broken() { setg(bytes_, bytes_, bytes_ + 3); }

 private:
  int_type underflow() override { throw std::runtime_error("the disk is gone"); }
  int_type overflow(int_type) override { throw std::runtime_error("the disk is gone"); }
  char bytes_[3] = {0x08, 0x01, 0x10};
};

TEST_CASE("a good read leaves a stream at its end, and not failed, whatever it throws for") {
  const std::ios::iostate exceptions = GENERATE(std::ios::goodbit, std::ios::failbit, kAll);
  std::istringstream in(Proto(3).SerializeAsString());
  in.exceptions(exceptions);
  CHECK(ReadBlobProto(in).data_size() == 3);
  CHECK(in.rdstate() == std::ios::eofbit);
  CHECK(in.exceptions() == exceptions);
}

TEST_CASE("a stream that is at its end has no second message") {
  std::istringstream in(Proto(3).SerializeAsString());
  in.exceptions(GENERATE(std::ios::goodbit, kAll));
  ReadBlobProto(in, "mean");
  CHECK_THROWS_MATCHES(
      ReadBlobProto(in, "mean"), Error,
      Message("ReadBlobProto: mean: the stream is at its end; a message is all the rest of a "
              "stream, and that has been read"));
  CHECK_THROWS_AS(ReadBlobProtoVector(in), Error);
}

TEST_CASE("a stream that was set back is read again") {
  std::istringstream in(Proto(3).SerializeAsString());
  ReadBlobProto(in);
  in.clear();
  in.seekg(0);
  CHECK(ReadBlobProto(in).data_size() == 3);
}

TEST_CASE("a stream that had failed before is an error that says so") {
  std::ifstream closed("/nonexistent/blob");
  CHECK_THROWS_MATCHES(ReadBlobProto(closed, "closed"), Error,
                       Message("ReadBlobProto: closed: the stream had failed before the call; see that it is "
                               "open, or clear() it"));
  std::ofstream out("/nonexistent/blob");
  CHECK_THROWS_MATCHES(
      WriteBlobProto(out, Proto(1), "closed"), Error,
      Message("WriteBlobProto: closed: the stream had failed before the call; see that it is "
              "open, or clear() it"));
}

TEST_CASE("a stream that fails on the way is an error of ours, whatever it throws") {
  const std::ios::iostate exceptions = GENERATE(std::ios::goodbit, kAll);
  Broken buffer;
  std::istream in(&buffer);
  std::ostream out(&buffer);
  in.exceptions(exceptions);
  out.exceptions(exceptions);
  CHECK_THROWS_MATCHES(ReadBlobProto(in, "disk"), Error,
                       Message("ReadBlobProto: disk: the stream failed before its end"));
  CHECK(in.bad());
  CHECK(in.exceptions() == exceptions);
  CHECK_THROWS_MATCHES(WriteBlobProto(out, Proto(1), "disk"), Error,
                       Message("WriteBlobProto: disk: the stream failed before it had all 11 bytes"));
  CHECK(out.bad());
  CHECK(out.exceptions() == exceptions);
}

TEST_CASE("a stream that takes no more is an error") {
  std::ofstream full("/dev/full", std::ios::binary);
  full.exceptions(GENERATE(std::ios::goodbit, kAll));
  CHECK_THROWS_MATCHES(WriteBlobProto(full, Proto(3), "full"), Error,
                       Message("WriteBlobProto: full: the stream failed before it had all 19 bytes"));
}

TEST_CASE("bytes that are no message are an error of ours on a stream that throws") {
  std::istringstream in("\x2a\x09");
  in.exceptions(kAll);
  CHECK_THROWS_MATCHES(ReadBlobProto(in), FormatError,
                       Message("ReadBlobProto: stream, byte 0: BlobProto.data says 9 bytes, and 0 are left"));
}

}  // namespace
}  // namespace ferry::testing
