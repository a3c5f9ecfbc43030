// SPDX-License-Identifier: BSD-2-Clause
#include "parts_world.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "ferry/backend.hpp"
#include "ferry/error.hpp"
#include "world.hpp"

namespace ferry::testing {
namespace {

/// Whether another operand of the same bytes has another access.
bool Joint(const std::vector<detail::Request>& requests, std::size_t i) {
  return std::any_of(requests.begin(), requests.end(), [&](const detail::Request& other) {
    return other.memory == requests[i].memory && other.range.first == requests[i].range.first &&
           other.range.bytes == requests[i].range.bytes && other.access != requests[i].access;
  });
}

}  // namespace

std::string Describe(const std::vector<Move>& moves) {
  constexpr const char* kKinds[] = {"access", "prefetch", "release", "resize", "new stream",
                                    "forget", "renew",    "assign",  "adopt"};
  std::ostringstream text;
  for (const Move& move : moves) {
    text << "  " << kKinds[static_cast<unsigned>(move.kind)] << " device " << move.device << " stream "
         << move.stream;
    for (const Part& part : move.parts)
      text << ", " << Name(part.access) << " memory " << part.memory << " [" << part.first << ", "
           << part.first + part.bytes << ')';
    text << '\n';
  }
  return text.str();
}

PartsWorld::PartsWorld(const sim::Options& options) {
  sim::Reset(options);
  for (const Backend& backend : Backends()) {
    if (std::string_view(backend.name) == "host") devices_[kGpus] = backend.make(0);
    if (std::string_view(backend.name) != "sim") continue;
    for (int i = 0; i < kGpus; ++i) devices_[static_cast<std::size_t>(i)] = backend.make(i);
  }
  for (std::size_t i = 0; i < kDevices; ++i) streams_[i] = {{Stream::Main(*devices_[i]), nullptr}};
  for (std::size_t i = 0; i < memories_.size(); ++i) Renew(i, options.seed);
}

void PartsWorld::Apply(const Move& move) {
  for (const bool again : {false, true}) {
    try {
      return Try(move);
    } catch (const Error& error) {
      if (again) Wrong(std::string("a second fault: ") + error.what());
    } catch (const std::bad_alloc& error) {
      if (again) Wrong(std::string("a second fault: ") + error.what());
    }
  }
}

std::string PartsWorld::Finish() {
  for (auto& memory : memories_) memory.reset();
  lent_ = {};
  for (auto& streams : streams_) streams.clear();
  for (auto& device : devices_) device.reset();
  if (auto complaint = Complaint(); !complaint.empty()) Wrong(std::move(complaint));
  return wrong_;
}

void PartsWorld::Renew(std::size_t i, std::uint64_t draw) {
  memories_[i].reset();
  lent_[i].reset();
  models_[i] = {};
  memories_[i] = std::make_unique<SyncedMemory>(Part::kSize, *devices_[(i + draw) % kDevices]);
  sizes_[i] = Part::kSize;
}

const Stream& PartsWorld::StreamOf(const Move& move) const {
  const auto& streams = streams_[static_cast<std::size_t>(move.device)];
  return streams[move.stream % streams.size()].stream;
}

ByteRange PartsWorld::RangeOf(const Part& part) const {
  const std::size_t size = sizes_[part.memory], first = std::min(part.first, size);
  if (first == 0 && part.bytes >= size) return {};
  return {first, std::min(part.bytes, size - first)};
}

void PartsWorld::Try(const Move& move) {
  const Part& part = move.parts.front();
  SyncedMemory& memory = *memories_[part.memory];
  switch (move.kind) {
    case Move::Kind::kAccess:
      return AccessAll(move);
    case Move::Kind::kPrefetch:
      if (move.device >= 0)
        memory.Prefetch(part.access == Access::kRead ? Side::kCpu : Side::kGpu, StreamOf(move),
                        RangeOf(part));
      return;
    case Move::Kind::kRelease:
      return move.device < 0 ? memory.Release(Side::kCpu)
                             : memory.Release(*devices_[static_cast<std::size_t>(move.device)]);
    case Move::Kind::kResize:
      return Resize(part);
    case Move::Kind::kNewStream:
      if (move.device >= 0) NewStream(move);
      return;
    case Move::Kind::kForget:
      if (move.device >= 0) memory.Forget(StreamOf(move));
      return;
    case Move::Kind::kRenew:
      return Renew(part.memory, part.first);
    case Move::Kind::kAssign:
      return Assign(move);
    case Move::Kind::kAdopt:
      return Adopt(part);
  }
}

/// In the place of an old one, which goes: ours or, on a GPU, a borrowed one, of which the memories are told.
void PartsWorld::NewStream(const Move& move) {
  auto& streams = streams_[static_cast<std::size_t>(move.device)];
  Device& device = *devices_[static_cast<std::size_t>(move.device)];
  const bool lends = move.device < kGpus && move.parts.front().first % 2 != 0;
  const Lane fresh = lends ? Lane::Lent(device) : Lane{Stream(device), nullptr};
  if (streams.size() < 3) return streams.push_back(fresh);
  Lane& old = streams[1 + move.stream % 2];
  if (old.lent != nullptr)
    for (const auto& memory : memories_) memory->Forget(old.stream);
  old = fresh;
}

PartsWorld::Lane PartsWorld::Lane::Lent(Device& device) {
  const StreamHandle handle = sim::CreateBlockingStream(device);
  return {Stream::Borrow(device, handle),
          {&device, [handle](Device* owner) { owner->DestroyStream(handle); }}};
}

void PartsWorld::AccessAll(const Move& move) {
  std::vector<detail::Request> requests;
  for (const Part& part : move.parts)
    requests.push_back({memories_[part.memory].get(), RangeOf(part), part.access});
  std::vector<void*> ptrs(requests.size());
  const Stream* const on = move.device < 0 ? nullptr : &StreamOf(move);
  try {
    detail::Take(requests, on, ptrs);
  } catch (const std::invalid_argument&) {
    return;  // a partial overlap
  }
  const std::uint8_t version = ++version_;
  std::vector<Touch> touches;
  std::vector<std::function<void()>> work;
  auto after = models_;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Part& part = move.parts[i];
    const std::size_t first = requests[i].range.first;
    const std::size_t count = std::min(requests[i].range.bytes, sizes_[part.memory] - first);
    if (count == 0) continue;
    const bool reads = part.access != Access::kOverwrite || Joint(requests, i);
    const bool writes = part.access != Access::kRead || Joint(requests, i);
    auto* const bytes = static_cast<std::uint8_t*>(ptrs[i]);
    if (writes)
      touches.emplace_back(bytes, static_cast<std::int64_t>(count));
    else
      touches.emplace_back(static_cast<const std::uint8_t*>(bytes), static_cast<std::int64_t>(count));
    if (part.access != Access::kRead)
      std::fill_n(after[part.memory].begin() + static_cast<std::ptrdiff_t>(first), count, version);
    work.emplace_back([this, bytes, count, reads, was = models_[part.memory], first] {
      if (reads && std::memcmp(bytes, was.data() + first, count) != 0) Wrong("the bytes are not current");
    });
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Part& part = move.parts[i];
    const std::size_t count =
        std::min(requests[i].range.bytes, sizes_[part.memory] - requests[i].range.first);
    if (part.access != Access::kRead && count != 0)
      work.emplace_back([ptr = ptrs[i], count, version] { std::memset(ptr, version, count); });
  }
  models_ = after;
  const auto all = [work] {
    for (const auto& one : work) one();
  };
  if (on == nullptr || on->device().properties().kernels_at_once) return all();
  sim::Launch(*on, touches, all);
}

