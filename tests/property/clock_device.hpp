// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ferry/device.hpp"
#include "ferry/stream.hpp"

namespace ferry::testing {

/// Devices that share one machine, for millions of short programs. Work is done when it is queued, and a
/// vector clock says what comes before what: two uses of a byte that nothing orders, one of them a write, are
/// wrong, though they happened to run one after the other. So no missing wait passes.
class ClockMachine {
 public:
  static constexpr std::size_t kBlocks = 4, kQueues = 8;
  using Queue = std::size_t;  ///< 0 is the host
  using Clock = std::array<std::uint32_t, kQueues>;

  /// All blocks have `bytes`.
  explicit ClockMachine(std::size_t bytes) {
    for (Block& block : blocks_) block.bytes.resize(bytes), block.shadow.resize(bytes);
  }

  /// All is given back, and nothing has happened.
  void Reset() {
    for (Block& block : blocks_) block.live = false;
    for (Clock& clock : clocks_) clock.fill(0);
    events_.assign(1, {});  // 0 is no event's number
    copies = 0;
    copied = 0;
    wrong.clear();
  }
  void* Allocate(int owner, bool ordered, Queue on) {
    auto* const block = std::find_if(blocks_.begin(), blocks_.end(), [](const Block& b) { return !b.live; });
    if (block == blocks_.end()) return Wrong("no block is left"), nullptr;
    block->live = true;
    block->owner = owner;
    std::fill(block->bytes.begin(), block->bytes.end(), std::byte{0xA5});
    std::fill(block->shadow.begin(), block->shadow.end(), Byte{});
    if (ordered) Use(block->bytes.data(), block->bytes.size(), true, on);
    return block->bytes.data();
  }
  void Deallocate(void* ptr, Queue on) {
    Block& block = BlockOf(ptr);
    Use(ptr, block.bytes.size(), true, on);
    block.live = false;
  }
  /// Work queued on `on`, or done by the host, uses bytes.
  void Use(const void* ptr, std::size_t bytes, bool writes, Queue on) {
    Block& block = BlockOf(ptr);
    if (!block.live) return Wrong("memory that was given back is used");
    Clock& clock = Next(on);
    const std::size_t first = OffsetOf(block, ptr);
    for (std::size_t i = first; i < first + bytes; ++i) {
      Byte& byte = block.shadow[i];
      if (byte.written > clock[byte.writer]) Wrong("nothing orders a use after a write");
      if (writes) {
        for (Queue queue = 0; queue < kQueues; ++queue)
          if (byte.read[queue] > clock[queue]) Wrong("nothing orders a write after a read");
        byte.writer = on, byte.written = clock[on];
      } else {
        byte.read[on] = clock[on];
      }
    }
  }
  void Copy(void* dst, const void* src, std::size_t bytes, Queue on) {
    Use(src, bytes, false, on);
    Use(dst, bytes, true, on);
    std::memmove(dst, src, bytes);
    ++copies, copied += bytes;
  }
  /// Whose memory it is: what Allocate was told.
  int OwnerOf(const void* ptr) { return BlockOf(ptr).owner; }
  std::size_t Record(int backend, Queue on) {
    events_.push_back({backend, Next(on)});
    return events_.size() - 1;
  }
  void Wait(int backend, Queue waiter, std::size_t event) {
    if (events_[event].backend != backend) Wrong("an event of another backend is waited for");
    Join(waiter, events_[event].clock);
  }
  void Synchronize(Queue on) { Join(0, clocks_[on]); }
  Queue NewQueue() { return ++last_queue_; }
  void Wrong(const char* what) {
    if (wrong.empty()) wrong = what;
  }
  bool idle() const {
    return std::none_of(blocks_.begin(), blocks_.end(), [](const Block& block) { return block.live; });
  }

  long copies = 0;
  std::size_t copied = 0;  ///< in bytes
  std::string wrong;       ///< the first thing that was

