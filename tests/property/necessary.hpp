// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "ferry/synced_memory.hpp"

namespace ferry::testing {

/// How many bytes any strategy must move for the accesses of a memory by the host and two devices (spaces 0,
/// 1, 2), knowing the future: for each byte, the cheapest way through all sets of spaces that may hold it.
/// And how many runs of stale bytes that have one source these accesses meet; a run that goes by way of the
/// host is two.
class Necessary {
 public:
  enum class Peers : bool { kNo, kYes };  ///< whether the devices reach each other

  Necessary(std::size_t size, Peers peers) : peers_(peers == Peers::kYes), bytes_(size) {}

  void Access(ByteRange range, unsigned space, Access access) {
    unsigned before = kNone;
    for (std::size_t i = range.first; i < range.first + range.bytes; ++i) {
      Byte& byte = bytes_[i];
      const unsigned source = access == Access::kOverwrite ? kNone : SourceOf(byte.held, space);
      if (source != kNone && source != before) runs_ += peers_ || space == 0 || source == 0 ? 1 : 2;
      before = source;
      byte.Access(space, access, peers_);
    }
  }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Byte& byte : bytes_) sum += *std::min_element(byte.cost.begin(), byte.cost.end());
    return sum;
  }
  long runs() const { return runs_; }

 private:
  static constexpr unsigned kSets = 8, kNone = ~0U;
  static constexpr std::size_t kNever = 1000000;

  struct Byte {
    std::array<std::size_t, kSets> cost{0, kNever, kNever, kNever, kNever, kNever, kNever, kNever};
    unsigned held = 0;  ///< by those who fetch when they must, and no sooner

    void Access(unsigned space, ferry::Access access, bool peers) {
      const unsigned here = 1U << space;
      const bool reads = access == ferry::Access::kRead;
      // A copy to one more space, at any time.
      for (unsigned set = 1; set < kSets; ++set)
        for (unsigned more = 1; more < kSets; more <<= 1)
          if ((set & more) == 0 && (peers || more == 1 || (set & 1) != 0))
            cost[set | more] = std::min(cost[set | more], cost[set] + 1);
      std::array<std::size_t, kSets> next;
      next.fill(kNever);
      for (unsigned set = 0; set < kSets; ++set) {
        const bool lacks = access != ferry::Access::kOverwrite && set != 0 && (set & here) == 0;
        const unsigned after = reads && set != 0 ? set : here;  // what nobody holds becomes zeros here
        if (!lacks) next[after] = std::min(next[after], cost[set]);
      }
      cost = next;
      const bool by_host = reads && !peers && space != 0 && held != 0 && (held & here) == 0;
      held = reads ? held | here | (by_host ? 1U : 0U) : here;
    }
  };
  /// Where a byte that `space` lacks comes from: the nearest.
  unsigned SourceOf(unsigned held, unsigned space) const {
    if (held == 0 || (held & 1U << space) != 0) return kNone;
    if (space == 0) return (held & 2) != 0 ? 1 : 2;
    const unsigned other = 3 - space;
    return (held & 1U << other) != 0 && (peers_ || (held & 1) == 0) ? other : 0;
  }

  bool peers_;
  std::vector<Byte> bytes_;
  long runs_ = 0;
};

}  // namespace ferry::testing
