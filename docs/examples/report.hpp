// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ferry/ferry.hpp"

namespace fashion {

/// A line for an epoch, rewritten while it runs if somebody is watching.
class Progress {
 public:
  Progress(std::int64_t epoch, std::int64_t epochs, std::int64_t images)
      : epoch_(epoch), epochs_(epochs), images_(images) {}

  /// Whether to Show, after `done` images: to know the loss takes a wait for the device.
  bool Due(std::int64_t done) const {
    return done == images_ ||
           (isatty(STDOUT_FILENO) != 0 && Clock::now() - shown_ > std::chrono::milliseconds(200));
  }
  void Show(std::int64_t done, double loss) {
    shown_ = Clock::now();
    const double seconds = std::chrono::duration<double>(shown_ - start_).count();
    std::printf("epoch %lld/%lld %8lld images %9.0f images/s   loss %.4f%s", static_cast<long long>(epoch_),
                static_cast<long long>(epochs_), static_cast<long long>(done),
                static_cast<double>(done) / seconds, loss, done == images_ ? "\n" : "\r");
    std::fflush(stdout);
  }

 private:
  using Clock = std::chrono::steady_clock;
  const std::int64_t epoch_, epochs_, images_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point shown_ = start_;
};

/// While it lives, it notes each change of state of the memories that have a name.
class Trace {
 public:
  using Names = std::map<const ferry::SyncedMemory*, std::string>;

  explicit Trace(Names names) : names_(std::move(names)) {}

  /// Prints what was noted since the last call, and returns how many calls there were.
  int PrintStep() {
    std::printf("step %d\n", ++steps_);
    Row("memory", "before", "access", "action", "after");
    for (const ferry::AccessRecord& record : records_) {
      const std::string bytes = record.bytes == 0 ? "" : ' ' + std::to_string(record.bytes) + " bytes";
      Row(names_.at(record.memory), Name(record.before),
          std::string(Name(record.side)) + ' ' + Name(record.access), Name(record.action) + bytes,
          Name(record.after));
    }
    records_.clear();
    return steps_;
  }

 private:
  static void Row(const std::string& memory, const std::string& before, const std::string& access,
                  const std::string& action, const std::string& after) {
    std::printf("  %-14s%-15s%-15s%-20s%s\n", memory.c_str(), before.c_str(), access.c_str(), action.c_str(),
                after.c_str());
  }

  const Names names_;
  std::vector<ferry::AccessRecord> records_;
  int steps_ = 0;
  const ferry::Watch watch_{[this](const ferry::AccessRecord& record) {
    if (names_.contains(record.memory)) records_.push_back(record);
  }};
};

inline void PrintStatistics(const ferry::Statistics& done) {
  const auto row = [](const char* what, const ferry::Statistics::Work& work) {
    std::printf("  %-18s%10llu%16llu\n", what, static_cast<unsigned long long>(work.count),
                static_cast<unsigned long long>(work.bytes));
  };
  std::printf("  %-18s%10s%16s\n", "", "count", "bytes");
  row("host to device", done.host_to_device);
  row("device to host", done.device_to_host);
  row("device to device", done.device_to_device);
  row("fills", done.fills);
  row("allocations", done.allocations);
}

}  // namespace fashion
