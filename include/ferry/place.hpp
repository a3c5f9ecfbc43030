// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "ferry/coherence.hpp"
#include "ferry/operand.hpp"
#include "ferry/stream.hpp"

namespace ferry {

/// Where code runs: on the CPU, and then it is done when a call returns; or on a stream, queued. A place on a
/// stream always means that stream's device. A value; any thread may use it.
class Place {
 public:
  /// The device's main stream.
  explicit Place(Device& device) : Place(Stream::Main(device)) {}
  explicit Place(Stream stream) noexcept : Place(Side::kGpu, std::move(stream)) {}
  /// The CPU, for memory of this device.
  static Place Cpu(Device& device) noexcept { return {Side::kCpu, Stream::Main(device)}; }

  Side side() const noexcept { return side_; }
  /// On the CPU, the device's main stream.
  const Stream& stream() const noexcept { return stream_; }
  Device& device() const noexcept { return stream_.device(); }

  /// The elements of x, an Array, a Blob or Diff(blob), for code that runs here: on the CPU at once, on a
  /// stream for work that is queued there next. The span does not keep them alive. An access like any other
  /// of SyncedMemory, which says what it throws.
  template <ArrayLike X>
  auto Read(X&& x) const {
    return SpanOf<Access::kRead>(ferry::Read(x));
  }
  template <ArrayLike X>
  auto ReadWrite(X&& x) const {
    return SpanOf<Access::kReadWrite>(ferry::ReadWrite(x));
  }
  template <ArrayLike X>
  auto Overwrite(X&& x) const {
    return SpanOf<Access::kOverwrite>(ferry::Overwrite(x));
  }

 private:
  Place(Side side, Stream stream) noexcept : side_(side), stream_(std::move(stream)) {}

  template <Access kAccess, class T>
  std::span<T> SpanOf(const Operand<T>& operand) const {
    const detail::Part& part = operand.part();
    void* const ptr =
        part.range.bytes == ByteRange::kRest ? Whole<kAccess>(*part.memory) : Some(operand.request());
    return {static_cast<T*>(ptr), static_cast<std::size_t>(part.count)};
  }
  /// The short way: no more than the memory's own access.
  template <Access kAccess>
  void* Whole(SyncedMemory& memory) const {
    const bool cpu = side_ == Side::kCpu;
    if constexpr (kAccess == Access::kRead)
      return const_cast<void*>(cpu ? memory.cpu_data() : memory.gpu_data(stream_));
    else if constexpr (kAccess == Access::kReadWrite)
      return cpu ? memory.mutable_cpu_data() : memory.mutable_gpu_data(stream_);
    else
      return cpu ? memory.overwrite_cpu_data() : memory.overwrite_gpu_data(stream_);
  }
  void* Some(const detail::Request& request) const {
    void* ptr = nullptr;
    detail::TakeAt(*this, std::span(&request, 1), std::span(&ptr, 1));
    return ptr;
  }

  Side side_;
  Stream stream_;
};

/// A place, and where in the program it was said: what each kernel takes first. Made of a Place as the call
/// is written.
class At {
 public:
  At(const Place& place,  // NOLINT(google-explicit-constructor): a call says a place
     const char* file = __builtin_FILE(), int line = __builtin_LINE()) noexcept
      : place_(&place), file_(file), line_(line) {}

  const Place& place() const noexcept { return *place_; }
  const char* file() const noexcept { return file_; }
  int line() const noexcept { return line_; }

 private:
  const Place* place_;
  const char* file_;
  int line_;
};

}  // namespace ferry
