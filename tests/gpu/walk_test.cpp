// SPDX-License-Identifier: BSD-2-Clause
// On each GPU, what tests/property does on the simulator: every short sequence of accesses, and a random
// walk, with streams that run late. A kernel is a delay and copies of the runtime's own, so that no
// compiler for GPUs is needed.
#include <array>
#include <cstring>
#include <optional>
#include <random>

#include "kernel.hpp"  // of tests/<backend>
#include "tests/gpu/gpus.hpp"
#include "tests/property/sequences.hpp"

namespace ferry::testing {
namespace {

using vendor::Kernel;

/// One memory on a GPU, used as a program would use it, and the model of its bytes.
class Walk {
 public:
  Walk(Device& device, const Kernel& delay, std::mt19937& random)
      : device_(device), delay_(delay), random_(random), streams_{Stream::Main(device), Stream(device)} {
    memory_.emplace(Model::kCapacity, device);
  }

  void Apply(const Step& step) {
    const Stream on = streams_[step.stream % streams_.size()];
    const auto within = [&](std::size_t capacity) { return step.amount % (capacity + 1); };
    switch (step.verb) {
      case Verb::kPrefetch:
        return memory_->Prefetch(step.side, on);
      case Verb::kResize:
        return Resize(within(memory_->capacity()));
      case Verb::kRenew:
        return Renew(within(Model::kCapacity));
      case Verb::kNewStream:
        return streams_.size() < 4 ? void(streams_.emplace_back(device_)) : void();
      case Verb::kDropStream:
        return streams_.size() > 2 ? streams_.pop_back() : void();
      default:
        return step.side == Side::kCpu ? OnHost(step.verb) : OnGpu(step.verb, on);
    }
  }

  /// Ends with work still queued; says whether every kernel found the bytes that it should.
  bool Finish() {
    memory_.reset();
    streams_.clear();
    Drain(device_.properties().index);
    for (const Seen& seen : seen_)
      current_ &= std::memcmp(seen.bytes->data(), seen.expected.bytes.data(), seen.expected.size) == 0;
    return current_;
  }

 private:
  using Bytes = std::array<std::uint8_t, Model::kCapacity>;
  struct Seen {
    std::shared_ptr<Bytes> bytes;
    Model expected;
  };

  void Resize(std::size_t size) {
    memory_->Resize(size);
    model_.Resize(size);
  }
  void Renew(std::size_t size) {
    memory_.emplace(size, device_);
    model_ = {};
    model_.size = size;
  }

  void OnHost(Verb verb) {
    const void* const read = verb == Verb::kRead ? memory_->cpu_data() : nullptr;
    void* const write = verb == Verb::kReadWrite   ? memory_->mutable_cpu_data()
                        : verb == Verb::kOverwrite ? memory_->overwrite_cpu_data()
                                                   : nullptr;
    if (model_.size == 0) return;
    if (verb != Verb::kOverwrite)
      current_ &= std::memcmp(read != nullptr ? read : write, model_.bytes.data(), model_.size) == 0;
    if (write == nullptr) return;
    model_.Write(verb, ++version_);
    std::memcpy(write, model_.bytes.data(), model_.size);
  }

  void OnGpu(Verb verb, const Stream& on) {
    void* const ptr = verb == Verb::kRead        ? const_cast<void*>(memory_->gpu_data(on))
                      : verb == Verb::kReadWrite ? memory_->mutable_gpu_data(on)
                                                 : memory_->overwrite_gpu_data(on);
    if (model_.size == 0) return;
    delay_.Launch(on, std::uint64_t{random_() % 30'000});
    if (verb != Verb::kOverwrite) {
      seen_.push_back({Pinned(), model_});
      device_.Copy(CopyKind::kDeviceToHost, seen_.back().bytes.get(), ptr, model_.size, on.handle());
    }
    if (verb == Verb::kRead) return;
    model_.Write(verb, ++version_);
    seen_.push_back({Pinned(), model_});  // lives until the copy from it is over
    *seen_.back().bytes = model_.bytes;
    device_.Copy(CopyKind::kHostToDevice, ptr, seen_.back().bytes.get(), model_.size, on.handle());
  }

  std::shared_ptr<Bytes> Pinned() {
    const StreamHandle any = device_.properties().main_stream;
    void* const ptr = device_.Allocate(MemoryKind::kPinnedHost, sizeof(Bytes), any);
    return {static_cast<Bytes*>(ptr), [device = &device_, any](Bytes* bytes) {
              device->Deallocate(MemoryKind::kPinnedHost, bytes, sizeof(Bytes), any);
            }};
  }

  Device& device_;
  const Kernel& delay_;
  std::mt19937& random_;
  std::vector<Stream> streams_;
  std::optional<SyncedMemory> memory_;
  Model model_;
  std::vector<Seen> seen_;
  std::uint8_t version_ = 0;
  bool current_ = true;
};

/// A GPU that is the current device, as the kernel needs it.
struct Gpu {
  std::unique_ptr<Device> device = EachGpu();
  Runtime::Error current = Runtime::SetDevice(device->properties().index);
  SyncedMemory context{1, *device};  // its first access makes the context
  const void* made = context.gpu_data();
  Kernel delay{"Delay"};
  std::mt19937 random{3};

  void Run(const std::vector<Step>& steps) {
    Walk walk(*device, delay, random);
    for (const Step& step : steps) walk.Apply(step);
    if (!walk.Finish()) FAIL("the bytes are not current\n" << Describe(steps));
  }
};

TEST_CASE("All short sequences of accesses on a GPU keep the bytes current") {
  Gpu gpu;
  for (std::size_t length = 1; length <= 4; ++length)
    CHECK(EachSequence(length, kAlphabet.size(), 0,
                       [&](const std::vector<Step>& steps, std::uint64_t) { gpu.Run(steps); }) > 0);
  CHECK(LastError() == "");
}

TEST_CASE("A random walk on a GPU never meets a wrong byte") {
  Gpu gpu;
  using enum Verb;
  constexpr std::array kVerbs{kRead,   kReadWrite, kOverwrite, kPrefetch,
                              kResize, kRenew,     kNewStream, kDropStream};
  const auto walks = static_cast<int>(500 * Scale());
  for (int walk = 0; walk < walks; ++walk) {
    std::vector<Step> steps(100);
    for (Step& step : steps)
      step = {.verb = kVerbs[gpu.random() % kVerbs.size()],
              .side = gpu.random() % 3 == 0 ? Side::kCpu : Side::kGpu,
              .stream = static_cast<unsigned>(gpu.random() % 8),
              .amount = static_cast<unsigned>(gpu.random() % 1024)};
    gpu.Run(steps);
  }
  CHECK(LastError() == "");
}

}  // namespace
}  // namespace ferry::testing
