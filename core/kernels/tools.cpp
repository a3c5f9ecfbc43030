// SPDX-License-Identifier: BSD-2-Clause
#include "core/kernels/tools.hpp"

#include <Kokkos_Core.hpp>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "core/seeing/words.hpp"
#include "ferry/stream.hpp"
#include "ferry/synced_memory.hpp"

namespace ferry::detail {
namespace {

/// What the tool was told to have begun on this thread: Kokkos may be initialised between a begin and its
/// end.
thread_local int open_copies = 0, open_regions = 0;

/// Kokkos loads a tool when it is initialised, and would go on to call it when it has been finalised.
bool Loaded() { return Kokkos::is_initialized() && Kokkos::Tools::profileLibraryLoaded(); }

/// Tools know spaces by Kokkos' names, and some abort at others.
Kokkos::Tools::SpaceHandle SpaceOf(const Device* device) {
  const std::string backend = device != nullptr ? device->properties().backend : "";
  return Kokkos::Tools::make_space_handle(backend == "cuda" ? "Cuda" : backend == "hip" ? "HIP" : "Host");
}

/// `weights on cuda:1`, since Kokkos' names have no number.
std::string LabelIn(const SyncedMemory& memory, const Device* device) {
  const std::string label = memory.label().empty() ? "a memory without a label" : memory.label();
  return device != nullptr ? label + " on " + NameOfSpace(device) : label;
}

class ToolsObserver : public Observer {
 public:
  using Observer::On;
  void OnStart(const CopyRecord& copy) override {
    const std::lock_guard lock(mutex_);
    if (!Loaded()) return;
    ++open_copies;
    Kokkos::Tools::beginDeepCopy(SpaceOf(copy.to), LabelIn(*copy.memory, copy.to), nullptr,
                                 SpaceOf(copy.from), LabelIn(*copy.memory, copy.from), copy.source,
                                 copy.range.bytes);
  }
  void On(const CopyRecord&) override { EndCopy(); }
  void OnFailure(const CopyRecord&) override { EndCopy(); }

  void OnStart(const CallRecord& call) override {
    const std::lock_guard lock(mutex_);
    if (!Loaded()) return;
    ++open_regions;
    Kokkos::Tools::pushRegion(NameOf(call.site));
  }
  void On(const CallRecord&) override { EndRegion(); }
  void OnFailure(const CallRecord&) override { EndRegion(); }

  void On(const AccessRecord& access) override { Mark(InWords(access)); }
  void On(const WaitRecord& wait) override {
    Mark("waited " + std::to_string(wait.waited_ns / 1000) + " us for " + NameOf(*wait.memory) + " by " +
         NameOf(wait.site));
  }
  void On(const SyncRecord& sync) override {
    Mark("waited " + std::to_string(sync.waited_ns / 1000) + " us for " + NameOfSpace(sync.device) + " by " +
         NameOf(sync.site));
  }
  void On(const LifeRecord& life) override {
    const std::lock_guard lock(mutex_);
    if (life.what != LifeRecord::What::kBlock || life.adopted || !Loaded()) return;
    const std::pair block(life.device, life.first);
    if (life.begins)
      blocks_.insert(block);
    else if (blocks_.erase(block) == 0)
      return;
    const auto tell = life.begins ? Kokkos::Tools::allocateData : Kokkos::Tools::deallocateData;
    tell(SpaceOf(life.device), LabelIn(*life.memory, life.device), life.first, life.bytes);
  }

 private:
  void EndCopy() {
    const std::lock_guard lock(mutex_);
    if (open_copies == 0) return;
    --open_copies;
    if (Loaded()) Kokkos::Tools::endDeepCopy();
  }
  void EndRegion() {
    const std::lock_guard lock(mutex_);
    if (open_regions == 0) return;
    --open_regions;
    if (Loaded()) Kokkos::Tools::popRegion();
  }
  void Mark(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (Loaded()) Kokkos::Tools::markEvent(text);
  }

  std::mutex mutex_;                                        ///< a tool is told of one thing at a time
  std::set<std::pair<const Device*, const void*>> blocks_;  ///< whose begin the tool was told
};

bool Names(const char* variable) {
  const char* const value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): before anybody sets it
  return value != nullptr && *value != '\0';
}

}  // namespace

std::shared_ptr<Observer> ObserverForTools() {
  if (!Names("KOKKOS_TOOLS_LIBS") && !Names("KOKKOS_PROFILE_LIBRARY") && !Loaded()) return nullptr;
  return std::make_shared<ToolsObserver>();
}

}  // namespace ferry::detail
