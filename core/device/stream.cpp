// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/stream.hpp"

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "core/device/name.hpp"
#include "core/device/told_wait.hpp"
#include "ferry/detail/dependents.hpp"
#include "ferry/detail/stream_note.hpp"
#include "ferry/error.hpp"

namespace ferry {

namespace detail {
namespace {

StreamId NewOwn() noexcept {
  static std::atomic<std::uint64_t> next{static_cast<std::uint64_t>(StreamId::kFirstOwn)};
  return StreamId{next.fetch_add(1, std::memory_order_relaxed)};
}

// Between the constants and kFirstOwn: 1 bit for the streams of threads, 14 for the device, 48 for the handle
// (no address of a program has more) or the thread.
constexpr unsigned kDeviceAt = 48, kOfThreadAt = 62;
static_assert(Dependents::kMost < std::uint64_t{1} << (kOfThreadAt - kDeviceAt));

std::uint64_t Of(const Device& device) noexcept { return std::uint64_t{device.serial()} << kDeviceAt; }

StreamId Lent(const Device& device, StreamHandle handle) noexcept {
  constexpr std::uint64_t kHandle = (std::uint64_t{1} << kDeviceAt) - 1;
  return StreamId{Of(device) | (static_cast<std::uint64_t>(handle) & kHandle)};
}

StreamId OfThisThread(const Device& device) noexcept {
  static std::atomic<std::uint64_t> threads{0};
  thread_local const std::uint64_t thread = ++threads;
  return StreamId{std::uint64_t{1} << kOfThreadAt | Of(device) | thread};
}

bool IsOfThread(StreamId id) noexcept {
  return id < StreamId::kFirstOwn && (static_cast<std::uint64_t>(id) >> kOfThreadAt & 1) != 0;
}

}  // namespace

/// What is left of a stream when its last user has gone.
class QueueTrace {
 public:
  QueueTrace() = default;
  explicit QueueTrace(Event last) : ended_(true), last_(std::move(last)) {}
  ~QueueTrace() {
    if (kept_ == StreamHandle::kNone) return;
    Dependents& dependents = Dependents::Of(serial_);
    dependents.gone() ? dependents.Report(Dependent::kStream) : device_->DestroyStream(kept_);
    dependents.Remove(Dependent::kStream);
  }
  QueueTrace(const QueueTrace&) = delete;
  QueueTrace& operator=(const QueueTrace&) = delete;

  /// Null once the last user is going.
  std::shared_ptr<Queue> queue() const noexcept { return queue_.lock(); }
  void set_queue(const std::shared_ptr<Queue>& queue) noexcept { queue_ = queue; }

  /// The last user goes. Returns whether the vendor's stream can be destroyed.
  bool End(Device& device, StreamHandle handle) noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (!MakeLast(device, handle)) {
        device_ = &device;
        serial_ = device.serial();
        kept_ = handle;
        Dependents::Of(serial_).Add(Dependent::kStream, device);
      }
    }
    Close();
    return kept_ == StreamHandle::kNone;
  }
  /// There is nothing left, and no device to ask for a point.
  void Close() noexcept {
    ended_ = true;
    ended_.notify_all();
  }

  std::optional<Event> LastPoint() {
    ended_.wait(false);
    const std::lock_guard lock(mutex_);
    if (!last_ && kept_ != StreamHandle::kNone) last_.emplace(*device_, kept_);
    return last_;
  }
  bool Over() noexcept {
    if (!ended_) return false;
    const std::lock_guard lock(mutex_);
    return last_ ? last_->device().Reached(last_->handle()) : kept_ == StreamHandle::kNone;
  }
  /// The vendor's stream, which had no last point when its users went.
  bool keeps() const noexcept { return ended_ && kept_ != StreamHandle::kNone; }
  StreamHandle kept() const noexcept { return kept_; }

 private:
  /// The last point, or none where nothing is left. False under graph capture, and after errors: whoever has
  /// to wait asks again, and hears of them.
  bool MakeLast(Device& device, StreamHandle handle) noexcept try {
    last_.emplace(device, handle);
    return true;
  } catch (const StreamCaptureError&) {
    return false;
  } catch (...) {
    return Finish(device, handle);
  }
  static bool Finish(Device& device, StreamHandle handle) noexcept try {
    device.Synchronize(handle);
    return true;
  } catch (...) {
    return false;
  }

  std::weak_ptr<Queue> queue_;
  std::atomic<bool> ended_{false};
  std::mutex mutex_;  ///< guards last_
  std::optional<Event> last_;
  Device* device_ = nullptr;
  std::uint16_t serial_ = 0;
  StreamHandle kept_ = StreamHandle::kNone;  ///< had no last point at the end
};