void PartsWorld::Resize(const Part& part) {
  const std::size_t size = std::min(part.first, memories_[part.memory]->capacity());
  memories_[part.memory]->Resize(size);
  auto& model = models_[part.memory];
  for (std::size_t i = sizes_[part.memory]; i < size; ++i) model[i] = 0;
  sizes_[part.memory] = size;
}

void PartsWorld::Assign(const Move& move) {
  const Part& part = move.parts.front();
  const std::size_t other = 1 - part.memory;
  SyncedMemory &memory = *memories_[part.memory], &source = *memories_[other];
  auto& model = models_[part.memory];
  const auto from = models_[other].begin();
  if (part.access == Access::kRead) {
    const std::size_t size = std::min({part.bytes, memory.capacity(), sizes_[other]});
    const bool keeps = move.stream == 0;
    memory.Assign(source, size, keeps ? SyncedMemory::Rest::kKept : SyncedMemory::Rest::kDropped);
    std::copy_n(from, size, model.begin());
    sizes_[part.memory] = keeps ? std::max(size, sizes_[part.memory]) : size;
    return;
  }
  const std::size_t first = std::min(part.first, sizes_[part.memory]);
  const std::size_t start = std::min(move.parts.back().first, sizes_[other]);
  const std::size_t size = std::min({part.bytes, sizes_[part.memory] - first, sizes_[other] - start});
  memory.Assign({first, size}, source, start, move.device < 0 ? nullptr : &StreamOf(move));
  std::copy_n(from + static_cast<std::ptrdiff_t>(start), size,
              model.begin() + static_cast<std::ptrdiff_t>(first));
}

/// Bytes that every device can use, since one of them may be unified.
void PartsWorld::Adopt(const Part& part) {
  SyncedMemory& memory = *memories_[part.memory];
  const std::size_t size = sizes_[part.memory];
  if (size == 0) return;
  Device& device = memory.device();
  const auto kind = device.properties().unified ? MemoryKind::kManaged : MemoryKind::kPinnedHost;
  const std::shared_ptr<void> bytes(device.Allocate(kind, size, device.properties().main_stream),
                                    [&device, kind, size](void* ptr) {
                                      device.Deallocate(kind, ptr, size, device.properties().main_stream);
                                    });
  std::memset(bytes.get(), ++version_, size);
  memory.set_cpu_data(bytes.get());
  std::fill_n(models_[part.memory].begin(), size, version_);
  lent_[part.memory] = bytes;
}

std::string RunParts(const sim::Options& options, const std::vector<Move>& moves) {
  PartsWorld world(options);
  for (const Move& move : moves) world.Apply(move);
  return world.Finish();
}

}  // namespace ferry::testing
