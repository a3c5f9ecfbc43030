// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <typeindex>
#include <typeinfo>

#include "ferry/forwarding_device.hpp"
#include "ferry/stream.hpp"

/// What libraries keep for each stream, a handle or an instance: made on first use, given back before the
/// stream and with the device. Any thread may call.
namespace ferry::gpu {

/// The one of type T for `on`; `make` makes it where there is none, and may throw.
std::shared_ptr<void> PerStream(std::type_index type, const Stream& on,
                                const std::function<std::shared_ptr<void>()>& make);
template <class T, class Make>
std::shared_ptr<T> PerStream(const Stream& on, Make make) {
  return std::static_pointer_cast<T>(PerStream(typeid(T), on, make));
}
/// Gives back all of type T.
void ForgetAll(std::type_index type) noexcept;

/// Around the bare device: sees its streams and itself go.
class PerStreamDevice final : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  ~PerStreamDevice() override;
  void DestroyStream(StreamHandle stream) noexcept override;
  std::optional<EventHandle> CopyAndRecord(CopyKind kind, void* dst, const void* src, std::size_t bytes,
                                           StreamHandle on) override {
    return next().CopyAndRecord(kind, dst, src, bytes, on);
  }
  void Order(std::span<const StreamHandle> before, StreamHandle then) override {
    next().Order(before, then);
  }
};

}  // namespace ferry::gpu
