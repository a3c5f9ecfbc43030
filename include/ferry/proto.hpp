// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

#include "ferry/blob.hpp"
#include "ferry/blob.pb.h"  // BlobShape, BlobProto, BlobProtoVector: Caffe's on the wire

namespace ferry {

/// Messages as Caffe's binaryproto files have them. `name` is what errors call the stream.
///
/// A message that is cut short or corrupt is a FormatError with the byte at which the first bad field begins;
/// what cannot be opened or read, and what is over protobuf's 2 GiB, an Error with the path and the system's
/// reason. Memory follows the bytes that are there, not the lengths that they claim; whether the dims fit the
/// data is FromProto's to say. Any thread may call.
BlobProto ReadBlobProto(const std::filesystem::path& file);
BlobProto ReadBlobProto(std::istream& in, const std::string& name = "stream");
BlobProtoVector ReadBlobProtoVector(const std::filesystem::path& file);
BlobProtoVector ReadBlobProtoVector(std::istream& in, const std::string& name = "stream");

/// The file appears whole or not at all: it is written beside its place, synced, and renamed. An old file
/// keeps its permissions, and stays as it was if anything fails. A path that is no regular file is an Error;
/// for devices and pipes there are the streams.
void WriteBlobProto(const std::filesystem::path& file, const BlobProto& message);
void WriteBlobProto(std::ostream& out, const BlobProto& message, const std::string& name = "stream");
void WriteBlobProtoVector(const std::filesystem::path& file, const BlobProtoVector& message);
void WriteBlobProtoVector(std::ostream& out, const BlobProtoVector& message,
                          const std::string& name = "stream");

}  // namespace ferry
