// SPDX-License-Identifier: BSD-2-Clause
#include "stray_access.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "ferry/detail/fault.hpp"
#include "machine.hpp"

namespace ferry::sim {
namespace {

using detail::FaultLine;

void DescribePlace(FaultLine& line, const Block& block, const std::byte* at) {
  if (block.contains(at))
    (line << "byte ").Number(at - block.address) << " of ";
  else if (at < block.address)
    line.Bytes(block.address - at) << " in front of ";
  else
    line.Bytes(at - block.end() + 1) << " behind the end of ";
}

void DescribeBlock(FaultLine& line, const Block& block) {
  line.Bytes(static_cast<std::ptrdiff_t>(block.bytes)) << " of ";
  if (block.kind == MemoryKind::kPinnedHost)
    line << "pinned host memory";
  else
    (line << (block.kind == MemoryKind::kDevice ? "device" : "managed") << " memory of sim:")
        .Number(block.device);
  (line << ", made by " << block.made.name << " (call ").Number(block.made.number) << ")";
}

const char* Advice(const Block& block, const std::byte* at) {
  if (block.freed) return " and freed since.";
  if (!block.contains(at) || block.kind != MemoryKind::kDevice) return ".";
  return InKernel() ? ". Its launch did not name this block, or named it for reading alone."
                    : ". The host can only use what cpu_data returns.";
}

void Describe(FaultLine& line, const Memory& memory, const std::byte* at) {
  constexpr std::ptrdiff_t kNear = 4096;  // so far from a block an access may still be meant for it
  const Block* const block = memory.Nearest(at);
  if (block == nullptr || block->address - at > kNear || at - block->end() > kNear) {
    line << "memory of the simulated GPU that was freed long ago, or never allocated.";
    return;
  }
  DescribePlace(line, *block, at);
  DescribeBlock(line, *block);
  line << Advice(*block, at);
}

class StrayAccesses final : public detail::FaultReporter {
 public:
  bool Owns(const void* address) const noexcept override {
    const Machine* const machine = machine_;
    return machine != nullptr && machine->memory.Owns(address);
  }
  bool Report(const void* address, detail::FaultAccess access) noexcept override {
    Machine& machine = *machine_;
    FaultLine line;
    if (const auto* const guard = ForbiddenBy(address, access)) {
      line << "[ferry] [error] FERRY_GUARD: a kernel ";
      guard->Describe(line, address, access);
      line << "\n";
      return line.Write(), false;
    }
    (line << "[ferry] [error] sim: " << (InKernel() ? "a kernel" : "host code") << " touched 0x")
        .Number(reinterpret_cast<std::uintptr_t>(address), 16);
    line << ": ";
    if (detail::TryLockInHandler(machine.mutex)) {
      Describe(line, machine.memory, static_cast<const std::byte*>(address));
      machine.mutex.unlock();
      if (!InKernel()) detail::KernelGuard::NameForHost(line, address);
    } else {
      line << "memory of the simulated GPU; whose cannot be told while the simulator is at work.";
    }
    line << "\n";
    line.Write();
    return false;
  }
  void Watch(Machine& machine) noexcept { machine_ = &machine; }

 private:
  std::atomic<Machine*> machine_{nullptr};
};

}  // namespace

void ReportStrayAccesses(Machine& machine) noexcept {
  static StrayAccesses stray;
  stray.Watch(machine);
  detail::ReportFaults(stray);
}

}  // namespace ferry::sim