/// A stream of ours, as its users share it.
class Queue {
 public:
  Queue(Device& device, const Site& site) : device_(device), serial_(device.serial()), site_(site) {
    Dependents::Of(serial_).Add(Dependent::kStream, device);
  }
  ~Queue() {
    Dependents& dependents = Dependents::Of(serial_);
    if (dependents.gone())
      dependents.Report(Dependent::kStream, &site_), trace_->Close();
    else if (handle_ != StreamHandle::kNone)
      End();
    dependents.Remove(Dependent::kStream);
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  void Create() { handle_ = device_.CreateStream(); }
  StreamHandle handle() const noexcept { return handle_; }
  StreamId id() const noexcept { return id_; }
  const std::shared_ptr<QueueTrace>& trace() const noexcept { return trace_; }

  static Stream User(Device& device, std::shared_ptr<Queue> queue) noexcept {
    Stream stream(device, device.properties(), queue->handle_);
    stream.id_ = queue->id_;
    stream.queue_ = std::move(queue);
    return stream;
  }
  static const std::shared_ptr<Queue>& Of(const Stream& stream) noexcept { return stream.queue_; }

 private:
  void End() noexcept {
    const bool noted = trace_.use_count() > 1;
    if (!noted || trace_->End(device_, handle_)) device_.DestroyStream(handle_);
  }

  Device& device_;
  const std::uint16_t serial_;
  const Site site_;  ///< where it was made
  StreamHandle handle_ = StreamHandle::kNone;
  StreamId id_ = NewOwn();
  std::shared_ptr<QueueTrace> trace_ = std::make_shared<QueueTrace>();
};

StreamNote::StreamNote(const Stream& stream) noexcept
    : device_(&stream.device()),
      handle_(stream.handle()),
      id_(stream.id()),
      trace_(Queue::Of(stream) != nullptr ? Queue::Of(stream)->trace() : nullptr) {}

StreamNote::StreamNote(Event last)
    : device_(&last.device()),
      handle_(StreamHandle::kNone),
      id_(NewOwn()),
      trace_(std::make_shared<QueueTrace>(std::move(last))) {}

std::optional<Stream> StreamNote::Alive() const {
  if (trace_ == nullptr)
    return IsOfThread(id_) && id_ != OfThisThread(*device_) ? Stream::Main(*device_)
                                                            : Stream::Borrow(*device_, handle_);
  auto queue = trace_->queue();
  if (queue == nullptr) return std::nullopt;
  return Queue::User(*device_, std::move(queue));
}

std::optional<Event> StreamNote::LastPoint() const { return trace_->LastPoint(); }

std::optional<StreamHandle> StreamNote::Kept() const noexcept {
  if (trace_ == nullptr || !trace_->keeps()) return std::nullopt;
  return trace_->kept();
}

bool StreamNote::Over() const noexcept { return trace_ != nullptr && trace_->Over(); }

void Dismiss(Stream&& stream, Dying& dying) noexcept try {
  if (Queue::Of(stream).use_count() == 1) dying.push_back(Queue::Of(stream));
} catch (const std::bad_alloc&) {
}

void Dismiss(const StreamNote& note, Dying& dying) noexcept try {
  if (note.trace_ != nullptr && note.trace_->keeps()) dying.push_back(note.trace_);
} catch (const std::bad_alloc&) {
}

}  // namespace detail

struct Event::Release {
  void operator()(void* p) const noexcept {
    using detail::Dependent;
    detail::Dependents& dependents = detail::Dependents::Of(serial);
    dependents.gone() ? dependents.Report(Dependent::kEvent)
                      : device->Release(EventHandle{reinterpret_cast<std::uintptr_t>(p)});
    dependents.Remove(Dependent::kEvent);
  }

  Device* device;
  std::uint16_t serial;
  detail::PointNumber number = 0;
};

std::shared_ptr<void> Event::Own(Device& device, EventHandle handle) {
  const std::uint16_t serial = device.serial();
  detail::Dependents::Of(serial).Add(detail::Dependent::kEvent, device);
  return {reinterpret_cast<void*>(handle), Release{&device, serial}};
}

void Event::GetNumber(const Stream& on) noexcept {
  if (const detail::TellOfWaits* const tell = detail::tell_of_waits.load(std::memory_order_relaxed))
    std::get_deleter<Release>(owner_)->number = tell->made(on);
}
detail::PointNumber Event::number() const noexcept { return std::get_deleter<Release>(owner_)->number; }

void Event::TellStreamWait(const Stream& waiter) const noexcept {
  if (const detail::TellOfWaits* const tell = detail::tell_of_waits.load(std::memory_order_relaxed))
    tell->stream(number(), waiter);
}

std::int64_t Elapsed(const Event& from, const Event& to, const Site& site) {
  if (&from.device() != &to.device())
    throw std::logic_error("Elapsed: from an event of " + Name(from.device()) +
                           " to one of another device, " + Name(to.device()) +
                           "; each has a clock of its own");
  std::int64_t elapsed = 0;
  detail::WaitAsToldAt(site, from.device(), nullptr, {from.number(), to.number()},
                       [&] { elapsed = detail::TimeBetween(from, to); });
  return elapsed;
}

void Stream::SynchronizeTold(const char* file, int line, const char* function) const {
  detail::WaitAsToldAt(Site::Caller(file, line, function), *device_, this, {},
                       [this] { detail::HostWait(*this); });
}
void Event::HostWaitTold(const char* file, int line, const char* function) const {
  detail::WaitAsToldAt(Site::Caller(file, line, function), *device_, nullptr, {number()},
                       [this] { detail::HostWait(*this); });
}

Stream::Stream(Device& device, const Site& site)
    : device_(&device), handle_{}, id_{}, queue_(std::make_shared<detail::Queue>(device, site)) {
  queue_->trace()->set_queue(queue_);
  queue_->Create();
  handle_ = queue_->handle();
  id_ = queue_->id();
}

Stream::Stream(Device& device, const DeviceProperties& properties, StreamHandle handle) noexcept
    : device_(&device),
      handle_(handle),
      id_(handle == properties.thread_stream ? detail::StreamId::kOfThread : detail::Lent(device, handle)) {}

detail::StreamId Stream::id() const noexcept {
  return id_ == detail::StreamId::kOfThread ? detail::OfThisThread(*device_) : id_;
}

}  // namespace ferry
