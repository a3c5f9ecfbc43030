// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/proto.hpp"

#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <algorithm>
#include <istream>
#include <limits>
#include <ostream>

#include "core/proto/file.hpp"
#include "core/proto/flaw.hpp"
#include "ferry/error.hpp"

namespace ferry {
namespace {

using google::protobuf::Message;

constexpr std::size_t kMost = std::numeric_limits<int>::max();  // protobuf counts bytes in int

template <class M>
M Parse(const std::string& bytes, const std::string& where) {
  M message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    detail::ThrowFlaw(bytes, *M::descriptor(), where);
  return message;
}

std::string ReadAll(std::istream& in, const std::string& name) {
  std::string bytes;
  std::size_t length = 0;
  while (in) {
    if (length > kMost)
      throw Error(name + ": more than the " + std::to_string(kMost) + " bytes that protobuf reads");
    if (length == bytes.size()) bytes.resize(std::min(2 * length + 4096, kMost + 1));
    in.read(bytes.data() + length, static_cast<std::streamsize>(bytes.size() - length));
    length += static_cast<std::size_t>(in.gcount());
  }
  if (in.bad() || !in.eof()) throw Error(name + ": cannot read");
  bytes.resize(length);
  return bytes;
}

void RequireSize(const Message& message, const std::string& name) {
  if (message.ByteSizeLong() > kMost)
    throw Error(name + ": cannot write: " + std::to_string(message.ByteSizeLong()) +
                " bytes, and protobuf writes " + std::to_string(kMost));
}

void WriteFile(const std::filesystem::path& file, const Message& message) {
  RequireSize(message, file.string());
  detail::NewFile target(file);
  google::protobuf::io::FileOutputStream out(target.descriptor());
  if (!message.SerializeToZeroCopyStream(&out) || !out.Flush())
    detail::ThrowSystemError("write", file, out.GetErrno());
  target.Commit();
}

void WriteStream(std::ostream& out, const Message& message, const std::string& name) {
  RequireSize(message, name);
  if (!message.SerializeToOstream(&out) || !out.flush()) throw Error(name + ": cannot write");
}

}  // namespace

BlobProto ReadBlobProto(const std::filesystem::path& file) {
  return Parse<BlobProto>(detail::ReadFile(file, kMost), file.string());
}
BlobProto ReadBlobProto(std::istream& in, const std::string& name) {
  return Parse<BlobProto>(ReadAll(in, name), name);
}
BlobProtoVector ReadBlobProtoVector(const std::filesystem::path& file) {
  return Parse<BlobProtoVector>(detail::ReadFile(file, kMost), file.string());
}
BlobProtoVector ReadBlobProtoVector(std::istream& in, const std::string& name) {
  return Parse<BlobProtoVector>(ReadAll(in, name), name);
}

void WriteBlobProto(const std::filesystem::path& file, const BlobProto& message) { WriteFile(file, message); }
void WriteBlobProto(std::ostream& out, const BlobProto& message, const std::string& name) {
  WriteStream(out, message, name);
}
void WriteBlobProtoVector(const std::filesystem::path& file, const BlobProtoVector& message) {
  WriteFile(file, message);
}
void WriteBlobProtoVector(std::ostream& out, const BlobProtoVector& message, const std::string& name) {
  WriteStream(out, message, name);
}

}  // namespace ferry
