// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "kokkos_names.hpp"  // of tests/<backend>
#include "names.hpp"         // of tests/<backend>

/// In the place of a Kokkos with kernels for the picked vendor's GPUs: what Ferry needs of its spaces, with
/// the calls of the vendor's runtime by which Kokkos' own source makes and destroys an instance. It shows
/// that Ferry allows for what Kokkos does, as that source has it; kernels themselves are not here. The
/// program says which KOKKOS_VERSION it is.
namespace Kokkos {

class Serial {};
class Gpu;
using DefaultHostExecutionSpace = Serial;
using DefaultExecutionSpace = Gpu;
#define KOKKOS_ENABLE_SERIAL

namespace stand_in {

using Runtime = ferry::vendor::Runtime;

inline bool initialized = false, finalized = false;
inline int device = 0;  ///< that it was initialised for
inline std::vector<std::function<void()>> hooks;
inline std::atomic<int> instances = 0;

/// What the program does at once that Kokkos does not lock.
class Alone {
 public:
  Alone() {
    if (inside.fetch_add(1) != 0) broken = true;
  }
  ~Alone() { --inside; }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

  static inline std::atomic<int> inside = 0;
  static inline std::atomic<bool> broken = false;
};

/// Kokkos ends the program with an error.
inline void Require(bool success) {
  if (!success) std::abort();
}
inline void Require(Runtime::Error error) { Require(error == Runtime::kSuccess); }

}  // namespace stand_in

class InitializationSettings {
 public:
  InitializationSettings& set_device_id(int device) { return device_ = device, *this; }
  int device() const { return device_; }

 private:
  int device_ = 0;
};

inline void initialize(const InitializationSettings& settings) {
  stand_in::device = settings.device();
  stand_in::Require(stand_in::Runtime::SetDevice(stand_in::device));
  stand_in::initialized = true;
}
inline bool is_initialized() { return stand_in::initialized; }
inline bool is_finalized() { return stand_in::finalized; }
inline void push_finalize_hook(std::function<void()> hook) { stand_in::hooks.push_back(std::move(hook)); }
inline void finalize() {
  for (; !stand_in::hooks.empty(); stand_in::hooks.pop_back()) stand_in::hooks.back()();
  stand_in::Require(stand_in::Runtime::SetDevice(stand_in::device));
  stand_in::Require(stand_in::Runtime::DeviceSynchronize());
  stand_in::initialized = false;
  stand_in::finalized = true;
}

/// The flags by which an instance's reductions count are zeroed by way of the main stream.
class Gpu : public ferry::vendor::KokkosNames<Gpu> {
 public:
  using Runtime = stand_in::Runtime;
  static constexpr std::size_t kFlags = 128;  ///< in bytes

  Gpu() : its_(std::make_shared<Its>()) { its_->device = stand_in::device; }
  explicit Gpu(Runtime::Stream stream) : its_(new Its, Destroy) {
    const stand_in::Alone alone;
    its_->stream = stream;
    its_->device = ferry::vendor::DeviceByKokkos(stream, stand_in::device);
    stand_in::Require(Runtime::SetDevice(its_->device));
    stand_in::Require(Runtime::Malloc(&its_->flags, kFlags));
    stand_in::Require(Runtime::MemsetAsync(its_->flags, 0, kFlags, nullptr));
    ++stand_in::instances;
  }

  Runtime::Stream stream() const { return its_->stream; }
  int device() const { return its_->device; }
  void* flags() const { return its_->flags; }

 private:
  struct Its {
    Runtime::Stream stream{};
    int device = 0;
    void* flags = nullptr;
  };

  static void Destroy(Its* its) {
    const stand_in::Alone alone;
    stand_in::Require(!stand_in::finalized);
    stand_in::Require(Runtime::SetDevice(its->device));
    stand_in::Require(Runtime::StreamSynchronize(its->stream));
    stand_in::Require(Runtime::Free(its->flags));
    --stand_in::instances;
    delete its;
  }

  std::shared_ptr<Its> its_;
};

}  // namespace Kokkos
