// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include "ferry/detail/language.hpp"

namespace ferry {

namespace detail {
std::string AccessOf(const std::string& label);
}  // namespace detail

/// The root of what Ferry throws, except OutOfMemory (a std::bad_alloc) and misuse of the library by its
/// caller (a std::logic_error: std::invalid_argument for an argument that no call may have, a null pointer
/// above all).
///
/// A call that throws has given out nothing and changed nothing that its caller can see. Where more can have
/// happened, the function's or its class's comment says what: Device, whose work may be queued; SyncedMemory,
/// whose copy may be on its way; the streams of ferry/proto.hpp, which have moved on.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A vendor's call failed.
class DeviceError : public Error {
 public:
  /// `call` is the vendor's function, `code` its number for the error, `text` its words.
  DeviceError(const std::string& call, int code, const std::string& text)
      : Error(call + ": " + text + " (" + std::to_string(code) + ")"),
        call_(std::make_shared<const std::string>(call)),
        code_(code) {}
  /// The same error, of an access of the memory with this label.
  DeviceError(const DeviceError& error, const std::string& label)
      : Error(error.what() + detail::AccessOf(label)), call_(error.call_), code_(error.code_) {}
  /// The vendor's function that failed.
  const std::string& call() const noexcept { return *call_; }
  /// The vendor's number for the error.
  int code() const noexcept { return code_; }

 private:
  std::shared_ptr<const std::string> call_;
  int code_;
};

/// A call that needs a stream which is under graph capture: its work would join the graph, and a wait for it
/// would end the capture. The call can be made again when the capture is over.
class StreamCaptureError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// There is no such device here. The text says why, and where it can, which there are or what to set.
class NoDevice : public Error {
 public:
  using Error::Error;
};

/// A shape, an axis or an index that cannot be, or that does not fit. The text has the call and the shape.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// A file or a message that is not what it should be.
class FormatError : public Error {
 public:
  /// `where` is the file's path, or what else the bytes came from; `offset` is in bytes from its beginning.
  FormatError(const std::string& where, std::uint64_t offset, const std::string& what)
      : Error(where + ", byte " + std::to_string(offset) + ": " + what), offset_(offset) {}
  /// In bytes from the beginning: where the first bad field begins.
  std::uint64_t offset() const noexcept { return offset_; }

 private:
  std::uint64_t offset_;
};

/// An allocation failed, on the host or on a device. Not an Error: code that frees and retries on
/// std::bad_alloc need not know us, and with both bases it would slip past `catch (const std::exception&)`.
class OutOfMemory : public std::bad_alloc {
 public:
  /// `device` is its name, or words for the host's memory; `bytes` is how many were asked for.
  OutOfMemory(const std::string& device, std::size_t bytes)
      // NOLINTNEXTLINE(bugprone-throw-keyword-missing): a member, not a forgotten throw
      : what_(device + ": cannot allocate " + std::to_string(bytes) + " bytes"), bytes_(bytes) {}
  /// The same where a limit that the program has set refuses, with `used` bytes of `limit`.
  OutOfMemory(const std::string& device, std::size_t bytes, std::size_t used, std::size_t limit)
      // NOLINTNEXTLINE(bugprone-throw-keyword-missing): a member, not a forgotten throw
      : what_(device + ": cannot allocate " + std::to_string(bytes) + " bytes: " + std::to_string(used) +
              " of the " + std::to_string(limit) + " that SetMemoryLimit allows are in use"),
        bytes_(bytes),
        beyond_limit_(true) {}
  /// The same error, of an access of the memory with this label, which may be empty. `live` is what takes the
  /// device's memory, in words.
  OutOfMemory(const OutOfMemory& error, const std::string& label, const std::string& live = {})
      // NOLINTNEXTLINE(bugprone-throw-keyword-missing): a member, not a forgotten throw
      : what_(error.what() + (label.empty() ? std::string() : detail::AccessOf(label)) + live),
        bytes_(error.bytes_),
        beyond_limit_(error.beyond_limit_) {}
  /// Which device, or that it was the host's memory, and how many bytes.
  const char* what() const noexcept override { return what_.what(); }
  /// How many were asked for.
  std::size_t bytes() const noexcept { return bytes_; }
  /// Whether it was refused by SetMemoryLimit, and the device not asked.
  bool beyond_limit() const noexcept { return beyond_limit_; }

 private:
  std::runtime_error what_;  // for its text, which is copied without a throw
  std::size_t bytes_;
  bool beyond_limit_ = false;
};

}  // namespace ferry
