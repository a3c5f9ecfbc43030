// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ferry/observer.hpp"

/// What a trace's events say of records: "cat":…,"name":…,"args":{…}. Of a label they have 1000 bytes at
/// most. Throws std::bad_alloc.
namespace ferry::detail {

std::string TextOf(const CopyRecord& copy);
/// `operands` are those of the accesses that the event stands for; empty for a Prefetch.
std::string TextOf(const AccessRecord& access, std::string_view operands);
std::string TextOf(const WaitRecord& wait);
std::string TextOf(const SyncRecord& sync);
/// `label` is what the block was allocated for: its end has to say the same.
std::string TextOf(const LifeRecord& life, const std::string& label);
std::string TextOf(const CallRecord& call, std::string_view category);
/// Of the host's wait before a memory ends, or before its host bytes do.
std::string TextOfWait(const LifeRecord& life);
/// Of the host's wait for a call's result.
std::string TextOfWait(const CallRecord& call);

/// `read "x"`
std::string OperandOf(const SyncedMemory& memory, Access access);

void AppendNumber(std::string& json, std::uint64_t number);
/// Of nanoseconds, which are not negative: 1234.567.
void AppendMicroseconds(std::string& json, std::int64_t ns);

}  // namespace ferry::detail
