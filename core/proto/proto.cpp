// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/proto.hpp"

#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <algorithm>
#include <concepts>
#include <istream>
#include <limits>
#include <ostream>

#include "core/proto/file.hpp"
#include "core/proto/flaw.hpp"
#include "core/proto/kind.hpp"
#include "core/write_signals.hpp"
#include "ferry/error.hpp"

namespace ferry {
namespace {

constexpr std::size_t kMost = std::numeric_limits<int>::max();  // protobuf counts bytes in int

/// What errors begin with: the call, and what it was called with.
template <class M>
std::string Where(const char* verb, const std::string& name) {
  return verb + M::descriptor()->name() + ": " + name;
}
template <class M>
std::string WhereFile(const char* verb, const std::filesystem::path& file) {
  if (file.empty()) throw Error(Where<M>(verb, "the path is empty; give the path of a file"));
  return Where<M>(verb, file.string());
}

/// A stream that throws nothing for a while: its state says what happened.
class Quiet {
 public:
  explicit Quiet(std::ios& stream) : stream_(stream), exceptions_(stream.exceptions()) {
    stream.exceptions(std::ios::goodbit);
  }
  ~Quiet() {
    try {
      stream_.exceptions(exceptions_);
    } catch (const std::ios::failure&) {  // of a state that it throws for; the rest is done
    }
  }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  std::ios& stream_;
  const std::ios::iostate exceptions_;
};

void RequireGood(const std::ios& stream, const std::string& where) {
  if (!stream.good())
    throw Error(where + ": the stream had failed before the call; see that it is open, or clear() it");
}

/// A vector may have no blobs; a blob without a field is none.
template <class M>
constexpr bool kMayBeEmpty = std::same_as<M, BlobProtoVector>;

template <class M>
M Parse(const std::string& bytes, const std::string& where) {
  const auto& type = *M::descriptor();
  if (bytes.empty() && !kMayBeEmpty<M>)
    throw FormatError(where, 0, "there are no bytes, and a " + type.name() + " has some");
  M message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    detail::ThrowFlaw(bytes, type, where);
  if (!message.unknown_fields().empty()) detail::RequireKind(bytes, type, where);
  return message;
}

std::string ReadAll(std::istream& in, const std::string& where) {
  if (in.rdstate() == std::ios::eofbit)
    throw Error(where +
                ": the stream is at its end; a message is all the rest of a stream, and that has been read");
  RequireGood(in, where);
  const Quiet quiet(in);
  std::string bytes;
  std::size_t length = 0;
  while (in) {
    if (length > kMost)
      throw Error(where + ": it has more than " + std::to_string(kMost) +
                  " bytes, the most that protobuf reads");
    if (length == bytes.size()) bytes.resize(std::min(2 * length + 4096, kMost + 1));
    in.read(bytes.data() + length, static_cast<std::streamsize>(bytes.size() - length));
    length += static_cast<std::size_t>(in.gcount());
  }
  if (in.bad() || !in.eof()) throw Error(where + ": the stream failed before its end");
  in.clear(std::ios::eofbit);  // nothing has failed: there was no more to read
  bytes.resize(length);
  return bytes;
}

void RequireSize(std::size_t bytes, std::size_t least, const std::string& where) {
  if (bytes < least) throw Error(where + ": the message is empty; fill it by Blob::ToProto");
  if (bytes > kMost)
    throw Error(where + ": the message has " + std::to_string(bytes) + " bytes; protobuf writes " +
                std::to_string(kMost) + " at most");
}

template <class M>
M Read(const std::filesystem::path& file) {
  const std::string where = WhereFile<M>("Read", file);
  return Parse<M>(detail::ReadFile(file, kMost, where), where);
}
template <class M>
M Read(std::istream& in, const std::string& name) {
  const std::string where = Where<M>("Read", name);
  return Parse<M>(ReadAll(in, where), where);
}

template <class M>
void Write(const std::filesystem::path& file, const M& message) {
  const std::string where = WhereFile<M>("Write", file);
  RequireSize(message.ByteSizeLong(), kMayBeEmpty<M> ? 0 : 1, where);
  const detail::WithoutWriteSignals quiet;
  detail::NewFile target(file, where);
  google::protobuf::io::FileOutputStream out(target.descriptor());
  if (!message.SerializeToZeroCopyStream(&out) || !out.Flush())
    detail::ThrowSystemError(where, "write", out.GetErrno());
  target.Commit();
}
template <class M>
void Write(std::ostream& out, const M& message, const std::string& name) {
  const std::string where = Where<M>("Write", name);
  RequireSize(message.ByteSizeLong(), kMayBeEmpty<M> ? 0 : 1, where);
  RequireGood(out, where);
  const Quiet quiet(out);
  if (!message.SerializeToOstream(&out) || !out.flush())
    throw Error(where + ": the stream failed before it had all " + std::to_string(message.ByteSizeLong()) +
                " bytes");
}

}  // namespace

BlobProto ReadBlobProto(const std::filesystem::path& file) { return Read<BlobProto>(file); }
BlobProto ReadBlobProto(std::istream& in, const std::string& name) { return Read<BlobProto>(in, name); }
BlobProtoVector ReadBlobProtoVector(const std::filesystem::path& file) { return Read<BlobProtoVector>(file); }
BlobProtoVector ReadBlobProtoVector(std::istream& in, const std::string& name) {
  return Read<BlobProtoVector>(in, name);
}

void WriteBlobProto(const std::filesystem::path& file, const BlobProto& message) { Write(file, message); }
void WriteBlobProto(std::ostream& out, const BlobProto& message, const std::string& name) {
  Write(out, message, name);
}
void WriteBlobProtoVector(const std::filesystem::path& file, const BlobProtoVector& message) {
  Write(file, message);
}
void WriteBlobProtoVector(std::ostream& out, const BlobProtoVector& message, const std::string& name) {
  Write(out, message, name);
}

}  // namespace ferry
