// SPDX-License-Identifier: BSD-2-Clause
#include "backends/gpu/per_stream.hpp"

#include <map>
#include <mutex>
#include <thread>
#include <tuple>

#include "ferry/error.hpp"

namespace ferry::gpu {
namespace {

/// Streams of several GPUs may have one handle: the main ones do.
struct Key {
  int device;
  StreamHandle stream;
  std::thread::id thread;  ///< of a stream that is each thread's own; else none
  std::type_index type;

  friend bool operator<(const Key& a, const Key& b) {
    return std::tie(a.device, a.stream, a.thread, a.type) < std::tie(b.device, b.stream, b.thread, b.type);
  }
};

/// The mutex is held while the thing is made, which others of the same key wait for.
struct Kept {
  std::mutex mutex;
  std::shared_ptr<void> thing;
};

struct AllKept {
  std::mutex mutex;
  std::map<Key, std::shared_ptr<Kept>> of;
};

/// Never destroyed: the libraries behind the things may be gone by then.
AllKept& TheKept() {
  static auto* const kept = new AllKept;
  return *kept;
}

template <class Condition>
void ForgetWhere(Condition condition) noexcept {
  // Destroyed without the lock, for that may wait for the device.
  std::map<Key, std::shared_ptr<Kept>> forgotten;
  const std::lock_guard lock(TheKept().mutex);
  auto& kept = TheKept().of;
  for (auto it = kept.begin(); it != kept.end();) {
    const auto here = it++;
    if (condition(here->first)) forgotten.insert(kept.extract(here));
  }
}

/// Once it is used, the thread's end gives back what is that thread's alone.
struct ThreadEnd {
  std::thread::id thread = std::this_thread::get_id();
  ~ThreadEnd() {
    ForgetWhere([this](const Key& key) { return key.thread == thread; });
  }
};

std::thread::id ThreadOf(StreamHandle stream) {
  if (stream != kPerThreadStream) return {};
  thread_local const ThreadEnd end;
  return end.thread;
}

std::shared_ptr<Kept> KeptFor(const Key& key) {
  const std::lock_guard lock(TheKept().mutex);
  auto& kept = TheKept().of[key];
  if (kept == nullptr) kept = std::make_shared<Kept>();
  return kept;
}

}  // namespace

std::shared_ptr<void> PerStream(std::type_index type, const Stream& on,
                                const std::function<std::shared_ptr<void>()>& make) {
  const auto kept = KeptFor({on.device().properties().index, on.handle(), ThreadOf(on.handle()), type});
  const std::lock_guard lock(kept->mutex);
  if (kept->thing == nullptr) kept->thing = make();
  return kept->thing;
}

void ForgetAll(std::type_index type) noexcept {
  ForgetWhere([=](const Key& key) { return key.type == type; });
}
void ForgetDevice(int device) noexcept {
  ForgetWhere([=](const Key& key) { return key.device == device; });
}
void ForgetStream(int device, StreamHandle stream) noexcept {
  ForgetWhere([=](const Key& key) { return key.device == device && key.stream == stream; });
}

void FollowMain(const Stream& on) {
  const Stream main = Stream::Main(on.device());
  if (on.handle() == main.handle()) return;
  const StreamHandle before[] = {main.handle()};
  try {
    on.device().Order(before, on.handle());
  } catch (const StreamCaptureError&) {
    on.device().Synchronize(main.handle());
  }
}

}  // namespace ferry::gpu