 private:
  struct Byte {
    Queue writer = 0;
    std::uint32_t written = 0;
    std::array<std::uint32_t, kQueues> read{};
  };
  struct Event {
    int backend = 0;
    Clock clock{};
  };
  struct Block {
    bool live = false;
    int owner = 0;
    std::vector<std::byte> bytes{};
    std::vector<Byte> shadow{};
  };

  /// What comes next on a queue comes after all that the host has seen.
  Clock& Next(Queue on) {
    Join(on, clocks_[0]);
    ++clocks_[on][on];
    return clocks_[on];
  }
  void Join(Queue on, const Clock& before) {
    for (Queue i = 0; i < kQueues; ++i) clocks_[on][i] = std::max(clocks_[on][i], before[i]);
  }
  Block& BlockOf(const void* ptr) {
    return *std::find_if(blocks_.begin(), blocks_.end() - 1, [&](const Block& block) {
      return std::greater_equal<>()(ptr, block.bytes.data()) &&
             std::less<>()(ptr, block.bytes.data() + block.bytes.size());
    });
  }
  static std::size_t OffsetOf(const Block& block, const void* ptr) {
    return static_cast<std::size_t>(static_cast<const std::byte*>(ptr) - block.bytes.data());
  }

  std::array<Block, kBlocks> blocks_;
  std::array<Clock, kQueues> clocks_{};
  std::vector<Event> events_{1};
  Queue last_queue_ = 0;
};

/// One of its devices. Its main stream and those that it makes are queues of the machine.
class ClockDevice final : public Device {
 public:
  ClockDevice(ClockMachine& machine, int backend, int index, std::vector<int> peers)
      : machine_(machine), backend_(backend) {
    properties_.backend = "clock" + std::to_string(backend);
    properties_.index = index;
    properties_.peers = std::move(peers);
    properties_.main_stream = CreateStream();
  }

  const DeviceProperties& properties() const noexcept override { return properties_; }
  void* Allocate(MemoryKind kind, std::size_t, StreamHandle on) override {
    const bool device = kind == MemoryKind::kDevice;
    return machine_.Allocate(device ? backend_ : kHost, device, Of(on));
  }
  void Deallocate(MemoryKind kind, void* ptr, std::size_t, StreamHandle on) noexcept override {
    machine_.Deallocate(ptr, kind == MemoryKind::kDevice ? Of(on) : 0);
  }
  void Copy(CopyKind, void* dst, const void* src, std::size_t bytes, StreamHandle on) override {
    for (const int owner : {machine_.OwnerOf(dst), machine_.OwnerOf(src)})
      if (owner != kHost && owner != backend_) machine_.Wrong("a copy reaches into another backend");
    machine_.Copy(dst, src, bytes, Of(on));
  }
  void Fill(void* dst, std::byte value, std::size_t bytes, StreamHandle on) override {
    machine_.Use(dst, bytes, true, Of(on));
    std::memset(dst, std::to_integer<int>(value), bytes);
  }
  StreamHandle CreateStream() override { return StreamHandle{machine_.NewQueue()}; }
  void DestroyStream(StreamHandle) noexcept override {}
  void Synchronize(StreamHandle stream) override { machine_.Synchronize(Of(stream)); }
  EventHandle Record(StreamHandle on) override { return EventHandle{machine_.Record(backend_, Of(on))}; }
  void Release(EventHandle) noexcept override {}
  void StreamWait(StreamHandle on, EventHandle event) override {
    machine_.Wait(backend_, Of(on), static_cast<std::size_t>(event));
  }
  void HostWait(EventHandle event) override { machine_.Wait(backend_, 0, static_cast<std::size_t>(event)); }

  static ClockMachine::Queue Of(StreamHandle on) { return static_cast<ClockMachine::Queue>(on); }

 private:
  static constexpr int kHost = -1;
  ClockMachine& machine_;
  const int backend_;
  DeviceProperties properties_;
};

}  // namespace ferry::testing
