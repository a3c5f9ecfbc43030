// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "ferry/observer.hpp"

namespace ferry {

/// Of a section of a program, on one device.
struct OverlapTimes {
  std::uint64_t bytes = 0;      ///< moved by copies that memories queued
  std::uint64_t untimed = 0;    ///< of these bytes, those of copies that no event could be recorded around
  std::int64_t copying_ns = 0;  ///< of all copies that were timed, one after the other; in nanoseconds
  std::int64_t hidden_ns = 0;   ///< of this, while a kernel of another stream was at work; in nanoseconds
};

/// Measures a section of a program: how long the copies of its memories on one device take, and how much of
/// that is hidden behind kernels. Times are the device's own, by measuring events; a copy on a stream begins
/// when that stream's work before it is done. Ferry sees no kernels: the caller says where they are queued.
///
///     ferry::Overlap overlap(device);
///     next.Prefetch(ferry::Side::kGpu, copies);
///     {
///       const ferry::Overlap::Kernels kernels(overlap, gpu.stream());
///       Axpy(gpu, 2, x, y);
///     }
///     const ferry::OverlapTimes times = overlap.End();
///
/// It keeps two events for each copy, and two for each Kernels, until End: it is for sections, not for whole
/// programs. Any thread may call, except that one thread ends it, when no other begins a Kernels; all
/// threads' copies on the device count.
class [[nodiscard]] Overlap {
  class Section;

 public:
  /// The section begins. The device must outlive it. Throws std::logic_error for a device that has no clock
  /// and in a call of an observer, and DeviceError.
  explicit Overlap(Device& device);
  ~Overlap();
  Overlap(const Overlap&) = delete;
  Overlap& operator=(const Overlap&) = delete;

  /// What is queued on a stream while it lives are kernels, which can hide copies of other streams. The
  /// stream counts as at work from the last access or copy on it during that time, so that waits for operands
  /// are not taken for work, until this ends. Make one for each kernel, or one for several whose operands are
  /// in place. Bytes that such an access zeroes, and waits that the program itself queues meanwhile, do
  /// count. One whose stream is under graph capture when it begins or ends counts nothing.
  class [[nodiscard]] Kernels {
   public:
    /// Throws std::invalid_argument for a stream of another device than the section's, std::logic_error after
    /// End, and DeviceError.
    Kernels(Overlap& section, const Stream& on);
    ~Kernels();
    Kernels(const Kernels&) = delete;
    Kernels& operator=(const Kernels&) = delete;

   private:
    std::shared_ptr<Section> section_;
    std::size_t number_;
  };

  /// The section ends. The host waits for its copies and kernels. Again, it returns the same. Throws
  /// std::logic_error while a Kernels lives, and DeviceError.
  OverlapTimes End(const Site& site = Site::Caller());

 private:
  std::shared_ptr<Section> section_;
  std::optional<Watch> watch_;  ///< until End
};

}  // namespace ferry
