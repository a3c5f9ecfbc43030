// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "machine.hpp"
#include "sim_runtime.hpp"

namespace ferry::sim {
namespace {

using enum SimRuntime::Error;

bool OnDevice(const Block* block) { return block != nullptr && block->kind == MemoryKind::kDevice; }

/// Managed memory is on either side, and so is all of the host's that a unified device can reach.
bool Fits(const Block* dst, const Block* src, SimRuntime::Direction direction) {
  const auto fits = [](const Block* block, bool device) {
    const bool either =
        block == nullptr ? machine().Unified(CurrentDevice()) && device : block->kind == MemoryKind::kManaged;
    return either || OnDevice(block) == device;
  };
  return fits(dst, direction != SimRuntime::kDeviceToHost) &&
         fits(src, direction != SimRuntime::kHostToDevice);
}

bool Overlap(const void* a, const void* b, std::size_t bytes) {
  return std::max(Number(a), Number(b)) - std::min(Number(a), Number(b)) < bytes;
}

void AddUse(Op& op, Block* block, const void* ptr, std::size_t bytes, bool writes) {
  if (block == nullptr) return;
  const auto first = static_cast<std::size_t>(static_cast<const std::byte*>(ptr) - block->address);
  op.uses.push_back({block, first, first + bytes, writes});
}

bool OfAnother(const Block* block) { return OnDevice(block) && block->device != CurrentDevice(); }

Error LocateOnCurrent(const Call& call, const void* ptr, std::size_t bytes, Block*& found) {
  const Error error = machine().Locate(call, ptr, bytes, found);
  if (error == kSuccess && OfAnother(found))
    return machine().Misuse(call, "memory of another device, made by " + found->made.text());
  return error;
}
/// A source may be a peer's memory: of a pool that is open to the device, or any other, which goes by way of
/// the host where the device has no access.
Error LocateSource(const Call& call, const void* ptr, std::size_t bytes, Block*& found) {
  const Error error = machine().Locate(call, ptr, bytes, found);
  if (error != kSuccess || !OfAnother(found)) return error;
  const int here = CurrentDevice();
  const auto misuse = [&](const char* what) {
    return machine().Misuse(call, what + (", made by " + found->made.text()));
  };
  if (!machine().Peers(here, found->device)) return misuse("memory of another device");
  const Machine::DeviceState& peer = machine().devices[static_cast<std::size_t>(found->device)];
  if (std::string_view(found->made.name) != "MallocAsync")
    machine().report.staged_copies += machine().Current().readable.contains(found->device) ? 0 : 1;
  else if (!peer.pool_readers.contains(here))
    return misuse("a peer's memory, of a pool that is not open to this device");
  return kSuccess;
}

}  // namespace

SimRuntime::Error SimRuntime::MemcpyAsync(void* dst, const void* src, std::size_t bytes, Direction direction,
                                          Stream on) {
  return Enter(__func__, Faults::kEither, [&](const Call& call, Lock& lock) {
    const auto queue = machine().Ready(call, Number(on), CurrentDevice());
    if (queue == nullptr) return kInvalidHandle;
    if (bytes == 0 && machine().options.zero_bytes) return kSuccess;
    Block *to = nullptr, *from = nullptr;
    if (const Error error = LocateOnCurrent(call, dst, bytes, to)) return error;
    const bool between = direction == kDeviceToDevice;
    if (const Error error =
            between ? LocateSource(call, src, bytes, from) : LocateOnCurrent(call, src, bytes, from))
      return error;
    if (!Fits(to, from, direction)) return machine().Misuse(call, "wrong direction");
    if (Overlap(dst, src, bytes)) return machine().Misuse(call, "source and destination overlap");
    ++machine().report.copies;
    void* const target = machine().memory.Reach(to, dst);
    const void* source = machine().memory.Reach(from, const_cast<void*>(src));
    const bool from_pageable = from == nullptr && direction == kHostToDevice;
    const bool to_pageable = to == nullptr && direction == kDeviceToHost;
    const bool late = machine().options.pageable_late;
    Op op{OpKind::kWork, call};
    AddUse(op, from, src, bytes, false);
    AddUse(op, to, dst, bytes, true);
    if (from_pageable && !late) {
      const auto* const first = static_cast<const std::byte*>(src);
      op.body = [=, staged = std::vector<std::byte>(first, first + bytes)] {
        machine().Write(to, target, staged.data(), bytes);
      };
    } else {
      op.body = [=] {
        if (!OnDevice(from)) machine().Release();
        machine().Write(to, target, source, bytes);
      };
    }
    machine().Push(queue, std::move(op));
    if ((from_pageable || to_pageable) && machine().options.pageable_serialises)
      machine().WaitForAll(CurrentDevice(), lock);
    else if (to_pageable && !late)
      machine().WaitFor(Point(queue), lock);
    return kSuccess;
  });
}
SimRuntime::Error SimRuntime::MemsetAsync(void* dst, int value, std::size_t bytes, Stream on) {
  return Enter(__func__, Faults::kEither, [&](const Call& call, Lock&) {
    const auto queue = machine().Ready(call, Number(on), CurrentDevice());
    if (queue == nullptr) return kInvalidHandle;
    Block* block = nullptr;
    if (const Error error = LocateOnCurrent(call, dst, bytes, block)) return error;
    if (block == nullptr && !machine().Unified(CurrentDevice()))
      return machine().Misuse(call, "memory that is not the device's");
    void* const target = machine().memory.Reach(block, dst);
    const auto fill = [=] {
      if (OnDevice(block)) return void(std::memset(target, value, bytes));
      const std::vector<std::byte> all(bytes, static_cast<std::byte>(value));
      machine().Write(block, target, all.data(), bytes);
    };
    Op op{OpKind::kWork, call, fill};
    AddUse(op, block, dst, bytes, true);
    machine().Push(queue, std::move(op));
    return kSuccess;
  });
}

}  // namespace ferry::sim
