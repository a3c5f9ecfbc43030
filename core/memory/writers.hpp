// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "core/memory/runs.hpp"
#include "core/memory/same.hpp"
#include "ferry/observer.hpp"

namespace ferry::detail {

struct Buffer;

/// A copy by a Prefetch or a Release that nobody has read yet.
struct Prefetched {
  CopyRecord copy;
  const Buffer* to;
  std::vector<Bytes> unread;  ///< those that are still there
  std::string label;          ///< of the memory, then
  std::uint64_t arrivals;     ///< of the observers who were told of it
};

/// The last write to each byte of a memory, as far as it was watched.
class Writers {
 public:
  /// Beyond so many, it is not known of new ones whether they are used.
  static constexpr std::size_t kMost = 64;
  std::vector<Prefetched> prefetched{};

  /// Nothing: somebody wrote them unwatched. Where there is no room to tell them apart, none is known.
  void Note(Bytes bytes, const std::optional<Write>& write) noexcept try {
    writes_.Isolate(bytes);
    writes_.Each(bytes, [&](Bytes, std::optional<Write>& of) { return of = write, true; });
    writes_.Unite(bytes);
    writes_.Join(bytes, [](const auto& left, const auto& right) { return Same(left, right); });
  } catch (const std::bad_alloc&) {
    writes_.Reset();
  }
  /// Whether all of the bytes are known, which end with the memory.
  bool Know(Bytes bytes) const noexcept {
    return writes_.Each(bytes, [](Bytes, const std::optional<Write>& of) { return of.has_value(); });
  }
  /// Of the largest piece that one line wrote, of the bytes, which end with the memory.
  std::optional<Write> Of(Bytes bytes) const noexcept {
    std::optional<Write> write;
    std::size_t most = 0;
    writes_.Each(bytes, [&](Bytes piece, const std::optional<Write>& of) {
      const std::size_t size = std::min(piece.last, bytes.last) - std::max(piece.first, bytes.first);
      if (size > most) most = size, write = of;
      return true;
    });
    return write;
  }

 private:
  RangeMap<std::optional<Write>> writes_;
};

}  // namespace ferry::detail
