// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "memory.hpp"

namespace ferry::sim {

/// Memory that work uses: the bytes from `first` up to `last` of a block.
struct Use {
  Block* block;
  std::size_t first, last;
  bool writes;
};

/// One queue's accesses of memory. All accesses are numbered as they are queued, from 1.
struct Timeline {
  int device;
  std::uint64_t newest = 0;
  std::uint64_t seen = 0;      ///< up to this number the host has waited for them
  std::size_t remembered = 0;  ///< by RaceCheck
};

/// What comes before a point in a queue's work: of each queue, the accesses up to a number. A vector clock
/// that knows the queues by whose accesses it matters.
class Clock {
 public:
  void Join(const std::shared_ptr<Timeline>& of, std::uint64_t until);
  void Join(const Clock& other);
  bool Covers(const Timeline& of, std::uint64_t number) const;
  /// The host has waited for this point.
  void ShowToHost() const;

 private:
  struct Entry {
    std::shared_ptr<Timeline> of;
    std::uint64_t until;
    bool matters() const { return of->remembered != 0 && until > of->seen; }
  };
  std::vector<Entry> entries_;
};

/// Finds races: two accesses of the same bytes, one of them a write, and nothing (no stream, event or wait of
/// the host) that puts them in order, however they happened to run. All threads of the host count as one. Of
/// each block it remembers the accesses that something could race with still, at most kMost.
class RaceCheck {
 public:
  void Reset(int devices, bool on);
  /// Work that is queued on `of`, after all that `clock` covers. Says which races there are.
  std::vector<std::string> Note(const Call& call, const std::vector<Use>& uses,
                                const std::shared_ptr<Timeline>& of, const Clock& clock);
  /// The host has waited for all that is queued on a device by now.
  void ShowToHost(int device) { seen_[static_cast<std::size_t>(device)] = newest_; }
  /// Nobody can use the block any more.
  void Forget(const Block& block);

 private:
  static constexpr std::size_t kMost = 64;

  struct Access {
    std::size_t first, last;
    bool writes;
    std::shared_ptr<Timeline> of;
    std::uint64_t number;
    Call call;
  };
  using Accesses = std::vector<Access>;

  bool SeenByHost(const Access& access) const;
  template <class Which>
  static void Erase(Accesses& accesses, Which which);

  bool on_ = true;
  std::uint64_t newest_ = 0;
  std::vector<std::uint64_t> seen_;  ///< of each device, by the host
  std::unordered_map<const Block*, Accesses> accesses_;
};

}  // namespace ferry::sim
