// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <stdexcept>
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
  void On(const AccessRecord& access) override { accesses.push_back(access); }
  void On(const WaitRecord& wait) override { waits.push_back(wait); }
  void On(const LifeRecord& life) override { lives.push_back(life); }

  bool refuses = false;
  std::vector<CopyRecord> before, copies;
  std::vector<AccessRecord> accesses;
  std::vector<WaitRecord> waits;
  std::vector<LifeRecord> lives;
};

struct ObserverFixture {
  ObserverFixture() { sim::Reset({.seed = 1}); }
  std::unique_ptr<Device> device = MakeDevice("sim:0");
  std::shared_ptr<Notes> notes = std::make_shared<Notes>();
};

}  // namespace ferry::testing
