// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

/// What ferry-report knows of a trace. Times are microseconds since the trace began.
namespace ferry::report {

/// The file is no trace, or a damaged one.
struct BadTrace : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A number for each text.
class Texts {
 public:
  std::uint32_t NumberOf(std::string_view text);
  const std::vector<const std::string*>& all() const noexcept { return all_; }
  const std::string& operator[](std::uint32_t number) const { return *all_[number]; }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;  ///< whose nodes stay where they are
  std::vector<const std::string*> all_;
};

enum class Kind : std::uint8_t { kCopy, kKernel, kAccess, kCall, kWait, kMark };

/// Of the timeline; one without length is a mark.
struct Slice {
  double begin, length;
  std::uint32_t track, name, details;
  Kind kind;
};
struct Flow {
  double begin, end;
  std::uint32_t from, to;  ///< tracks
};
struct Track {
  std::uint32_t pid, tid;
  std::string name;
};
/// Copies that one line caused and another one asked for.
struct Pair {
  std::uint64_t count = 0;
  double bytes = 0, time = 0;
};
/// A block of memory comes or goes.
struct Change {
  double at, bytes;  ///< negative where it goes
  std::uint32_t label;
};
struct Interval {
  double begin, end;
};
enum class ClockOf : std::uint8_t { kHost, kDevice };
/// When there were copies and kernels, by one clock.
struct Busy {
  std::vector<Interval> copies, kernels;
};
/// Of a device, or the host.
struct Space {
  std::string name;
  std::vector<Change> changes;
  std::array<Busy, 2> busy;  ///< by ClockOf

  /// The device's clock says when work ran, the host's when it was queued. Copies are held against kernels by
  /// one clock, and kernels that the program launches by a pointer have the host's alone.
  ClockOf best_clock() const noexcept {
    const bool comparable = busy[0].kernels.empty() || !busy[1].kernels.empty();
    return busy[1].copies.empty() || !comparable ? ClockOf::kHost : ClockOf::kDevice;
  }
};

struct Trace {
  /// label, from, to, stale_by, stale_as, asked_by, asked_as
  using PairKey = std::array<std::uint32_t, 7>;

  Texts texts;
  std::vector<Track> tracks;
  std::map<std::uint32_t, Space> spaces;  ///< by pid
  std::vector<Slice> slices;              ///< the longest
  std::uint64_t left_out = 0;             ///< slices that are not
  std::vector<Flow> flows;
  std::map<PairKey, Pair> pairs;
  double length = 0;
  bool truncated = false;  ///< the program died, or a disk was full

  static constexpr std::size_t kMostSlices = 100'000;
};

/// Reads what is there, and of slices and flows the most that it is told to. Throws BadTrace.
Trace ReadTrace(std::istream& in, std::size_t most_slices = Trace::kMostSlices);

}  // namespace ferry::report
