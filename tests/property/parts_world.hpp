// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ferry/detail/take.hpp"
#include "ferry/sim.hpp"
#include "ferry/synced_memory.hpp"

namespace ferry::testing {

/// Some bytes of a memory, and what is done with them.
struct Part {
  static constexpr std::size_t kSize = 48;  ///< of the memories
  std::size_t memory, first, bytes;
  Access access;
};

/// What a user does in one step; numbers are drawn beforehand, so that a walk can be cut.
struct Move {
  enum class Kind : std::uint8_t {
    kAccess,
    kPrefetch,
    kRelease,
    kResize,
    kNewStream,
    kForget,
    kRenew,
    kAssign,  ///< from the other memory; a read: of the first bytes, else to the part
    kAdopt,   ///< bytes of the caller's, on the host
  } kind;
  static constexpr int kKinds = 9;
  int device;  ///< -1: the host
  unsigned stream;
  std::vector<Part> parts;  ///< at least one
};
std::string Describe(const std::vector<Move>& moves);

/// Two memories whose parts are used on the host, on simulated GPUs, and on the host device, which is the
/// last one, with a model of every byte.
class PartsWorld {
 public:
  static constexpr int kGpus = 3, kDevices = kGpus + 1;
  explicit PartsWorld(const sim::Options& options);
  ~PartsWorld() { Finish(); }
  PartsWorld(const PartsWorld&) = delete;
  PartsWorld& operator=(const PartsWorld&) = delete;

  /// A fault strikes once, so that the second time is good.
  void Apply(const Move& move);
  /// Everything dies with work still queued; then all work runs. Says what was wrong, or nothing.
  std::string Finish();

 private:
  /// A stream, and who ends it.
  struct Lane {
    static Lane Lent(Device& device);
    Stream stream;
    std::shared_ptr<Device> lent;  ///< ends a borrowed one; else null
  };
  void Wrong(std::string what) {
    if (wrong_.empty()) wrong_ = std::move(what);
  }
  void Renew(std::size_t i, std::uint64_t draw);
  const Stream& StreamOf(const Move& move) const;
  ByteRange RangeOf(const Part& part) const;
  void Try(const Move& move);
  void NewStream(const Move& move);
  void AccessAll(const Move& move);
  void Resize(const Part& part);
  void Assign(const Move& move);
  void Adopt(const Part& part);

  std::array<std::unique_ptr<Device>, kDevices> devices_;
  std::array<std::vector<Lane>, kDevices> streams_;
  std::array<std::shared_ptr<void>, 2> lent_;  ///< outlive the memories
  std::array<std::unique_ptr<SyncedMemory>, 2> memories_;
  std::array<std::array<std::uint8_t, Part::kSize>, 2> models_{};
  std::array<std::size_t, 2> sizes_{};
  std::uint8_t version_ = 0;
  std::string wrong_;
};

/// A fresh world, the moves, and the end. Says what was wrong, or nothing.
std::string RunParts(const sim::Options& options, const std::vector<Move>& moves);

}  // namespace ferry::testing
