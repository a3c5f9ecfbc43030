// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "ferry/stream.hpp"

/// What calls of a Blob are told. Included by ferry/blob.hpp.
namespace ferry {

/// The two arrays of a blob.
enum class BlobPart : std::uint8_t { kData, kDiff };

/// A stream, or none. For the length of a call.
class OnStream {
 public:
  /// None: the call chooses.
  OnStream() = default;
  /// This one, which must live as long as the call.
  OnStream(const Stream& stream) noexcept : stream_(&stream) {}  // NOLINT(google-explicit-constructor)
  /// Null where there is none.
  const Stream* get() const noexcept { return stream_; }

 private:
  const Stream* stream_ = nullptr;
};

/// Whether a blob takes on the shape of what it copies; without, the shapes must be equal.
enum class WithReshape : std::uint8_t { kNo, kYes };
/// Whether a message gets the diff, too.
enum class WithDiff : std::uint8_t { kNo, kYes };

}  // namespace ferry
