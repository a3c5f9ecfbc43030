// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "ferry/forwarding_device.hpp"

namespace ferry::gpu {

enum class StreamState : std::uint8_t { kIdle, kBusy, kUnusable };
/// Whether a stream of a device has done all its work. kUnusable is one under capture, and one of a device
/// that has failed. Waits for nothing, and leaves no last error.
using AskStream = StreamState (*)(int device, StreamHandle stream) noexcept;

/// Around the bare device: keeps streams that were given back, with what PerStream has made for them, and
/// hands them out again. For a stream costs little, and the handles of libraries much: to destroy one of
/// cuBLAS' waits for the whole device.
///
/// A stream comes again once it is idle, so that the new one follows no work of the old one. One that a
/// capture may still own is destroyed.
class StreamPoolDevice final : public FullForwardingDevice {
 public:
  static constexpr std::size_t kMostKept = 32;

  StreamPoolDevice(std::unique_ptr<Device> next, AskStream ask);
  ~StreamPoolDevice() override;

  StreamHandle CreateStream() override;
  void DestroyStream(StreamHandle stream) noexcept override;

 private:
  std::optional<StreamHandle> TakeIdle() noexcept;
  bool Keep(StreamHandle stream) noexcept;
  void Destroy(StreamHandle stream) noexcept;

  AskStream ask_;
  std::mutex mutex_;  ///< guards kept_
  std::vector<StreamHandle> kept_;
};

}  // namespace ferry::gpu
