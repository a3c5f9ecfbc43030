// SPDX-License-Identifier: BSD-2-Clause
// What is said of a touch that a guard forbids. In a signal's handler: nothing is allocated.
#include <bit>
#include <string_view>

#include "core/memory/guard_table.hpp"
#include "core/memory/writers.hpp"

namespace ferry::detail {
namespace {

void NameSite(FaultLine& line, const Site& site) noexcept {
  const std::string_view file = site.file();
  (line << site.function() << " (" << file.substr(file.rfind('/') + 1) << ":").Number(site.line()) << ")";
}

void NameDevice(FaultLine& line, const Device& device) noexcept {
  (line << device.properties().backend << ":").Number(device.properties().index);
}

void NameLabel(FaultLine& line, std::string_view label) noexcept {
  if (label.empty())
    line << "a memory without a label";
  else
    line << "\"" << label << "\"";
}

constexpr const char* RightAccess(FaultAccess access) noexcept {
  return access == FaultAccess::kWrite  ? "mutable_cpu_data"
         : access == FaultAccess::kRead ? "cpu_data"
                                        : "cpu_data, or mutable_cpu_data to write,";
}
constexpr const char* Verb(FaultAccess access) noexcept {
  return access == FaultAccess::kWrite ? "wrote" : access == FaultAccess::kRead ? "read" : "touched";
}

}  // namespace

bool HostGuard::Table::Block::Allows(const void* address, FaultAccess access) const noexcept {
  const auto at = static_cast<std::size_t>(static_cast<const std::byte*>(address) - begin);
  if (owner == nullptr || at >= bytes) return false;
  const Access now = pages[at / Pages::page()];
  if (access == FaultAccess::kUnknown) return false;
  return now == Access::kReadWrite || (now == Access::kRead && access == FaultAccess::kRead);
}

bool HostGuard::Table::Report(const void* address, FaultAccess access) noexcept {
  const auto* const at = static_cast<const std::byte*>(address);
  FaultLine line;
  line << "[ferry] [error] FERRY_GUARD: host code " << Verb(access) << " ";
  if (!TryLockInHandler(mutex_)) {
    line << "guarded host memory; whose cannot be told while the guard is at work.\n";
    return line.Write(), false;
  }
  const auto block = Find(address);
  const bool allowed = within_reach_ || (block != blocks_.end() && block->second.Allows(address, access));
  if (block == blocks_.end())
    line << "guarded host memory that was given back long ago, or never allocated.";
  else
    Describe(line, block->second, at, access);
  mutex_.unlock();
  if (allowed) return true;
  line << "\n";
  return line.Write(), false;
}

void HostGuard::Table::Describe(FaultLine& line, const Block& block, const std::byte* at,
                                FaultAccess access) noexcept {
  const auto byte = static_cast<std::size_t>(at - block.begin);
  if (byte < block.bytes)
    (line << "byte ").Number(byte) << " of ";
  else
    line.Bytes(static_cast<std::ptrdiff_t>(byte - block.bytes) + 1) << " behind the end of ";
  NameLabel(line, block.owner != nullptr ? block.owner->label() : block.label);
  (line << ", which has ").Number(block.bytes) << ": ";
  if (block.owner == nullptr)
    line << "the memory has ended, or released its host bytes.";
  else if (byte >= block.bytes)
    line << "nothing is there.";
  else if (TryLockInHandler(block.owner->mutex_)) {
    DescribeState(line, block, byte, access);
    block.owner->mutex_.unlock();
  } else {
    line << "what happened to it cannot be told while a call is under way.";
  }
}

void HostGuard::Table::DescribeState(FaultLine& line, const Block& block, std::size_t byte,
                                     FaultAccess access) noexcept {
  const SyncedMemory& memory = *block.owner;
  Spaces holders = 0;
  memory.holders_.Each({byte, byte + 1}, [&](Bytes, Spaces of) { return holders = of, true; });
  const Spaces devices = holders & ~Only(kHost);
  const bool here = (holders & Only(kHost)) != 0;
  const auto name_holder = [&] {
    NameDevice(line, memory.DeviceOf(static_cast<unsigned>(std::countr_zero(devices))));
  };
  if (byte >= memory.size_) {
    (line << "only ").Number(memory.size_) << " of them are in use.";
    return;
  }
  if (holders == 0) {
    line << "nobody has asked for it yet. Call " << RightAccess(access) << " for a pointer.";
  } else if (!here) {
    name_holder();
    line << " alone has it";
    if (const auto written =
            memory.writers_ != nullptr ? memory.writers_->Of({byte, byte + 1}) : std::nullopt) {
      line << ", since ";
      NameSite(line, written->site);
      line << " asked for it " << (written->access == ferry::Access::kReadWrite ? "mutable" : "to overwrite");
    }
    line << ". Call " << RightAccess(access) << " again after that.";
  } else if (!memory.cpu_.uses.Quiet({byte, byte + 1}, ferry::Access::kRead)) {
    line << "it is on its way to the host. Call " << RightAccess(access) << ", which waits for it.";
  } else if (devices != 0) {
    name_holder();
    line << " has it, too. Call mutable_cpu_data again to write it.";
  } else {
    line << "a device may still read it. Call mutable_cpu_data again to write it.";
  }
}

}  // namespace ferry::detail
