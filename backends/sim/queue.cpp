// SPDX-License-Identifier: BSD-2-Clause
#include "queue.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "machine.hpp"

namespace ferry::sim {
namespace {

thread_local const Op* kernel = nullptr;  ///< that the thread is inside
/// Destroyed streams whose work may be left undone: a program may make and drop streams for ever. That work
/// is done where streams are made, except for what a live stream's kernel must come before: the kernel may
/// wait for something that the host does next.
constexpr std::size_t kMostUnfinished = 64;

}  // namespace

bool InKernel() noexcept { return kernel != nullptr; }
const detail::KernelGuard::Note* ForbiddenBy(const void* address, detail::FaultAccess access) noexcept {
  if (kernel == nullptr) return nullptr;
  for (const auto& guard : kernel->guards)
    if (guard->Forbids(address, access)) return guard.get();
  return nullptr;
}

/// SplitMix64 (Steele, Lea, Flood 2014): a new machine must cost nothing.
std::uint64_t Machine::Random() {
  std::uint64_t z = random_ += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

std::shared_ptr<Queue> Machine::MakeQueue(int device, const Call& call, Lock& lock, QueueKind kind) {
  FinishDestroyed(lock);
  const std::uintptr_t handle = stream_handles_.Make(Random() % 2 == 0);
  queues_.push_back(std::make_shared<Queue>(Queue{handle, device, kind, call}));
  by_handle_.emplace(handle, queues_.back());
  return queues_.back();
}

void Machine::Destroy(Queue& queue) {
  queue.destroyed = true;
  queue.capturing = false;
  stream_handles_.GiveBack(queue.handle);
  const auto it = by_handle_.find(queue.handle);
  if (queue.done == queue.queued)
    std::erase(queues_, it->second);
  else
    unfinished_.push_back(it->second);
  by_handle_.erase(it);
}

std::shared_ptr<Queue> Machine::Find(std::uintptr_t stream, int device) {
  if (!Has(device)) return nullptr;
  DeviceState& state = devices[static_cast<std::size_t>(device)];
  if (stream == kMainHandle) return state.main;
  if (stream == static_cast<std::uintptr_t>(kPerThreadStream)) {
    auto& queue = state.of_threads[std::this_thread::get_id()];
    if (queue == nullptr) {
      queue = std::make_shared<Queue>(Queue{stream, device, QueueKind::kBlocking, {"Reset", 0}, true});
      queues_.push_back(queue);
    }
    return queue;
  }
  const auto it = by_handle_.find(stream);
  return it == by_handle_.end() ? nullptr : it->second;
}

std::shared_ptr<Queue> Machine::Get(const Call& call, std::uintptr_t stream, std::optional<int> device) {
  auto queue = Find(stream, device.value_or(CurrentDevice()));
  if (queue == nullptr) {
    Misuse(call, stream_handles_.WasMade(stream) ? "a stream that was destroyed" : "not a stream");
    return nullptr;
  }
  if (device && queue->device != *device) {
    Misuse(call, "a stream of sim:" + std::to_string(queue->device) +
                     " while sim:" + std::to_string(*device) + " is current");
    return nullptr;
  }
  return queue;
}

std::shared_ptr<Queue> Machine::Ready(const Call& call, std::uintptr_t stream, std::optional<int> device) {
  auto queue = Get(call, stream, device);
  if (queue == nullptr || !queue->capturing) return queue;
  Misuse(call, "a stream under capture");
  return nullptr;
}

bool Machine::HoldsMainUp(int device) const {
  return std::any_of(queues_.begin(), queues_.end(), [&](const auto& queue) {
    return queue->capturing && queue->kind == QueueKind::kBlocking && queue->device == device;
  });
}

Error Machine::EndCaptures(const Call& call, const std::function<bool(const Queue&)>& concerns) {
  bool ended = false;
  for (const auto& queue : queues_)
    if (queue->capturing && concerns(*queue)) queue->capture_invalidated = ended = true;
  return ended ? Misuse(call, "a call that ends a capture", SimRuntime::kStreamCaptureUnsupported)
               : SimRuntime::kSuccess;
}

Error Machine::EndCapturesOf(const Call& call, int device) {
  return EndCaptures(call, [=](const Queue& queue) { return queue.device == device; });
}

Error Machine::EndUnsafeCaptures(const Call& call) {
  const auto mode = ThreadCaptureMode();
  if (mode == SimRuntime::kCaptureRelaxed) return SimRuntime::kSuccess;
  return EndCaptures(call, [=](const Queue& queue) {
    if (queue.capture_mode == CaptureMode::kRelaxed) return false;
    const bool global = queue.capture_mode == CaptureMode::kGlobal && mode == SimRuntime::kCaptureGlobal;
    return global || queue.captured_by == std::this_thread::get_id();
  });
}

void Machine::OrderWithMain(const std::shared_ptr<Queue>& queue, const Call& call) {
  const DeviceState& state = devices[static_cast<std::size_t>(queue->device)];
  const auto wait = [&](const std::shared_ptr<Queue>& other) {
    const Position end{other, other->queued};
    if (end.Reached()) return;
    queue->ops.push_back({OpKind::kOrder, call, {}, {}, end});
    ++queue->queued;
  };
  if (queue->kind == QueueKind::kBlocking) {
    wait(state.main);
    queue->before.Join(Point(state.main).before);
  } else if (queue->kind == QueueKind::kMain) {
    for (const auto& other : queues_)
      if (other->kind == QueueKind::kBlocking && other->device == queue->device) wait(other);
    queue->before.Join(state.blocking);
  }
}

void Machine::Push(const std::shared_ptr<Queue>& queue, Op op) {
  OrderWithMain(queue, op.call);
  for (const Use& use : op.uses) ++use.block->uses;
  if (op.kind == OpKind::kWork || op.kind == OpKind::kKernel)
    for (const std::string& race : races.Note(op.call, op.uses, queue->accesses, queue->before))
      Misuse(op.call, race);
  op.queued_at = HostTime();
  queue->ops.push_back(std::move(op));
  ++queue->queued;
  if (queue->kind == QueueKind::kBlocking)
    devices[static_cast<std::size_t>(queue->device)].blocking.Join(Point(queue).before);
}

void Machine::PushWait(const std::shared_ptr<Queue>& queue, const Call& call, const Point& point) {
  queue->before.Join(point.before);  // first: a main stream comes after what a blocking one has waited for
  Push(queue, {OpKind::kOrder, call, {}, {}, point.position});
}

void Machine::WaitFor(const Point& point, Lock& lock) {
  RunUntil(point.position, lock);
  point.before.ShowToHost();
}

/// Late, in one of two ways, by turns: nothing that need not, or whatever can.
void Machine::RunUntil(const Position& target, Lock& lock) {
  const bool only_needed = Random() % 2 == 0;
  while (!target.Reached()) {
    if (running_) {
      ran_.wait(lock);
      continue;
    }
    RunFront(only_needed ? NeededFor(target) : AnyRunnable(), lock);
  }
}

void Machine::WaitForAll(std::optional<int> device, Lock& lock) {
  std::vector<Position> ends;
  for (const auto& queue : queues_)
    if (!device || queue->device == *device) ends.push_back({queue, queue->queued});
  for (std::size_t i = ends.size(); i > 1; --i) std::swap(ends[i - 1], ends[Random() % i]);
  for (int i = 0; i < static_cast<int>(devices.size()); ++i)
    if (!device || i == *device) races.ShowToHost(i);
  for (const Position& end : ends) RunUntil(end, lock);
}

std::shared_ptr<Queue> Machine::NeededFor(const Position& target) {
  auto queue = target.queue;
  while (const Position* const awaited = queue->ops.front().Awaited()) queue = awaited->queue;
  return queue;
}

std::shared_ptr<Queue> Machine::AnyRunnable(Early which) {
  std::vector<std::size_t> runnable;
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    const Queue& queue = *queues_[i];
    if (queue.runnable() && (which == Early::kAll || queue.ops.front().kind != OpKind::kKernel))
      runnable.push_back(i);
  }
  return runnable.empty() ? nullptr : queues_[runnable[Random() % runnable.size()]];
}

void Machine::Advance(const std::shared_ptr<Queue>& queue, Lock& lock) {
  if (!running_) RunFront(NeededFor({queue, queue->done + 1}), lock);
}

void Machine::RunWithoutKernels(const Position& target, Lock& lock) {
  RunWithoutKernelsOf(
      target, [](const Queue&) { return true; }, lock);
}

template <class Concerns>
void Machine::RunWithoutKernelsOf(const Position& target, Concerns concerns, Lock& lock) {
  while (!running_ && !target.Reached()) {
    const auto queue = NeededFor(target);
    if (queue->ops.front().kind == OpKind::kKernel && concerns(*queue)) return;
    RunFront(queue, lock);
  }
}

/// Two at a time, as one may be added before the next call, and some may have to wait.
void Machine::FinishDestroyed(Lock& lock) {
  const auto lives = [](const Queue& queue) { return !queue.destroyed; };
  for (int i = 0; i < 2 && unfinished_.size() > kMostUnfinished; ++i) {
    const auto next = unfinished_.front();
    std::rotate(unfinished_.begin(), unfinished_.begin() + 1, unfinished_.end());
    RunWithoutKernelsOf({next, next->queued}, lives, lock);
  }
}

void Machine::RunEarly(Early which, Lock& lock) {
  if (order_ == Order::kLate) return;
  while (!running_ && (order_ == Order::kEarly || Random() % 4 != 0)) {
    const auto queue = AnyRunnable(which);
    if (queue == nullptr) return;
    RunFront(queue, lock);
  }
}

void Machine::RunFront(const std::shared_ptr<Queue>& queue, Lock& lock) {
  Op op = std::move(queue->ops.front());
  queue->ops.pop_front();
  const bool ours = op.kind == OpKind::kOrder || op.kind == OpKind::kFree;
  const bool dead = devices[static_cast<std::size_t>(queue->device)].sticky != SimRuntime::kSuccess;
  queue->time = std::max({queue->time, op.queued_at, op.wait ? op.wait->queue->TimeOf(op.wait->index) : 0});
  const std::int64_t begin = HostTime();
  if (ours) {
    if (op.body) op.body();
  } else if (const char* const lacking = Lacking(op)) {
    Misuse(op.call, lacking);
  } else if (!dead) {
    op.kind == OpKind::kKernel ? RunKernel(op, queue->device, lock) : op.body();
    queue->time += HostTime() - begin;
  }
  for (const Use& use : op.uses) --use.block->uses;
  queue->NoteDone();
  if (queue->destroyed && queue->done == queue->queued) {
    std::erase(queues_, queue);
    std::erase(unfinished_, queue);
  }
  if (op.kind == OpKind::kKernel) DestroyUnlocked(std::move(op.body), lock);
}

/// What the user's code holds may call the runtime when it goes: a Stream does.
void Machine::DestroyUnlocked(std::function<void()> body, Lock& lock) {
  lock.unlock();
  body = nullptr;
  lock.lock();
}

const char* Machine::Lacking(const Op& op) {
  for (const Use& use : op.uses) {
    if (!use.block->live) return "the memory was freed before the work ran";
    if (!use.block->born) return "the work ran before its memory was there";
  }
  return nullptr;
}

/// Without the lock: a kernel may take its time, and wait for other threads' calls.
void Machine::RunKernel(const Op& op, int device, Lock& lock) {
  bool in_reach = true;
  for (const bool writes : {false, true})  // a block may be touched in both ways
    for (const Use& use : op.uses)
      if (use.writes == writes) in_reach = Memory::Open(*use.block, writes) && in_reach;
  for (const auto& guard : op.guards)
    for (const auto& [begin, bytes, allowed] : guard->limits())
      in_reach = detail::Pages::Open(begin, bytes, allowed) && in_reach;
  Release();
  running_ = true;
  lock.unlock();
  std::string thrown;
  bool failed = true;
  kernel = &op;
  try {
    if (!in_reach) throw std::runtime_error("its memory needs more mappings than vm.max_map_count allows");
    op.body();
    failed = false;
  } catch (const std::exception& error) {
    thrown = error.what();
  } catch (...) {
    thrown = "not a std::exception";
  }
  kernel = nullptr;
  lock.lock();
  running_ = false;
  for (const Use& use : op.uses) Memory::Close(*use.block);
  if (failed) {
    devices[static_cast<std::size_t>(device)].sticky = SimRuntime::kLaunchFailed;
    report.kernel_errors.push_back(op.call.text() + ": " + thrown);
  }
  ran_.notify_all();
}

}  // namespace ferry::sim
