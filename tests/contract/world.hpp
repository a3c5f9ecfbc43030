// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>

#include "ferry/stream.hpp"
#include "tests/contract/subjects.hpp"

namespace ferry::contract {

inline constexpr std::size_t kBytes = 300;  ///< of a block

/// A block of memory that gives itself back on `on`.
class Block {
 public:
  Block(MemoryKind kind, std::size_t bytes, const Stream& on)
      : kind_(kind), bytes_(bytes), on_(on), ptr_(on.device().Allocate(kind, bytes, on.handle())) {}
  ~Block() { on_.device().Deallocate(kind_, ptr_, bytes_, on_.handle()); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(ptr_); }
  std::size_t bytes() const { return bytes_; }

 private:
  MemoryKind kind_;
  std::size_t bytes_;
  Stream on_;
  void* ptr_;
};

/// One subject's device: a test that makes one runs for each subject. What the simulated machine found wrong
/// is a failure when all is given back.
class World {
 public:
  World() : World(GENERATE(from_range(Subjects()))) {}
  ~World() {
    device_.reset();
    subject_.drain();
    CHECK(subject_.faults() == "");
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Device& device() { return *device_; }
  int index() const { return subject_.index; }
  bool simulated() const { return subject_.simulated; }
  Stream main() { return Stream::Main(*device_); }
  void Drain() { subject_.drain(); }

 private:
  explicit World(const Subject& subject)
      : subject_(subject),
        message_(Catch::MessageBuilder("INFO"_catch_sr, CATCH_INTERNAL_LINEINFO, Catch::ResultWas::Info)
                 << subject.name << ", seed " << subject.seed),
        device_(subject.make()) {}

  Subject subject_;
  Catch::ScopedMessage message_;
  std::unique_ptr<Device> device_;
};

inline void Fill(const Stream& on, std::byte* dst, std::size_t bytes, int value) {
  on.device().Fill(dst, static_cast<std::byte>(value), bytes, on.handle());
}
inline void Fill(const Stream& on, const Block& dst, int value) { Fill(on, dst.data(), dst.bytes(), value); }

inline void Copy(const Stream& on, CopyKind kind, const Block& dst, const Block& src) {
  on.device().Copy(kind, dst.data(), src.data(), src.bytes(), on.handle());
}

/// Whether the host sees `value` in all bytes.
inline bool Holds(const Block& block, int value) {
  return std::all_of(block.data(), block.data() + block.bytes(),
                     [&](std::byte byte) { return byte == static_cast<std::byte>(value); });
}
inline void Set(const Block& block, int value) { std::memset(block.data(), value, block.bytes()); }

}  // namespace ferry::contract
