// SPDX-License-Identifier: BSD-2-Clause
// A memory that is global dies after the context has gone: by a reset with an argument, else as the
// runtime unloads.
#include <cstdio>
#include <optional>

#include "ferry/synced_memory.hpp"
#include "names.hpp"

namespace {

constexpr int kSkipped = 4;
std::optional<ferry::SyncedMemory> memory;
std::optional<ferry::Stream> stream;

}  // namespace

int main(int argc, char**) {
  if (ferry::vendor::kBackend.count() == 0) return kSkipped;
  memory.emplace(1000);
  stream.emplace(ferry::DefaultDevice());
  memory->cpu_data();
  memory->mutable_gpu_data(*stream);
  if (argc > 1 && ferry::vendor::DeviceReset() != ferry::vendor::Runtime::kSuccess) return 1;
}
