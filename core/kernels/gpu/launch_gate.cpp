// SPDX-License-Identifier: BSD-2-Clause
#include "core/kernels/gpu/launch_gate.hpp"

namespace ferry::detail {
namespace {

/// Beyond the bits there are, every launch is a first one.
std::uint64_t BitOf(int device) { return device < 64 ? std::uint64_t{1} << device : 0; }

}  // namespace

/// A thread's way through the gate. While it waits, it holds a stream at most, and who holds the door waits
/// for nobody: so all get through.
class LaunchGate::Turn {
 public:
  Turn(LaunchGate& gate, std::mutex* stream, Entry entry) : gate_(gate), stream_(stream), entry_(entry) {
    Enter();
    innermost_ = this;
  }
  ~Turn() {
    Leave();
    innermost_ = nullptr;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  void Enter() {
    if (stream_ != nullptr) stream_->lock();
    const std::lock_guard lock(gate_.queue_);
    entry_ == Entry::kAlone ? gate_.door_.lock() : gate_.door_.lock_shared();
  }
  void Leave() {
    entry_ == Entry::kAlone ? gate_.door_.unlock() : gate_.door_.unlock_shared();
    if (stream_ != nullptr) stream_->unlock();
  }

  static thread_local Turn* innermost_;  ///< null while it stands aside, too

 private:
  Aside around_;
  LaunchGate& gate_;
  std::mutex* stream_;
  Entry entry_;
};

thread_local LaunchGate::Turn* LaunchGate::Turn::innermost_ = nullptr;

LaunchGate::Aside::Aside() : around_(Turn::innermost_) {
  if (around_ != nullptr) around_->Leave();
  Turn::innermost_ = nullptr;
}
LaunchGate::Aside::~Aside() {
  if (around_ != nullptr) around_->Enter();
  Turn::innermost_ = around_;
}

void LaunchGate::Launch(std::mutex& stream, LaunchedOn& kernel, int device,
                        const std::function<void()>& launch) {
  const std::uint64_t bit = BitOf(device);
  {
    const Turn turn(*this, &stream, Entry::kShared);
    if ((kernel & bit) != 0) return launch();
  }
  const Turn turn(*this, &stream, Entry::kAlone);
  launch();
  kernel |= bit;
}

void LaunchGate::Alone(const std::function<void()>& work) {
  const Turn turn(*this, nullptr, Entry::kAlone);
  work();
}

}  // namespace ferry::detail
