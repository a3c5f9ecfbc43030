// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/memory/byte_ranges.hpp"

namespace ferry::detail {

/// Notes of parts of a memory, which each have a `range`. No two of them meet. Where there are kMost, one
/// more takes the place of the last one: of more parts that are asked for in turn, the others are followed.
template <class Note>
class ByRange {
 public:
  /// The note of just these bytes, or null.
  const Note* Of(ByteRange range) const noexcept {
    for (const Note& note : notes_)
      if (Same(note.range, range)) return &note;
    return nullptr;
  }
  /// The note of bytes that these are among, or null.
  const Note* Around(ByteRange range) const noexcept {
    for (const Note& note : notes_)
      if (Within(range, note.range)) return &note;
    return nullptr;
  }
  /// In place of those that it meets. Throws std::bad_alloc.
  void Put(Note note) {
    const auto same = std::find_if(notes_.begin(), notes_.end(),
                                   [&](const Note& old) { return Same(old.range, note.range); });
    if (same != notes_.end()) {
      *same = std::move(note);
    } else {
      Remove(note.range);
      if (notes_.size() == kMost) notes_.pop_back();
      notes_.push_back(std::move(note));
    }
  }
  /// Those that meet these bytes.
  void Remove(ByteRange range) noexcept {
    RemoveIf([&](const Note& note) { return Meet(note.range, range); });
  }
  template <class Which>
  void RemoveIf(const Which& which) noexcept {
    std::erase_if(notes_, which);
  }
  template <class Use>
  void ForEach(const Use& use) noexcept {
    for (Note& note : notes_) use(note);
  }
  void Clear() noexcept { notes_.clear(); }

 private:
  static constexpr std::size_t kMost = 32;
  std::vector<Note> notes_;
};

}  // namespace ferry::detail
