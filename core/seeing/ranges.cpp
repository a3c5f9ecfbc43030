// SPDX-License-Identifier: BSD-2-Clause
#include "core/seeing/ranges.hpp"

#include <optional>
#include <utility>

#include "core/seeing/words.hpp"
#include "ferry/log.hpp"
#include "ferry/stream.hpp"

namespace ferry::detail {
namespace {

/// Of the calling thread, which queues one copy at a time.
thread_local std::optional<std::uint64_t> open_range;

class RangesObserver : public Observer {
 public:
  explicit RangesObserver(const ProfilerRanges& profiler) : profiler_(profiler) {}

  using Observer::On;
  using Observer::OnFailure;
  using Observer::OnStart;
  void OnStart(const CopyRecord& copy) override {
    const std::string text = "copy " + NameOf(*copy.memory) + ", " + BytesInWords(copy.range.bytes) +
                             " from " + NameOfSpace(copy.from) + " to " + NameOfSpace(copy.to) + " for " +
                             NameOf(copy.site);
    open_range = profiler_.begin(text.c_str());
  }
  void On(const CopyRecord&) override { End(); }
  void OnFailure(const CopyRecord&) override { End(); }
  void On(const AccessRecord& access) override {
    const std::string text = InWords(access);
    profiler_.mark(text.c_str());
  }

 private:
  void End() noexcept {
    if (open_range) profiler_.end(*open_range);
    open_range.reset();
  }

  const ProfilerRanges& profiler_;
};

}  // namespace

std::shared_ptr<Observer> RangesOf(const ProfilerRanges& profiler) {
  return std::make_shared<RangesObserver>(profiler);
}

std::shared_ptr<Observer> RangesOfProgram(const std::string& wanted, std::span<const Backend> backends) {
  if (wanted.empty() || wanted == "0") return nullptr;
  if (wanted != "1") {
    Log(LogLevel::kWarning, "FERRY_RANGES=" + wanted + " is not a value: 0, 1");
    return nullptr;
  }
  for (const Backend& backend : backends)
    if (const ProfilerRanges* const profiler = backend.ranges != nullptr ? backend.ranges() : nullptr)
      return RangesOf(*profiler);
  Log(LogLevel::kWarning,
      "FERRY_RANGES: this build has no profiler's ranges; -DFERRY_BACKEND=cuda has, where CMake finds the "
      "toolkit's nvtx3, and hip where it finds roctracer and the program its library");
  return nullptr;
}

}  // namespace ferry::detail
