// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "ferry/coherence.hpp"
#include "ferry/operand.hpp"
#include "ferry/site.hpp"
#include "ferry/stream.hpp"

namespace ferry {

/// Where code runs: on the CPU, where it is done when a call returns; or on a stream, where it is queued. A
/// place on a stream always means that stream's device. A value; any thread may use it.
class Place {
 public:
  /// The device's main stream.
  explicit Place(Device& device) : Place(Stream::Main(device)) {}
  /// A stream. Its device must outlive the place.
  explicit Place(Stream stream) noexcept : Place(Side::kGpu, std::move(stream)) {}
  /// The CPU, for memory of this device.
  static Place Cpu(Device& device) noexcept { return {Side::kCpu, Stream::Main(device)}; }

  /// kCpu, or kGpu for a stream.
  Side side() const noexcept { return side_; }
  /// For the CPU, the device's main stream.
  const Stream& stream() const noexcept { return stream_; }
  /// The stream's, or for the CPU the one that Cpu was given.
  Device& device() const noexcept { return stream_.device(); }

  /// A span of the elements of x, an Array, a Blob or Diff(blob), for code that runs here and only looks: on
  /// the CPU at once, on a stream for work that is queued there next. The span does not keep the elements
  /// alive. Throws what an access of SyncedMemory throws.
  template <ArrayLike X>
  auto Read(X&& x, Site site = Site::Caller()) const {
    return SpanOf<Access::kRead, const ElementOf<X>>(x, site);
  }
  /// The same for code that changes elements, or needs the old ones.
  template <ArrayLike X>
  auto ReadWrite(X&& x, Site site = Site::Caller()) const {
    detail::RequireWritable<X>();
    return SpanOf<Access::kReadWrite, ElementOf<X>>(x, site);
  }
  /// The same for code that writes every element and looks at no old one: nothing is copied or zeroed.
  template <ArrayLike X>
  auto Overwrite(X&& x, Site site = Site::Caller()) const {
    detail::RequireWritable<X>();
    return SpanOf<Access::kOverwrite, ElementOf<X>>(x, site);
  }

 private:
  Place(Side side, Stream stream) noexcept : side_(side), stream_(std::move(stream)) {}

  /// Looks at no more of x than it needs where the bytes are in place.
  template <Access kAccess, class T, class X>
  std::span<T> SpanOf(const X& x, Site site) const {
    using Of = detail::PartOf<X>;
    const detail::InPlace in_place = Of::Short(x);
    void* const ptr = side_ == Side::kCpu ? in_place.OnCpu<kAccess>([&] {
      return detail::Reach(Of::Of(x), kAccess, nullptr, site.file(), site.function(), site.line());
    })
                                          : in_place.OnGpu<kAccess>(stream_, [&] {
                                              return detail::Reach(Of::Of(x), kAccess, &stream_, site.file(),
                                                                   site.function(), site.line());
                                            });
    return {static_cast<T*>(ptr), static_cast<std::size_t>(Of::CountOf(x))};
  }

  Side side_;
  Stream stream_;
};

/// A place, with the site of the call that names it. The first argument of each kernel: a Place converts to
/// it.
class At {
 public:
  /// Refers to the place. The site is the caller's.
  At(const Place& place,  // NOLINT(google-explicit-constructor): a call says a place
     Site site = Site::Caller()) noexcept
      : place_(&place), site_(site) {}

  /// Where the kernel is to run.
  const Place& place() const noexcept { return *place_; }
  /// The call.
  const Site& site() const noexcept { return site_; }

 private:
  const Place* place_;
  Site site_;
};

}  // namespace ferry
