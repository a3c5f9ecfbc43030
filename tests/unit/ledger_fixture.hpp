// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ferry/ferry.hpp"

namespace ferry::testing {

struct LedgerFixture {
  LedgerFixture() { sim::Reset({.seed = 1}); }
  std::unique_ptr<Device> device = MakeDevice("sim:0");
};

inline void Norm(Blob<float>& blob) { blob.mutable_cpu_data(); }
inline void Step(const Blob<float>& blob) { blob.gpu_data(); }
inline void Look(const Blob<float>& blob) { blob.cpu_data(); }
inline void Grow(Blob<float>& blob) { blob.mutable_cpu_data()[0] += 1; }
inline void GrowThere(Blob<float>& blob) { Scale(Place(blob.device()), 2.0F, blob); }

inline void Fetch(const SyncedMemory& memory, Side side) {
  memory.Prefetch(side, Stream::Main(memory.device()));
}

/// The first of that kind, or null.
inline const LedgerEntry* Find(const std::vector<LedgerEntry>& entries, LedgerKind kind) {
  for (const LedgerEntry& entry : entries)
    if (entry.kind == kind) return &entry;
  return nullptr;
}
/// Of all entries.
inline std::uint64_t Total(const Ledger& ledger, std::uint64_t LedgerEntry::*what) {
  std::uint64_t sum = 0;
  for (const LedgerEntry& entry : ledger.Entries()) sum += entry.*what;
  return sum;
}
inline std::string Joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

inline void AskThere(Blob<float>& blob) { blob.mutable_gpu_data(); }

/// One whose ledger verifies, of a blob that the host has written.
struct VerifyFixture : LedgerFixture {
  VerifyFixture() { blob.set_name("weight7"), Grow(blob); }
  std::uint64_t unwritten() const { return Total(*ledger, &LedgerEntry::unwritten); }

  Blob<float> blob{{100}, *device};
  std::optional<Ledger> ledger{Ledger::Detail::kVerify};
};

}  // namespace ferry::testing
