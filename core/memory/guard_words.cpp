// SPDX-License-Identifier: BSD-2-Clause
// What is said of a touch that a guard forbids. In a signal's handler: nothing is allocated.
#include "core/memory/guard_words.hpp"

#include <algorithm>
#include <bit>

#include "core/memory/arrival.hpp"
#include "core/memory/writers.hpp"

namespace ferry::detail {

void HostGuard::Words::NameSite(FaultLine& line, const Site& site) noexcept {
  const std::string_view file = site.file();
  (line << site.function() << " (" << file.substr(file.rfind('/') + 1) << ":").Number(site.line()) << ")";
}

HostGuard::Words HostGuard::Words::Of(const SyncedMemory& memory, unsigned space, std::size_t byte) noexcept {
  const Bytes here{byte, byte + 1};
  Words words;
  words.in_use_ = memory.size_;
  Spaces holders = 0;
  memory.holders_.Each(here, [&](Bytes, Spaces of) { return holders = of, true; });
  const Spaces others = holders & ~Only(space);
  if (byte >= memory.size_) {
    words.why_ = Why::kNotInUse;
  } else if (holders == 0) {
    words.why_ = Why::kUnasked;
  } else if ((holders & Only(space)) == 0) {
    words.why_ = Why::kElsewhere;
    words.alone_ = std::has_single_bit(others);
    if (memory.writers_ != nullptr) words.written_ = memory.writers_->Of(here);
  } else if (space == kHost && !memory.cpu_.uses.Quiet(here, Access::kRead)) {
    words.why_ = Why::kOnItsWay;
  } else {
    words.why_ = others != 0 ? Why::kShared : Why::kBeingRead;
  }
  if (const auto holder = static_cast<unsigned>(std::countr_zero(others)); others != 0 && holder != kHost) {
    const DeviceProperties& device = memory.DeviceOf(holder).properties();
    const std::size_t most = words.backend_.size() - 1;
    std::copy_n(device.backend.begin(), std::min(device.backend.size(), most), words.backend_.begin());
    words.index_ = device.index;
  }
  return words;
}

void HostGuard::Words::NameHolder(FaultLine& line) const noexcept {
  if (backend_[0] == '\0')
    line << "the host";
  else
    (line << backend_.data() << ":").Number(index_);
}

const char* HostGuard::Words::Verb(FaultAccess access) noexcept {
  return access == FaultAccess::kWrite ? "wrote" : access == FaultAccess::kRead ? "read" : "touched";
}

const char* HostGuard::Words::RightAccess(Side side, FaultAccess access) noexcept {
  const bool host = side == Side::kCpu;
  if (access == FaultAccess::kWrite) return host ? "mutable_cpu_data" : "mutable_gpu_data";
  if (access == FaultAccess::kRead) return host ? "cpu_data" : "gpu_data";
  return host ? "cpu_data, or mutable_cpu_data to write," : "gpu_data, or mutable_gpu_data to write,";
}

void HostGuard::Words::NameByte(FaultLine& line, std::ptrdiff_t byte, std::string_view label,
                                std::size_t bytes) noexcept {
  const auto behind = byte - static_cast<std::ptrdiff_t>(bytes);
  if (behind < 0)
    (line << "byte ").Number(byte) << " of ";
  else
    line.Bytes(behind + 1) << " behind the end of ";
  if (label.empty()) {
    line << "a memory without a label";
  } else {
    constexpr std::size_t kMost = 200;  // so that there is room for the rest
    line << "\"";
    for (const char c : label.substr(0, kMost))
      line << (static_cast<unsigned char>(c) < ' ' ? "?" : std::string_view(&c, 1));
    line << (label.size() > kMost ? "...\"" : "\"");
  }
  (line << ", which has ").Number(bytes) << ": ";
}

void HostGuard::Words::Describe(FaultLine& line, Side side, FaultAccess access) const noexcept {
  const char* const right = RightAccess(side, access);
  const char* const to_write = RightAccess(side, FaultAccess::kWrite);
  switch (why_) {
    case Why::kNotInUse:
      (line << "only ").Number(in_use_) << " of them are in use.";
      return;
    case Why::kUnasked:
      line << "nobody has asked for it yet. Call " << right << " for a pointer.";
      return;
    case Why::kElsewhere:
      NameHolder(line);
      line << (alone_ ? " alone has it" : " has it");
      if (written_) {
        line << ", since ";
        NameSite(line, written_->site);
        line << " asked for it " << (written_->access == Access::kReadWrite ? "mutable" : "to overwrite");
      }
      line << ". Call " << right << " again after that.";
      return;
    case Why::kOnItsWay:
      line << "it is on its way to the host. Call " << right << ", which waits for it.";
      return;
    case Why::kShared:
      NameHolder(line);
      line << " has it, too. Call " << to_write << " again to write it.";
      return;
    case Why::kBeingRead:
      line << "a device may still read it. Call " << to_write << " again to write it.";
      return;
  }
}

}  // namespace ferry::detail
