// SPDX-License-Identifier: BSD-2-Clause
// Any bytes are a message that is a blob, or an error.
#include <google/protobuf/stubs/logging.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>

#include "ferry/backend.hpp"
#include "ferry/blob.hpp"
#include "ferry/error.hpp"
#include "ferry/log.hpp"
#include "ferry/proto.hpp"

namespace {

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::abort();
}

ferry::BlobProto Read(const std::string& bytes) {
  std::istringstream in(bytes);
  return ferry::ReadBlobProto(in);
}

/// The message of a blob is that blob again.
template <class T>
void RequireSameAgain(const ferry::BlobProto& message) {
  static const auto device = ferry::MakeDevice("host");
  ferry::Blob<T> blob(*device), again(*device);
  try {
    blob.FromProto(message);
  } catch (const ferry::ShapeError&) {
    return;
  }
  ferry::BlobProto written, rewritten;
  const bool diff = message.diff_size() + message.double_diff_size() != 0;
  blob.ToProto(&written, diff);
  std::ostringstream out;
  ferry::WriteBlobProto(out, written);
  again.FromProto(Read(out.str()));
  again.ToProto(&rewritten, diff);
  Require(again.shape() == blob.shape(), "a blob that was written has its shape");
  Require(rewritten.SerializeAsString() == written.SerializeAsString(), "a blob is read as it was written");
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  ferry::SetLogSink([](ferry::LogLevel, std::string_view) {});
  google::protobuf::SetLogHandler(nullptr);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ferry::BlobProto message;
  try {
    message = Read({reinterpret_cast<const char*>(data), size});
  } catch (const ferry::FormatError&) {
    return 0;
  }
  RequireSameAgain<float>(message);
  RequireSameAgain<double>(message);
  return 0;
}
