// SPDX-License-Identifier: BSD-2-Clause
#include "moved_bytes.hpp"

#include <utility>

namespace ferry::program {

void MovedBytes::On(const CopyRecord& copy) {
  const std::lock_guard lock(mutex_);
  if (std::this_thread::get_id() == thread_)
    own_ += copy.range.bytes;
  else
    ahead_[copy.memory][copy.range.first] = copy.range.bytes;
}

void MovedBytes::On(const CallRecord& call) {
  if (call.kind != CallRecord::Kind::kCopy || call.on == nullptr) return;
  const std::lock_guard lock(mutex_);
  if (std::this_thread::get_id() != thread_) return;
  for (const CallRecord::Operand& operand : call.operands)
    if (operand.access != Access::kRead) own_ += operand.range.bytes;
}

void MovedBytes::On(const LifeRecord& life) {
  if (life.what != LifeRecord::What::kMemory || life.begins) return;
  const std::lock_guard lock(mutex_);
  ahead_.erase(life.memory);
}

std::uint64_t MovedBytes::Take(const std::vector<Blob<float>*>& tops) {
  const std::lock_guard lock(mutex_);
  std::uint64_t bytes = std::exchange(own_, 0);
  for (const Blob<float>* const top : tops) {
    const auto batch = ahead_.extract(top->data().get());
    if (batch.empty()) continue;
    for (const auto& [first, size] : batch.mapped()) bytes += size;
  }
  return bytes;
}

}  // namespace ferry::program
