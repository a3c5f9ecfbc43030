// SPDX-License-Identifier: BSD-2-Clause
#include "core/seeing/words.hpp"

#include <array>
#include <cstdio>

#include "core/device/name.hpp"
#include "ferry/synced_memory.hpp"

namespace ferry::detail {

std::string NameOfSpace(const Device* device) { return device == nullptr ? "the host" : Name(*device); }

std::string NameOf(const Site& site) { return Name(site); }

std::string NameOf(const SyncedMemory& memory) {
  return memory.label().empty() ? "a memory without a label" : '"' + memory.label() + '"';
}

std::string BytesInWords(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 || value >= 99.95 ? "%.0f %s" : "%.1f %s", value,
                kUnits[unit]);
  return text.data();
}

const char* AskedAs(Access access) noexcept {
  constexpr std::array<const char*, 3> kNames = {"read", "mutable", "overwrite"};
  return kNames[static_cast<std::size_t>(access)];
}

}  // namespace ferry::detail
