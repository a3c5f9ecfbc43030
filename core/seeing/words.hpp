// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/memory/same.hpp"
#include "ferry/device.hpp"
#include "ferry/observer.hpp"

/// How records are put into words. Throws std::bad_alloc.
namespace ferry::detail {

/// "the host" or "cuda:0".
std::string NameOfSpace(const Device* device);
/// `Step (step.cpp:34)`: the function, and the file without its folders.
std::string NameOf(const Site& site);
/// `"weight7"`, or `a memory without a label`. One line, with JSON's escapes.
std::string NameOf(const SyncedMemory& memory);
/// "1.2 MB": three digits, of powers of 1000.
std::string BytesInWords(std::uint64_t bytes);
/// `read "weight7" on cuda:0 by Step (step.cpp:34)`.
std::string InWords(const AccessRecord& access);
/// What a caller said: "mutable", "overwrite" or "read", by the accessors' names.
const char* AskedAs(Access access) noexcept;
/// The same, or "prefetch" or "release".
const char* AskedAs(Purpose purpose, Access access) noexcept;
/// Appends it as JSON's "...". What is not UTF-8 becomes U+FFFD.
void AppendJson(std::string& json, std::string_view text);

}  // namespace ferry::detail
