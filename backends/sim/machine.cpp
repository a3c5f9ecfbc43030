// SPDX-License-Identifier: BSD-2-Clause
#include "machine.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "stray_access.hpp"

namespace ferry::sim {
namespace {

thread_local int current_device = 0;
thread_local SimRuntime::CaptureMode capture_mode = SimRuntime::kCaptureGlobal;

bool Allocates(const Call& call) { return std::string_view(call.name).starts_with("Malloc"); }

}  // namespace

int CurrentDevice() noexcept { return Machine::The().Has(current_device) ? current_device : 0; }
void SetCurrentDevice(int index) noexcept { current_device = index; }
SimRuntime::CaptureMode& ThreadCaptureMode() noexcept { return capture_mode; }

Machine& Machine::The() {
  static auto& instance = *new Machine;
  return instance;
}

Machine::Machine()
    : host_memory_(static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                   static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
  Lock lock(mutex);
  Reset({}, lock);
}

void Machine::Reset(const Options& next, Lock& lock) {
  ran_.wait(lock, [this] { return !running_; });
  for (const auto& queue : std::vector(queues_)) {
    auto ops = std::exchange(queue->ops, {});
    for (Op& op : ops) DestroyUnlocked(std::move(op.body), lock);
  }
  SetCurrentDevice(0);
  ThreadCaptureMode() = SimRuntime::kCaptureGlobal;
  options = next;
  report = {};
  events_.clear();
  queues_.clear();
  unfinished_.clear();
  by_handle_.clear();
  stream_handles_.Retire();
  event_handles_.Retire();
  memory.Clear(options.page_protection ? Memory::Guards::kWhereThereIsRoom : Memory::Guards::kNever);
  unseen_.clear();
  devices.assign(static_cast<std::size_t>(std::max(1, options.devices)), {});
  races.Reset(static_cast<int>(devices.size()), options.race_check);
  pinned_ = 0;
  serial_ = 0;
  random_ = options.seed;
  order_ = options.order;
  if (order_ == Order::kDrawn && (options.seed == 0 || Random() % 2 == 0)) order_ = Order::kLate;
  for (int i = 0; i < options.devices; ++i) {
    queues_.push_back(std::make_shared<Queue>(Queue{kMainHandle, i, QueueKind::kMain, {"Reset", 0}, true}));
    devices[static_cast<std::size_t>(i)].main = queues_.back();
  }
  ReportStrayAccesses(*this);
}

int Machine::device_count() {
  const Lock lock(mutex);
  return static_cast<int>(devices.size());
}
Machine::DeviceState& Machine::Current() { return devices[static_cast<std::size_t>(CurrentDevice())]; }

Report Machine::Inspect(const Kept& kept) const {
  Report result = report;
  for (const auto& [address, block] : memory.blocks())
    if (!block.freed)
      result.leaks.push_back(block.made.text() + ": " + std::to_string(block.bytes) + " bytes");
  for (const auto& [handle, queue] : by_handle_)
    if (!kept.streams.contains(handle)) result.leaks.push_back(queue->made.text() + ": a stream");
  result.contexts = static_cast<int>(std::count_if(devices.begin(), devices.end(),
                                                   [](const DeviceState& device) { return device.context; }));
  for (const auto& [handle, event] : events_)
    if (!kept.events.contains(handle)) result.leaks.push_back(event.made.text() + ": an event");
  return result;
}

Call Machine::Begin(const char* name, Faults faults) {
  const bool counted = faults == Faults::kEither || faults == Faults::kInstead;
  if (counted) ++serial_;
  ++report.runtime_calls;
  const Call call{name, serial_, counted};
  if (Counts(call)) ++report.calls;
  return call;
}

bool Machine::Counts(const Call& call) const {
  const std::string& which = options.fail_call;
  return which.empty()           ? call.counted
         : which == "any"        ? true
         : which == "allocation" ? Allocates(call)
                                 : which == call.name;
}

Error Machine::Injected(const Call& call) {
  const bool dead = options.fail_forever && options.fail_at != 0 && report.calls >= options.fail_at;
  const bool strikes = report.calls == options.fail_at && options.fail_at != 0 && Counts(call);
  if (!dead && !strikes) return SimRuntime::kSuccess;
  ++report.faults;
  return Allocates(call) ? SimRuntime::kOutOfMemory : SimRuntime::kInjected;
}

Error Machine::Misuse(const Call& call, const std::string& what, Error error) {
  report.misuse.push_back(call.text() + ": " + what);
  return error;
}

Error Machine::Make(const Call& call, MemoryKind kind, std::size_t bytes, int device, Block*& made,
                    Lock& lock) {
  if (bytes == 0) return options.zero_bytes ? SimRuntime::kSuccess : Misuse(call, "no bytes");
  const bool pinned = kind == MemoryKind::kPinnedHost;
  auto& used = pinned ? pinned_ : devices[static_cast<std::size_t>(device)].used;
  const std::size_t limit = !pinned                      ? device_memory()
                            : options.pinned_memory != 0 ? options.pinned_memory
                                                         : host_memory_;
  if (!MakeRoom(used, bytes, limit, device, lock)) return SimRuntime::kOutOfMemory;
  made = memory.Make(kind, bytes, AlignmentOf(bytes), device, call);
  if (made == nullptr) return SimRuntime::kOutOfMemory;
  used += bytes;
  return SimRuntime::kSuccess;
}

/// Vendors promise kMost. Less lets a block end where its pages do, and whole elements need no more.
std::size_t Machine::AlignmentOf(std::size_t bytes) const {
  constexpr std::size_t kMost = 256;
  return options.align_to_256 ? kMost : std::min(bytes & (~bytes + 1), kMost);
}

bool Machine::MakeRoom(std::size_t& used, std::size_t bytes, std::size_t limit, int device, Lock& lock) {
  if (bytes > limit) return false;
  while (used > limit - bytes) {
    std::optional<Position> free;
    for (const auto& queue : queues_) {
      if (queue->device != device) continue;
      for (std::size_t i = 0; i < queue->ops.size() && !free; ++i)
        if (queue->ops[i].kind == OpKind::kFree) free = {queue, queue->queued - queue->ops.size() + i + 1};
    }
    if (!free) return false;
    RunUntil(*free, lock);
  }
  return true;
}

Error Machine::Locate(const Call& call, const void* ptr, std::size_t bytes, Block*& found) {
  if (ptr == nullptr || bytes == 0) return Misuse(call, ptr == nullptr ? "a null pointer" : "no bytes");
  found = memory.Find(ptr);
  if (found == nullptr) {
    if (memory.Owns(ptr)) return Misuse(call, "a pointer into no block; its memory may be freed");
    return SimRuntime::kSuccess;
  }
  if (found->freed) return Misuse(call, "freed memory, made by " + found->made.text());
  const auto room =
      static_cast<std::size_t>(found->address + found->bytes - static_cast<const std::byte*>(ptr));
  if (bytes > room)
    return Misuse(call, "out of bounds: " + std::to_string(bytes) + " bytes where " + std::to_string(room) +
                            " are left of those made by " + found->made.text());
  return SimRuntime::kSuccess;
}

Error Machine::LocateTouch(const Call& call, const Touch& touch, int device, std::vector<Use>& uses) {
  if (touch.bytes == 0) return SimRuntime::kSuccess;
  Block* block = nullptr;
  const bool rest = touch.bytes == Touch::kRest;
  if (const Error error = Locate(call, touch.ptr, rest ? 1 : touch.bytes, block)) return error;
  if (block == nullptr)
    return Unified(device) ? SimRuntime::kSuccess
                           : Misuse(call, "touches memory that is neither a device's, pinned nor managed");
  if (block->kind == MemoryKind::kDevice && block->device != device)
    return Misuse(call, "memory of another device, made by " + block->made.text());
  const auto first = static_cast<std::size_t>(static_cast<const std::byte*>(touch.ptr) - block->address);
  uses.push_back({block, first, rest ? block->bytes : first + touch.bytes, touch.writes});
  return SimRuntime::kSuccess;
}

Error Machine::LocateToFree(const Call& call, void* ptr, std::initializer_list<MemoryKind> kinds,
                            Block*& found) {
  found = memory.Find(ptr);
  if (found == nullptr || found->address != ptr) return Misuse(call, "a pointer that no allocation returned");
  const std::string made = ", made by " + found->made.text();
  if (found->freed) return Misuse(call, "freed twice" + made);
  if (std::find(kinds.begin(), kinds.end(), found->kind) == kinds.end())
    return Misuse(call, "memory of another kind" + made);
  found->freed = true;
  races.Forget(*found);
  return SimRuntime::kSuccess;
}

void Machine::Write(const Block* to, void* target, const void* source, std::size_t bytes) {
  const auto* const first = static_cast<const std::byte*>(source);
  if (options.coarse_host_memory && to != nullptr && to->kind != MemoryKind::kDevice)
    unseen_.push_back({static_cast<std::byte*>(target), {first, first + bytes}});
  else
    std::memcpy(target, source, bytes);
}

void Machine::Release() {
  for (const Unseen& write : unseen_) std::copy(write.bytes.begin(), write.bytes.end(), write.target);
  unseen_.clear();
}

void Machine::RetireNow(const Call& call, Block& block) {
  if (block.uses != 0) Misuse(call, "queued work still uses the memory made by " + block.made.text());
  Retire(call, block);
}

void Machine::Retire(const Call& call, Block& block) {
  auto& used =
      block.kind == MemoryKind::kPinnedHost ? pinned_ : devices[static_cast<std::size_t>(block.device)].used;
  used -= block.bytes;
  std::erase_if(unseen_, [&](const Unseen& write) { return block.contains(write.target); });
  const Memory::Canaries canaries = memory.Retire(block);
  if (canaries == Memory::Canaries::kIntact) return;
  const char* const where = canaries == Memory::Canaries::kWrittenInFront ? "in front" : "behind the end";
  Misuse(call, std::string("somebody wrote ") + where + " of the memory made by " + block.made.text());
}

}  // namespace ferry::sim
