// SPDX-License-Identifier: BSD-2-Clause
// A memory that is global dies after the context has gone, as the runtime unloads.
#include <optional>

#include "ferry/synced_memory.hpp"
#include "names.hpp"

namespace {

constexpr int kSkipped = 4;
std::optional<ferry::SyncedMemory> memory;
std::optional<ferry::Stream> stream;

}  // namespace

int main() {
  if (ferry::vendor::kBackend.count() == 0) return kSkipped;
  memory.emplace(1000);
  stream.emplace(ferry::DefaultDevice());
  memory->cpu_data();
  memory->mutable_gpu_data(*stream);
}
