// SPDX-License-Identifier: BSD-2-Clause
#include "core/seeing/words.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/device/name.hpp"
#include "ferry/stream.hpp"
#include "ferry/synced_memory.hpp"

namespace ferry::detail {
namespace {

/// How many bytes the character takes that `text` begins with; 0 where it is none of UTF-8.
std::size_t LengthOfCharacter(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  const auto between = [&](unsigned least, unsigned most) { return byte(1) >= least && byte(1) <= most; };
  const bool begins = first == 0xE0   ? between(0xA0, 0xBF)
                      : first == 0xED ? between(0x80, 0x9F)  // no half of a pair of UTF-16
                      : first == 0xF0 ? between(0x90, 0xBF)
                      : first == 0xF4 ? between(0x80, 0x8F)
                                      : first >= 0xC2 && first <= 0xF3 && between(0x80, 0xBF);
  for (std::size_t i = 2; begins && i < length; ++i)
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  return begins ? length : 0;
}

}  // namespace

void AppendJson(std::string& json, std::string_view text) {
  const auto plain = [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x80 && c != '"' &&
           c != '\\';
  };
  json += '"';
  while (!text.empty()) {
    const auto odd = std::find_if_not(text.begin(), text.end(), plain);
    json.append(text.begin(), odd);
    text.remove_prefix(static_cast<std::size_t>(odd - text.begin()));
    if (text.empty()) break;
    const char c = text.front();
    const std::size_t length = LengthOfCharacter(text);
    if (length == 0) {
      json += "\\ufffd";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\u%04x", static_cast<unsigned>(c));
      json += escaped.data();
    } else {
      if (length == 1) json += '\\';
      json += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  json += '"';
}

std::string NameOfSpace(const Device* device) { return device == nullptr ? "the host" : Name(*device); }

std::string NameOf(const Site& site) { return Name(site); }

std::string NameOf(const SyncedMemory& memory) {
  if (memory.label().empty()) return "a memory without a label";
  std::string quoted;
  AppendJson(quoted, memory.label());
  return quoted;
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

std::string InWords(const AccessRecord& access) {
  const Device* const device = access.on != nullptr ? &access.on->device() : nullptr;
  const char* const what =
      access.purpose == Purpose::kAccess ? Name(access.access) : AskedAs(access.purpose, access.access);
  return std::string(what) + ' ' + NameOf(*access.memory) + " on " + NameOfSpace(device) + " by " +
         NameOf(access.site);
}

const char* AskedAs(Access access) noexcept {
  constexpr std::array<const char*, 3> kNames = {"read", "mutable", "overwrite"};
  return kNames[static_cast<std::size_t>(access)];
}
const char* AskedAs(Purpose purpose, Access access) noexcept {
  constexpr std::array<const char*, 3> kNames = {nullptr, "prefetch", "release"};
  return purpose == Purpose::kAccess ? AskedAs(access) : kNames[static_cast<std::size_t>(purpose)];
}

}  // namespace ferry::detail
