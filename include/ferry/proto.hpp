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
/// A message that is cut short or corrupt is a FormatError with the byte at which the first bad field begins.
/// So is one that is plainly of another kind; the error names the kinds that Caffe writes, a .caffemodel or a
/// .solverstate. A file without bytes is no BlobProto; it is a BlobProtoVector of no blobs. What cannot be
/// opened or read, and what is over protobuf's 2 GiB, is an Error with the path and the system's reason.
/// Memory follows the bytes that are there, not the lengths that they claim; whether the dims fit the data is
/// FromProto's to say. Any thread may call.
///
/// A message is all that is left of a stream: after a good read the stream is at its end and has not failed,
/// and to read from there again is an Error. A stream's own exceptions are not thrown; its state still says
/// what happened. A stream that a call read or wrote before it threw has moved on.
BlobProto ReadBlobProto(const std::filesystem::path& file);
/// The same from a stream.
BlobProto ReadBlobProto(std::istream& in, const std::string& name = "stream");
/// The same for a message of several blobs.
BlobProtoVector ReadBlobProtoVector(const std::filesystem::path& file);
/// The same from a stream.
BlobProtoVector ReadBlobProtoVector(std::istream& in, const std::string& name = "stream");

/// The file appears whole or not at all: it is written without a name where the system has such files, else
/// beside its place, and takes its place once it is on the disk. An old file keeps its permissions, and stays
/// as it was if anything fails. Symbolic links are followed to their end, and stay. A file that may not be
/// written is an Error; so are a path that is no regular file (for devices and pipes there are the streams),
/// and a BlobProto without a field, which could not be read again.
void WriteBlobProto(const std::filesystem::path& file, const BlobProto& message);
/// To a stream, as far as it goes: what was written before an error stays written.
void WriteBlobProto(std::ostream& out, const BlobProto& message, const std::string& name = "stream");
/// As WriteBlobProto, for a message of several blobs.
void WriteBlobProtoVector(const std::filesystem::path& file, const BlobProtoVector& message);
/// The same to a stream.
void WriteBlobProtoVector(std::ostream& out, const BlobProtoVector& message,
                          const std::string& name = "stream");

}  // namespace ferry
