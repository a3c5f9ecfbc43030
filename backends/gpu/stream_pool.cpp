// SPDX-License-Identifier: BSD-2-Clause
#include "backends/gpu/stream_pool.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "backends/gpu/per_stream.hpp"

namespace ferry::gpu {

StreamPoolDevice::StreamPoolDevice(std::unique_ptr<Device> next, AskStream ask)
    : FullForwardingDevice(std::move(next)), ask_(ask) {
  kept_.reserve(kMostKept);  // so that to keep one cannot fail
}

StreamPoolDevice::~StreamPoolDevice() {
  for (const StreamHandle stream : kept_) Destroy(stream);
  ForgetDevice(properties().index);
}

StreamHandle StreamPoolDevice::CreateStream() {
  const auto idle = TakeIdle();
  return idle ? *idle : next().CreateStream();
}

void StreamPoolDevice::DestroyStream(StreamHandle stream) noexcept {
  if (!Keep(stream)) Destroy(stream);
}

/// The one that was given back first has had most time to become idle.
std::optional<StreamHandle> StreamPoolDevice::TakeIdle() noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](StreamHandle stream) {
    return ask_(properties().index, stream) == StreamState::kIdle;
  });
  if (found == kept_.end()) return std::nullopt;
  const StreamHandle stream = *found;
  kept_.erase(found);
  return stream;
}

bool StreamPoolDevice::Keep(StreamHandle stream) noexcept try {
  // Else what the device keeps for a capture that is over would wait for the next use.
  next().Order({}, stream);
  if (ask_(properties().index, stream) == StreamState::kUnusable) return false;
  const std::lock_guard lock(mutex_);
  if (kept_.size() == kMostKept) return false;
  kept_.push_back(stream);
  return true;
} catch (const std::exception&) {
  return false;
}

void StreamPoolDevice::Destroy(StreamHandle stream) noexcept {
  ForgetStream(properties().index, stream);
  next().DestroyStream(stream);
}

}  // namespace ferry::gpu
