// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "backends/gpu/current_device.hpp"
#include "backends/gpu/per_stream.hpp"
#include "ferry/error.hpp"

namespace ferry::gpu {

/// The handle of a vendor's library, whose work is that of one stream. Names is the library as a struct: what
/// cuBLAS calls cublas<Name>. One for each stream: its workspace may be in use until the stream has done its
/// work. One thread at a time: no vendor says that a handle is for several.
template <class Names>
class LibraryHandle {
 public:
  using Status = typename Names::Status;

  /// Made on first use. The stream's device is the current one.
  static std::shared_ptr<LibraryHandle> For(const Stream& on) {
    return PerStream<LibraryHandle>(on, [&] { return std::make_shared<LibraryHandle>(on); });
  }

  explicit LibraryHandle(const Stream& on) : device_(on.device().properties().index) {
    Upkeep([&] {
      Check("Create", Names::Create(&handle_));
      const auto status = Names::SetStream(handle_, Names::Native(on));
      if (status != Names::kSuccess) (void)Names::Destroy(handle_);
      Check("SetStream", status);
    });
  }
  ~LibraryHandle() {
    try {
      const CurrentDevice current(device_);
      Upkeep([&] { (void)Names::Destroy(handle_); });
    } catch (const Error&) {  // the driver is gone, and the handle with it
    }
  }
  LibraryHandle(const LibraryHandle&) = delete;
  LibraryHandle& operator=(const LibraryHandle&) = delete;

  template <class Function, class... Arguments>
  void Call(const char* call, Function function, Arguments... arguments) {
    Check(call, Ask(function, arguments...));
  }
  /// Without a word about what the answer is.
  template <class Function, class... Arguments>
  Status Ask(Function function, Arguments... arguments) {
    const std::lock_guard lock(mutex_);
    Status status{};
    Upkeep([&] { status = function(handle_, arguments...); });
    return status;
  }

  /// Throws DeviceError unless the call succeeded.
  static void Check(const char* call, Status status) {
    if (status != Names::kSuccess)
      throw DeviceError(std::string(Names::kName) + call, static_cast<int>(status),
                        Names::StatusString(status));
  }

 private:
  int device_;
  std::mutex mutex_;
  typename Names::Handle handle_{};
};

}  // namespace ferry::gpu
