// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "ferry/site.hpp"
#include "ferry/stream.hpp"

/// What calls of a Blob are told. Included by ferry/blob.hpp.
namespace ferry {

/// The two arrays of a blob.
enum class BlobPart : std::uint8_t { kData, kDiff };

/// A stream, or none, and the site of the call. For the length of a call.
class OnStream {
 public:
  /// None: the call chooses.
  OnStream(Site site = Site::Caller()) noexcept : site_(site) {}  // NOLINT(google-explicit-constructor)
  /// This one, which must live as long as the call.
  OnStream(const Stream& stream,  // NOLINT(google-explicit-constructor)
           Site site = Site::Caller()) noexcept
      : stream_(&stream), site_(site) {}
  /// Null where there is none.
  const Stream* get() const noexcept { return stream_; }
  /// The call.
  const Site& site() const noexcept { return site_; }

 private:
  const Stream* stream_ = nullptr;
  Site site_;
};

/// Whether a blob takes on the shape of what it copies; without, the shapes must be equal.
enum class WithReshape : std::uint8_t { kNo, kYes };
/// Whether a message gets the diff, too.
enum class WithDiff : std::uint8_t { kNo, kYes };

}  // namespace ferry
