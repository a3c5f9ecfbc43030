// SPDX-License-Identifier: BSD-2-Clause
#include "backends/gpu/per_stream.hpp"

#include <map>
#include <mutex>
#include <tuple>

namespace ferry::gpu {
namespace {

/// Streams of several GPUs may have one handle: the main ones do.
using Key = std::tuple<int, StreamHandle, std::type_index>;

struct Kept {
  std::mutex mutex;
  std::map<Key, std::shared_ptr<void>> things;
};

/// Never destroyed: the libraries behind the things may be gone by then.
Kept& TheKept() {
  static Kept* const kept = new Kept;
  return *kept;
}

template <class Condition>
void ForgetWhere(Condition condition) noexcept {
  std::map<Key, std::shared_ptr<void>>
      forgotten;  // destroyed without the lock, for that may wait for the device
  const std::lock_guard lock(TheKept().mutex);
  auto& things = TheKept().things;
  for (auto it = things.begin(); it != things.end();) {
    const auto here = it++;
    if (std::apply(condition, here->first)) forgotten.insert(things.extract(here));
  }
}

}  // namespace

std::shared_ptr<void> PerStream(std::type_index type, const Stream& on,
                                const std::function<std::shared_ptr<void>()>& make) {
  const std::lock_guard lock(TheKept().mutex);
  auto& thing = TheKept().things[{on.device().properties().index, on.handle(), type}];
  if (thing == nullptr) thing = make();
  return thing;
}

void ForgetAll(std::type_index type) noexcept {
  ForgetWhere([=](int, StreamHandle, std::type_index its) { return its == type; });
}

PerStreamDevice::~PerStreamDevice() {
  ForgetWhere([this](int device, StreamHandle, std::type_index) { return device == properties().index; });
}

void PerStreamDevice::DestroyStream(StreamHandle stream) noexcept {
  ForgetWhere([=, this](int device, StreamHandle its, std::type_index) {
    return device == properties().index && its == stream;
  });
  next().DestroyStream(stream);
}

}  // namespace ferry::gpu
