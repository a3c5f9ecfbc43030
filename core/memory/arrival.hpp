// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/device/name.hpp"
#include "core/memory/runs.hpp"
#include "ferry/observer.hpp"
#include "ferry/synced_memory.hpp"

namespace ferry::detail {

// Spaces, by number: the memory's own, and then further devices in the order of first use.
constexpr unsigned kHost = 0, kDevice = 1;
constexpr Spaces Only(unsigned space) noexcept { return Spaces{1} << space; }

/// The bytes of a range, to kEnd if they are as far as the memory goes; nothing where they go beyond.
inline std::optional<Bytes> Within(std::size_t size, ByteRange range) noexcept {
  if (range.first == 0 && range.bytes == ByteRange::kRest) return Bytes{};
  if (range.first > size) return std::nullopt;
  const std::size_t rest = size - range.first;
  if (range.bytes < rest) return Bytes{range.first, range.first + range.bytes};
  if (range.bytes != rest && range.bytes != ByteRange::kRest) return std::nullopt;
  return Bytes{range.first, rest == 0 ? range.first : Bytes::kEnd};
}

/// Whether a copy by that device may read the bytes when it is queued, and not in the order of its stream:
/// its driver has not allocated them.
inline bool PageableFor(const Buffer& source, const Device& copier) {
  return source.adopted() || source.guarded ||
         (source.kind != MemoryKind::kDevice && !SameBackend(*source.device, copier));
}

/// One access of a call.
struct Arrival {
  Arrival(const SyncedMemory& of, Bytes all, Access how, const Stream* stream, const Site& from)
      : memory(&of),
        bytes(all),
        access(how),
        on(stream),
        site(from),
        space(stream == nullptr ? kHost : of.SpaceOf(stream->device())),
        empty(of.size_ == 0 || all.empty()) {}

  bool Lacks(Spaces holders) const noexcept {
    if (only_of != 0) return holders != 0 && (holders & ~only_of) == 0;
    return (holders & Only(space)) == 0;
  }

  Purpose purpose() const noexcept {
    return !prefetch ? Purpose::kAccess : only_of == 0 ? Purpose::kPrefetch : Purpose::kRelease;
  }

  const SyncedMemory* memory;
  Bytes bytes;  ///< to kEnd, if it is as far as the memory goes
  Access access;
  const Stream* on;  ///< null: the host
  Site site;
  unsigned space;
  bool empty;             ///< needs no memory
  bool prefetch = false;  ///< only starts copies, on `on`
  Spaces only_of = 0;     ///< else, only of what these spaces alone hold
  bool in_place = false;  ///< when the call began: see AccessRecord

  // What was done.
  std::size_t hole = Bytes::kEnd;      ///< where the first bytes are that are to become zeros
  bool noted = false;                  ///< before, by a use that stands for this one, too
  std::size_t copied = 0, zeroed = 0;  ///< in bytes
  Head before{};
  std::optional<ferry::Write> written{};  ///< of the bytes that had to be copied
  std::chrono::nanoseconds waited{};      ///< by the host
  void* ptr = nullptr;                    ///< to the first byte
  const Buffer* allocating{};             ///< what had no memory last
  struct Asked {
    Bytes bytes;
    unsigned to, source;
    friend bool operator==(const Asked&, const Asked&) = default;
  };
  std::optional<Asked> asked{};  ///< the copy that observers have allowed, until it is queued
  std::uint64_t asked_of = 0;    ///< how many observers had come then
};

}  // namespace ferry::detail

namespace ferry {

template <class Change>
void SyncedMemory::ChangeHolders(detail::Bytes bytes, Change change) const noexcept {
  holders_.Each(bytes, [&](detail::Bytes, Spaces& holders) {
    holders = change(holders);
    return true;
  });
}

/// Whether one of them meets the condition.
template <class Condition>
bool SyncedMemory::AnyBuffer(Condition condition) const {
  return condition(cpu_) || condition(gpu_) ||
         std::any_of(others_.begin(), others_.end(), [&](const auto& other) { return condition(*other); });
}

/// The space's buffer, if the access changes nothing and waits for nobody; else null.
[[gnu::always_inline]] inline const detail::Buffer* SyncedMemory::Placed(unsigned space, Access access,
                                                                         const Stream* on,
                                                                         detail::Bytes bytes) const noexcept {
  const Buffer& here = BufferOf(space);
  if (here.ptr == nullptr || bytes.first >= size_ || bytes.empty()) return nullptr;
  const auto stays = [&](detail::Bytes, Spaces holders) {
    return (holders & detail::Only(space)) != 0 && Next(holders, detail::Only(space), access).next == holders;
  };
  const bool ordered =
      on == nullptr ? here.uses.Quiet(bytes, access) : here.uses.Covers(bytes, access, on->id());
  if (!ordered || !holders_.Each({bytes.first, std::min(bytes.last, size_)}, stays)) return nullptr;
  if (access != Access::kRead && AnyBuffer([](const Buffer& buffer) { return buffer.constant; }))
    return nullptr;
  // A copy from the caller's bytes may be under way. One to them concerns nobody here.
  const Buffer& host = BufferOf(detail::kHost);
  if (host.adopted() && &here != &host && !host.uses.Unread(bytes)) return nullptr;
  return &here;
}

}  // namespace ferry
