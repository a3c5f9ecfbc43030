// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/overlap.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "core/device/name.hpp"
#include "core/device/told_wait.hpp"
#include "ferry/detail/stream_note.hpp"
#include "ferry/error.hpp"
#include "ferry/stream.hpp"

namespace ferry {
namespace {

/// In nanoseconds after the first point.
struct Period {
  std::int64_t begin, end;
};

/// How much of a copy's time some kernel takes, too: of another stream, since a stream does one after the
/// other. `kernels` are in the order of their
/// begins.
std::int64_t HiddenOf(const Period& copy, const std::vector<Period>& kernels) {
  std::int64_t hidden = 0, counted_to = copy.begin;
  for (const Period& kernel : kernels) {
    if (kernel.begin >= copy.end) break;
    const std::int64_t first = std::max(kernel.begin, counted_to), last = std::min(kernel.end, copy.end);
    if (first >= last) continue;
    hidden += last - first;
    counted_to = last;
  }
  return hidden;
}

}  // namespace

/// Records the points, from copies and from the caller.
class Overlap::Section : public Observer {
 public:
  explicit Section(Device& device) : device_(device) {
    static_cast<void>(
        Event::Measuring(device, Stream(device).handle()));  // throws where that is not possible
  }

  using Observer::On;
  void OnStart(const CopyRecord& copy) override;
  void On(const CopyRecord& copy) override;
  void On(const AccessRecord& access) override;

  const Device& device() const noexcept { return device_; }
  std::size_t BeginKernels(const Stream& on);
  void EndKernels(std::size_t number) noexcept;
  /// Throws where kernels are going on.
  void RequireNoKernels() const;
  /// When nobody is told of copies any more.
  OverlapTimes Times();

 private:
  /// A point's number.
  using Mark = std::optional<std::size_t>;
  struct Marks {
    std::size_t begin, end;
  };
  struct Open {
    Stream on;
    Mark begin;
  };

  Mark MarkOn(const Stream& on);
  Mark MarkIfPossible(const Stream& on) noexcept;
  void BeginAgain(const Stream& on) noexcept;
  static std::vector<Period> PeriodsOf(const std::vector<Marks>& all, const std::vector<std::int64_t>& at);

  Device& device_;
  mutable std::mutex mutex_;               ///< guards what follows
  std::vector<Event> points_;              ///< in the order in which they were recorded
  std::map<std::thread::id, Mark> begun_;  ///< a thread queues one copy at a time
  std::map<std::size_t, Open> open_;
  std::size_t newest_kernels_ = 0;
  std::vector<Marks> copies_, kernels_;
  OverlapTimes times_;
  bool ended_ = false;
};

/// Work under graph capture does not run, and has no time.
Overlap::Section::Mark Overlap::Section::MarkOn(const Stream& on) try {
  points_.push_back(Event::Measuring(on.device(), on.handle()));
  return points_.size() - 1;
} catch (const StreamCaptureError&) {
  return std::nullopt;
}
Overlap::Section::Mark Overlap::Section::MarkIfPossible(const Stream& on) noexcept try {
  return MarkOn(on);
} catch (const std::exception&) {
  return std::nullopt;
}

/// What was queued on the stream before is perhaps a wait.
void Overlap::Section::BeginAgain(const Stream& on) noexcept {
  for (auto& [number, kernels] : open_)
    if (kernels.on.id() == on.id()) kernels.begin = MarkIfPossible(on);
}

void Overlap::Section::OnStart(const CopyRecord& copy) {
  if (&copy.on->device() != &device_) return;
  const std::lock_guard lock(mutex_);
  begun_[std::this_thread::get_id()] = MarkIfPossible(*copy.on);
}
void Overlap::Section::On(const CopyRecord& copy) {
  if (&copy.on->device() != &device_) return;
  const std::lock_guard lock(mutex_);
  times_.bytes += copy.range.bytes;
  const Mark begin = std::exchange(begun_[std::this_thread::get_id()], std::nullopt);
  const Mark end = begin ? MarkIfPossible(*copy.on) : std::nullopt;
  if (begin && end)
    copies_.push_back({*begin, *end});
  else
    times_.untimed += copy.range.bytes;
  BeginAgain(*copy.on);
}
void Overlap::Section::On(const AccessRecord& access) {
  if (access.on == nullptr || &access.on->device() != &device_) return;
  const std::lock_guard lock(mutex_);
  BeginAgain(*access.on);
}

std::size_t Overlap::Section::BeginKernels(const Stream& on) {
  if (&on.device() != &device_)
    throw std::invalid_argument("Overlap::Kernels: a stream of " + Name(on.device()) + ", in a section of " +
                                Name(device_));
  const std::lock_guard lock(mutex_);
  if (ended_) throw std::logic_error("Overlap::Kernels: the section has ended");
  open_.insert({++newest_kernels_, Open{on, MarkOn(on)}});
  return newest_kernels_;
}
void Overlap::Section::EndKernels(std::size_t number) noexcept try {
  const std::lock_guard lock(mutex_);
  const Open kernels = std::move(open_.extract(number).mapped());
  const Mark end = kernels.begin ? MarkIfPossible(kernels.on) : std::nullopt;
  if (kernels.begin && end) kernels_.push_back({*kernels.begin, *end});
} catch (const std::bad_alloc&) {
  // These kernels hide nothing, as where there is no point.
}

void Overlap::Section::RequireNoKernels() const {
  const std::lock_guard lock(mutex_);
  if (!open_.empty()) throw std::logic_error("Overlap::End: a Kernels of the section is alive; end it first");
}

std::vector<Period> Overlap::Section::PeriodsOf(const std::vector<Marks>& all,
                                                const std::vector<std::int64_t>& at) {
  std::vector<Period> periods;
  periods.reserve(all.size());
  for (const Marks& one : all) periods.push_back({at[one.begin], std::max(at[one.begin], at[one.end])});
  return periods;
}

/// Step by step: over a long time, the clocks of GPUs are coarse.
OverlapTimes Overlap::Section::Times() {
  const std::lock_guard lock(mutex_);
  if (ended_) return times_;
  std::vector<std::int64_t> at(points_.size());
  for (std::size_t i = 1; i < at.size(); ++i)
    at[i] = at[i - 1] + detail::TimeBetween(points_[i - 1], points_[i]);
  std::vector<Period> kernels = PeriodsOf(kernels_, at);
  std::sort(kernels.begin(), kernels.end(),
            [](const Period& a, const Period& b) { return a.begin < b.begin; });
  OverlapTimes times = times_;
  for (const Period& copy : PeriodsOf(copies_, at)) {
    times.copying_ns += copy.end - copy.begin;
    times.hidden_ns += HiddenOf(copy, kernels);
  }
  points_.clear();
  ended_ = true;
  return times_ = times;
}

Overlap::Overlap(Device& device)
    : section_(std::make_shared<Section>(device)), watch_(std::in_place, section_) {}
Overlap::~Overlap() = default;

OverlapTimes Overlap::End(const Site& site) {
  section_->RequireNoKernels();
  watch_.reset();
  OverlapTimes times;
  detail::WaitAsToldAt(site, section_->device(), nullptr, {}, [&] { times = section_->Times(); });
  return times;
}

Overlap::Kernels::Kernels(Overlap& section, const Stream& on)
    : section_(section.section_), number_(section_->BeginKernels(on)) {}
Overlap::Kernels::~Kernels() { section_->EndKernels(number_); }

}  // namespace ferry
