// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <compare>
#include <functional>
#include <memory>
#include <thread>
#include <typeindex>
#include <typeinfo>

#include "ferry/stream.hpp"

/// What libraries keep for each stream, a handle or an instance: made on first use, and kept until somebody
/// says Forget. Any thread may call. Nothing is made or destroyed under a lock that other streams need.
namespace ferry::gpu {

/// The default stream per thread: one handle for a queue in each thread. CUDA and HIP have the same one, as
/// their backends assert.
inline constexpr StreamHandle kPerThreadStream{2};

/// A queue, as the calling thread knows it.
struct QueueId {
  explicit QueueId(StreamHandle stream) noexcept
      : on(stream), thread(on == kPerThreadStream ? std::this_thread::get_id() : std::thread::id()) {}
  // NOLINTNEXTLINE(modernize-use-nullptr): misread by the check
  friend auto operator<=>(const QueueId&, const QueueId&) = default;
  StreamHandle on;
  std::thread::id thread;
};

/// The one of type T for `on`; `make` makes it where there is none, and may throw. Of kPerThreadStream each
/// thread has its own, which goes when the thread ends.
std::shared_ptr<void> PerStream(std::type_index type, const Stream& on,
                                const std::function<std::shared_ptr<void>()>& make);
template <class T, class Make>
std::shared_ptr<T> PerStream(const Stream& on, Make make) {
  return std::static_pointer_cast<T>(PerStream(typeid(T), on, make));
}

/// Gives back all of type T.
void ForgetAll(std::type_index type) noexcept;
/// Gives back all of a device.
void ForgetDevice(int device) noexcept;
/// Gives back all of a stream. Nobody may use the stream meanwhile.
void ForgetStream(int device, StreamHandle stream) noexcept;

/// Work queued on `on` from now on follows what the device's main stream has been given. For libraries that
/// fill memory of a new thing by way of the main stream, which our own streams do not wait for. Where `on` is
/// under capture, the host waits. Throws DeviceError.
void FollowMain(const Stream& on);

}  // namespace ferry::gpu
