// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "ferry/ferry.hpp"

namespace ferry::testing {

/// Keeps all that it is told.
struct Notes : Observer {
  using Observer::On;
  void Before(const CopyRecord& copy) override {
    before.push_back(copy);
    if (refuses) throw std::runtime_error("refused");
  }
  void On(const CopyRecord& copy) override { copies.push_back(copy); }
  void On(const FillRecord& fill) override { fills.push_back(fill); }
  void On(const AccessRecord& access) override { accesses.push_back(access); }
  void On(const WaitRecord& wait) override { waits.push_back(wait); }
  void On(const LifeRecord& life) override { lives.push_back(life); }

  bool refuses = false;
  std::vector<CopyRecord> before, copies;
  std::vector<FillRecord> fills;
  std::vector<AccessRecord> accesses;
  std::vector<WaitRecord> waits;
  std::vector<LifeRecord> lives;
};

struct ObserverFixture {
  ObserverFixture() { sim::Reset({.seed = 1}); }
  std::unique_ptr<Device> device = MakeDevice("sim:0");
  std::shared_ptr<Notes> notes = std::make_shared<Notes>();
};

/// A device with memory for `blocks` blocks, of which `other` has one, until somebody finds no room for one
/// more: then `meanwhile` is called, and that block is given back.
struct FullFixture {
  static constexpr std::size_t kBytes = 4096;
  explicit FullFixture(std::size_t blocks = 1) {
    sim::Reset({.seed = 1, .memory = blocks * kBytes});
    device = MakeDevice("sim:0");
    other.emplace(kBytes, *device);
    other->overwrite_gpu_data();
    before = SetOutOfMemoryHandler([this](Device&, std::size_t) {
      meanwhile();
      other->Release(Side::kGpu);
      return true;
    });
  }
  ~FullFixture() { SetOutOfMemoryHandler(std::move(before)); }
  FullFixture(const FullFixture&) = delete;
  FullFixture& operator=(const FullFixture&) = delete;

  std::unique_ptr<Device> device;
  std::optional<SyncedMemory> other;
  std::function<void()> meanwhile = [] {};
  OutOfMemoryHandler before;
};

}  // namespace ferry::testing
