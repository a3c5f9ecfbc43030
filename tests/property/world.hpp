// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ferry/forwarding_device.hpp"
#include "ferry/sim.hpp"
#include "ferry/synced_memory.hpp"

namespace ferry::testing {

enum class Verb : std::uint8_t {
  kRead,
  kReadWrite,
  kOverwrite,
  kPrefetch,
  kResize,      ///< to `amount` bytes, within the capacity
  kAdopt,       ///< bytes of the caller's; `amount` draws their kind
  kAssign,      ///< from the next memory, if there is one; `amount` draws size and Rest
  kRenew,       ///< the memory dies, and a new one of `amount` bytes takes its place
  kNewStream,   ///< another stream, if there are not many
  kDropStream,  ///< the stream dies, unless it is the main one
};

/// One thing that a user does. Numbers count on beyond what there is, so that any row of steps is one.
struct Step {
  Verb verb;
  Side side = Side::kCpu;
  unsigned stream = 0;  ///< 0 is the main stream
  unsigned memory = 0;
  unsigned amount = 0;
};
std::string Describe(const std::vector<Step>& steps);

/// Accesses from the host, the main stream and a created one, and the prefetches to either side.
inline constexpr std::array kAlphabet{
    Step{Verb::kRead},
    Step{Verb::kReadWrite},
    Step{Verb::kOverwrite},
    Step{Verb::kRead, Side::kGpu},
    Step{Verb::kReadWrite, Side::kGpu},
    Step{Verb::kOverwrite, Side::kGpu},
    Step{Verb::kRead, Side::kGpu, 1},
    Step{Verb::kReadWrite, Side::kGpu, 1},
    Step{Verb::kOverwrite, Side::kGpu, 1},
    Step{Verb::kPrefetch, Side::kCpu, 1},
    Step{Verb::kPrefetch, Side::kGpu, 1},
};
inline constexpr int kAccesses = 9;

/// The simulated device, bare or with the adaptors that MakeDevice puts around it.
std::unique_ptr<Device> MakeSim(bool stacked = false);
/// What sim has to complain about, once all work has run and all is given back; or nothing.
std::string Complaint();

/// Counts what passes, from any thread.
class Watch final : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  void Copy(CopyKind kind, void* dst, const void* src, std::size_t bytes, StreamHandle on) override {
    ++copies;
    next().Copy(kind, dst, src, bytes, on);
  }
  void HostWait(EventHandle event) override {
    ++host_waits;
    next().HostWait(event);
  }
  void Synchronize(StreamHandle stream) override {
    ++host_waits;
    next().Synchronize(stream);
  }
  std::atomic<long> copies{0}, host_waits{0};
};

/// While one lives its thread is in a call of Ferry's; with `is` false, below Ferry.
class InFerry {
 public:
  explicit InFerry(bool is = true) noexcept : before_(std::exchange(now_, is)) {}
  ~InFerry() { now_ = before_; }
  InFerry(const InFerry&) = delete;
  InFerry& operator=(const InFerry&) = delete;
  static bool now() noexcept { return now_; }

 private:
  static inline thread_local bool now_ = false;
  bool before_;
};

/// What every byte of a memory must be: the number of the write that wrote it last.
struct Model {
  static constexpr std::size_t kCapacity = 16;
  std::array<std::uint8_t, kCapacity> bytes{};
  std::size_t size = kCapacity;

  void Resize(std::size_t next);
  /// What a write leaves: an overwrite changes every byte, a read-write every second one.
  void Write(Verb verb, std::uint8_t version);
};

/// A simulated device with memories and streams, used as a program would use them, and the model of their
/// bytes.
class World {
 public:
  struct Options {
    sim::Options machine{};
    unsigned memories = 1;
    bool late_kernels = false;  ///< readers queue theirs only when the contract no longer lets them wait
    bool stacked = false;       ///< through the adaptors that MakeDevice puts around a device
    bool again = true;          ///< an access that threw is made again
    std::unique_ptr<Device> (*make)(bool stacked) = MakeSim;
  };

  explicit World(const Options& options);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void Apply(const Step& step);
  /// Everything dies with work still queued; then all work runs. Says what was wrong, or nothing.
  std::string Finish();

  SyncedMemory& memory(unsigned index = 0) { return *slots_[index].memory; }
  const Stream& stream(unsigned index) const { return streams_[index % streams_.size()]; }
  Watch& device() { return *device_; }
  /// The first thing that was wrong.
  void Wrong(std::string what);

 private:
  struct Slot {
    std::array<std::shared_ptr<void>, 2> lent{};  ///< by side; outlives the memory
    std::unique_ptr<SyncedMemory> memory{};
    Model model{};
    bool adopted = false;                       ///< host bytes, at some time
    bool mixed = false;                         ///< parts may have been in different places
    std::vector<std::function<void()>> late{};  ///< readers' kernels
  };

  void Try(const Step& step);
  void Access(const Step& step, Slot& slot);
  static void Flush(Slot& slot);
  void Adopt(const Step& step, Slot& slot);
  void Assign(const Step& step, Slot& slot);
  static void Drop(Slot& slot);
  void Renew(Slot& slot, std::size_t size);
  Stream NewStream();
  /// Host bytes or device bytes that die when their owner says so, and then hold nobody's data.
  std::shared_ptr<void> Bring(MemoryKind kind, std::size_t size, const Stream& on);
  static std::shared_ptr<void> BringPageable();

  Options options_;
  std::unique_ptr<Watch> device_;
  std::vector<Stream> streams_;
  std::vector<Slot> slots_;
  std::uint8_t version_ = 0;
  std::string wrong_;
};

/// A fresh world, the steps, and the end. Says what was wrong, or nothing.
std::string Run(const World::Options& options, const std::vector<Step>& steps);
/// Takes away steps as long as the rest still goes wrong.
std::vector<Step> Shrink(const World::Options& options, std::vector<Step> steps);

}  // namespace ferry::testing
