// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/detail/dependents.hpp"

#include <algorithm>
#include <cstdio>
#include <new>
#include <stdexcept>
#include <utility>

#include "core/device/name.hpp"
#include "ferry/device.hpp"
#include "ferry/log.hpp"

namespace ferry::detail {
namespace {

std::mutex& opening() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

}  // namespace

constinit std::array<std::atomic<Dependents*>, Dependents::kMost + 1> Dependents::slots{};

std::uint16_t Dependents::Open() {
  const std::lock_guard lock(opening());
  for (std::size_t serial = 1; serial <= kMost; ++serial) {
    Dependents* here = slots[serial].load(std::memory_order_relaxed);
    if (here != nullptr && !here->Idle()) continue;
    if (here == nullptr) slots[serial].store(here = new Dependents, std::memory_order_release);
    here->named_ = here->reported_ = false;
    here->live_.SetLimit(0);
    here->gone_.store(false, std::memory_order_release);
    return static_cast<std::uint16_t>(serial);
  }
  throw std::length_error("Device: there are 16383 devices already, which is the most");
}

void Dependents::Close() noexcept {
  try {
    if (const std::string live = live_.Text(LiveList::Where::kAnywhere); !live.empty())
      Log(LogLevel::kWarning, std::string(device()) + " ends before what memories have of it:" + live);
  } catch (const std::bad_alloc&) {
  }
  gone_.store(true, std::memory_order_release);
}

bool Dependents::Idle() const noexcept {
  return gone() && std::all_of(counts_.begin(), counts_.end(),
                               [](const Count& n) { return n.load(std::memory_order_acquire) == 0; });
}

void Dependents::Name(const Device& device) noexcept {
  const DeviceProperties& properties = device.properties();
  const std::lock_guard lock(mutex_);
  std::snprintf(name_.data(), name_.size(), "%s:%d", properties.backend.c_str(), properties.index);
  named_.store(true, std::memory_order_release);
}

void Dependents::Add(Label& label) noexcept {
  const std::lock_guard lock(mutex_);
  label.next = labels_;
  if (labels_ != nullptr) labels_->previous = &label;
  labels_ = &label;
}
void Dependents::Remove(Label& label) noexcept {
  const std::lock_guard lock(mutex_);
  if (label.next != nullptr) label.next->previous = label.previous;
  (label.previous != nullptr ? label.previous->next : labels_) = label.next;
}

void Dependents::Report(Dependent kind, const Site* made) noexcept try {
  if (reported_.exchange(true)) return;
  Log(LogLevel::kError, std::string(kind == Dependent::kStream ? "a stream" : "an event") +
                            (made != nullptr ? ", made by " + ferry::Name(*made) + ',' : "") +
                            " outlives its device " + device() +
                            ", and is not given back. Destroy it before the device");
} catch (const std::bad_alloc&) {
}

void Dependents::ReportMemory(const std::string* label, std::size_t bytes, const LiveNode* block) noexcept
    try {
  reported_ = true;
  Log(LogLevel::kError, "the memory " + (label != nullptr ? Quoted(*label) : "without a label") + " of " +
                            std::to_string(bytes) + " bytes outlives its device " + device() +
                            ": what it holds" +
                            (block != nullptr ? ", allocated by " + ferry::Name(block->site()) + ',' : "") +
                            " is not given back. Destroy it before the device, or make it "
                            "on one of GetDevice, which stays");
} catch (const std::bad_alloc&) {
}

void Dependents::AddTo(Alive& alive) const {
  constexpr int kShown = 8;
  for (std::size_t i = 0; i < alive.counts.size(); ++i)
    alive.counts[i] += counts_[i].load(std::memory_order_acquire);
  for (const Label* label = labels_; label != nullptr && alive.shown < kShown; label = label->next) {
    alive.labels += (alive.labels.empty() ? "\"" : ", \"") + label->text + '"';
    ++alive.shown;
  }
}

std::string Dependents::AliveOn(std::string_view backend) {
  Alive alive;
  {
    const std::lock_guard opened(opening());
    for (std::size_t serial = 1; serial <= kMost; ++serial) {
      const Dependents* const here = slots[serial].load(std::memory_order_relaxed);
      if (here == nullptr) break;
      const std::lock_guard lock(here->mutex_);
      const std::string_view name = here->name_.data();
      if (here->gone() || !here->named_ || name.substr(0, name.find(':')) != backend) continue;
      here->AddTo(alive);
    }
  }
  const auto [memories, streams, events] = alive.counts;
  std::string text;
  const auto add = [&](std::int64_t n, const char* one, const char* more) {
    if (n != 0) text += (text.empty() ? "" : ", ") + std::to_string(n) + ' ' + (n == 1 ? one : more);
  };
  add(memories, "memory", "memories");
  const std::int64_t more = memories - alive.shown;
  if (alive.shown != 0)
    text += " (" + alive.labels + (more > 0 ? " and " + std::to_string(more) + " more)" : ")");
  add(streams, "stream", "streams");
  add(events, "event", "events");
  return text;
}

}  // namespace ferry::detail
