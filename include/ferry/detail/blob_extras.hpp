// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "ferry/synced_memory.hpp"

namespace ferry::detail {

/// A T that is made when somebody first asks for it, which any thread may do: one pointer until then.
template <class T>
class OnDemand {
 public:
  OnDemand() = default;
  ~OnDemand() { delete Find(); }
  OnDemand(const OnDemand&) = delete;
  OnDemand& operator=(const OnDemand&) = delete;

  T& Get() {
    T* there = Find();
    if (there != nullptr) return *there;
    auto made = std::make_unique<T>();
    const bool first = value_.compare_exchange_strong(there, made.get(), std::memory_order_acq_rel);
    return first ? *made.release() : *there;
  }
  /// Null unless somebody has asked for it.
  T* Find() const noexcept { return value_.load(std::memory_order_acquire); }
  /// Not while others use it.
  void Swap(OnDemand& other) noexcept { other.value_ = value_.exchange(other.value_); }

 private:
  std::atomic<T*> value_{nullptr};
};

/// What few blobs have.
struct BlobExtras {
  std::string name;
  std::mutex mutex;  ///< guards the dims
  std::unique_ptr<SyncedMemory> dims;
};

}  // namespace ferry::detail
