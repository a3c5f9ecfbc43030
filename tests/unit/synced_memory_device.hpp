// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ferry/device.hpp"
#include "ferry/error.hpp"
#include "ferry/stream.hpp"

namespace ferry::testing {

using Calls = std::vector<std::string>;

/// A device that writes down its calls, and does queued work only when the host waits for it, in the order in
/// which it was queued. Streams are called main, s1, s2 ..., events e1, e2 ...
class LogDevice final : public Device {
 public:
  explicit LogDevice(bool unified = false) {
    properties_.backend = "log";
    properties_.unified = unified;
    properties_.main_stream = StreamHandle{1};
  }

  /// The calls since the last time that this was asked.
  Calls Take() { return std::exchange(calls_, {}); }
  /// The n-th call from now on throws, before its work or after it.
  void FailAt(int nth, bool after_its_work = false) { fail_in_ = nth, fail_after_ = after_its_work; }
  /// All calls throw from now on: the driver is gone.
  void Fail() { gone_ = true; }
  /// Streams, events and blocks that were not given back.
  std::size_t live() const { return blocks_.size() + streams_ + events_; }
  /// A caller's kernel.
  void Launch(std::function<void()> body) { work_.push_back(std::move(body)); }
  void RunAll() { RunUntil(done_ + work_.size()); }

  const DeviceProperties& properties() const noexcept override { return properties_; }

  void* Allocate(MemoryKind kind, std::size_t bytes, StreamHandle on) override {
    const Call call(*this,
                    std::string("allocate ") + Name(kind) + ' ' + std::to_string(bytes) + Order(kind, on));
    auto block = std::make_unique<unsigned char[]>(bytes);
    std::memset(block.get(), 0xA5, bytes);
    void* const ptr = block.get();
    call.End();
    blocks_[ptr] = std::move(block);
    return ptr;
  }
  void Deallocate(MemoryKind kind, void* ptr, std::size_t bytes, StreamHandle on) noexcept override {
    calls_.push_back(std::string("deallocate ") + Name(kind) + ' ' + std::to_string(bytes) + Order(kind, on));
    if (kind == MemoryKind::kDevice) RunAll();
    blocks_.erase(ptr);
  }
  void Copy(CopyKind kind, void* dst, const void* src, std::size_t bytes, StreamHandle on) override {
    const char* const name = kind == CopyKind::kHostToDevice   ? "to device "
                             : kind == CopyKind::kDeviceToHost ? "to host "
                                                               : "within device ";
    const Call call(*this, name + std::to_string(bytes) + " on " + Name(on));
    work_.emplace_back([=] { std::memcpy(dst, src, bytes); });
    call.End();
  }
  void Fill(void* dst, std::byte value, std::size_t bytes, StreamHandle on) override {
    const Call call(*this, "fill " + std::to_string(bytes) + " on " + Name(on));
    work_.emplace_back([=] { std::memset(dst, std::to_integer<int>(value), bytes); });
    call.End();
  }
  StreamHandle CreateStream() override {
    const Call call(*this, "create stream");
    ++streams_;
    if (given_back_) return *std::exchange(given_back_, std::nullopt);
    return StreamHandle{++last_stream_};
  }
  void DestroyStream(StreamHandle stream) noexcept override {
    calls_.push_back("destroy " + Name(stream));
    given_back_ = stream;
    --streams_;
  }
  void Synchronize(StreamHandle stream) override {
    const Call call(*this, "synchronize " + Name(stream));
    RunAll();
    call.End();
  }
  EventHandle Record(StreamHandle on) override {
    const Call call(*this, "record e" + std::to_string(last_event_ + 1) + " on " + Name(on));
    call.End();
    ++events_;
    points_[++last_event_] = done_ + work_.size();
    return EventHandle{last_event_};
  }
  void Release(EventHandle) noexcept override { --events_; }
  void StreamWait(StreamHandle on, EventHandle event) override {
    const Call call(*this, Name(on) + " waits for " + Name(event));
    call.End();
  }
  bool Reached(EventHandle event) noexcept override {
    return points_.at(static_cast<std::uintptr_t>(event)) <= done_;
  }
  void HostWait(EventHandle event) override {
    const Call call(*this, "host waits for " + Name(event));
    RunUntil(points_.at(static_cast<std::uintptr_t>(event)));
    call.End();
  }

 private:
  /// Notes the call; fails where it should, before its work or, at End, after it.
  class Call {
   public:
    Call(LogDevice& device, const std::string& what)
        : fails_(--device.fail_in_ == 0 || device.gone_), device_(device) {
      device.calls_.push_back(what);
      if (fails_ && !device.fail_after_) Fail();
    }
    void End() const {
      if (fails_ && device_.fail_after_) Fail();
    }

   private:
    [[noreturn]] static void Fail() { throw DeviceError("LogDevice", 1, "asked to fail"); }
    bool fails_;
    LogDevice& device_;
  };

  void RunUntil(std::size_t point) {
    for (; done_ < point; ++done_) {
      const auto body = std::move(work_.front());
      work_.pop_front();
      body();
    }
  }

  static const char* Name(MemoryKind kind) {
    return kind == MemoryKind::kDevice ? "device" : kind == MemoryKind::kPinnedHost ? "pinned" : "managed";
  }
  static std::string Name(StreamHandle on) {
    const auto number = static_cast<std::uintptr_t>(on);
    return number == 1 ? "main" : "s" + std::to_string(number - 1);
  }
  static std::string Name(EventHandle event) {
    return "e" + std::to_string(static_cast<std::uintptr_t>(event));
  }
  static std::string Order(MemoryKind kind, StreamHandle on) {
    return kind == MemoryKind::kDevice ? " on " + Name(on) : "";
  }

  DeviceProperties properties_;
  Calls calls_;
  int fail_in_ = 0;
  bool fail_after_ = false, gone_ = false;
  std::map<void*, std::unique_ptr<unsigned char[]>> blocks_;
  std::deque<std::function<void()>> work_;
  std::map<std::uintptr_t, std::size_t> points_;
  std::size_t done_ = 0, streams_ = 0, events_ = 0;
  std::uintptr_t last_stream_ = 1, last_event_ = 0;
  std::optional<StreamHandle> given_back_;  ///< comes again at once
};

inline std::vector<int> Bytes(const void* ptr, std::size_t size) {
  const auto* const first = static_cast<const unsigned char*>(ptr);
  return {first, first + size};
}

}  // namespace ferry::testing
