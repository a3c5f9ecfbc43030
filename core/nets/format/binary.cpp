// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/format/binary.hpp"

#include <fcntl.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

#include "core/nets/format/fields.hpp"
#include "core/proto/file.hpp"
#include "core/proto/flaw.hpp"
#include "core/proto/kind.hpp"
#include "ferry/error.hpp"
#include "ferry/nets/error.hpp"

namespace ferry::detail {
namespace {

using google::protobuf::Message;

constexpr int kFileBlock = 1 << 20;  // bytes: few calls of the system, and still in a cache

bool HasUnknown(const Message& message) {
  return !message.GetReflection()->GetUnknownFields(message).empty();
}

bool LooksLikeText(std::string_view bytes) {
  const std::string_view begin = bytes.substr(0, 512);
  return std::all_of(begin.begin(), begin.end(),
                     [](char c) { return (c >= ' ' && c < '\x7F') || c == '\n' || c == '\t' || c == '\r'; });
}

void RequireNoHdf5(std::string_view bytes, const std::string& where, const Message& message) {
  if (bytes.starts_with("\x89HDF\r\n\x1a\n"))
    throw FormatError(where, 0,
                      "this is an HDF5 file, and not a binary " + message.GetDescriptor()->name() +
                          "; read a net's weights by Net::CopyTrainedLayersFromHDF5");
}

[[noreturn]] void ThrowUnreadable(std::string_view bytes, const std::string& where, const Message& message) {
  const auto& type = *message.GetDescriptor();
  if (bytes.empty()) throw FormatError(where, 0, "there are no bytes, and a " + type.name() + " has some");
  if (LooksLikeText(bytes))
    throw FormatError(
        where, 0,
        "this is text, and not a binary " + type.name() + "; read it by the function for text files");
  ThrowFlaw(bytes, type, where);
}

/// Of a message that could be read: gives it to the caller, unless it is not what the caller asked for.
void Take(Message* read, const std::string& where, Message* message) {
  const std::string missing = MissingField(*read);
  if (!missing.empty()) throw NetError(where + ": the required field " + missing + " is missing");
  WarnOfUnknownFields(*read, where, "kept");
  message->GetReflection()->Swap(message, read);
}

}  // namespace

void RequireReadable(const std::filesystem::path& file, const std::string& where) {
  std::error_code error;  // what cannot be asked for its size is left to who opens it
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  if (error || size <= kMostBytes) return;
  throw NetError(where + ": it has " + std::to_string(size) + " bytes, and protobuf reads " +
                 std::to_string(kMostBytes) + " at most; keep weights as HDF5, or each blob as a .npy file");
}

void ParseBinary(std::string_view bytes, const std::string& where, Message* message) {
  RequireNoHdf5(bytes, where, *message);
  const std::unique_ptr<Message> read(message->New());
  if (bytes.empty() || bytes.size() > kMostBytes ||
      !read->ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size())))
    ThrowUnreadable(bytes, where, *message);
  if (HasUnknown(*read)) RequireKind(bytes, *message->GetDescriptor(), where);
  Take(read.get(), where, message);
}

void ReadBinary(const std::filesystem::path& file, const std::string& where, Message* message) {
  RequireReadable(file, where);
  // A pipe can be read once, and a flaw is looked for in bytes that are all there.
  std::error_code error;  // what cannot be asked for its kind is left to who opens it
  if (!std::filesystem::is_regular_file(file, error)) {
    ParseBinary(ReadFile(file, kMostBytes, where), where, message);
    return;
  }
  const OpenFile descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (descriptor.get() < 0) ThrowSystemError(where, "open", errno);
  google::protobuf::io::FileInputStream in(descriptor.get(), kFileBlock);
  const std::unique_ptr<Message> read(message->New());
  const bool whole = read->ParsePartialFromZeroCopyStream(&in);
  if (in.GetErrno() != 0) ThrowSystemError(where, "read", in.GetErrno());
  if (whole && in.ByteCount() != 0 && !HasUnknown(*read))
    Take(read.get(), where, message);
  else
    ParseBinary(ReadFile(file, kMostBytes, where), where, message);
}

}  // namespace ferry::detail
