// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "ferry/detail/range_map.hpp"

namespace ferry::detail {

/// The runs of a RangeMap that has several: a B+-tree of two levels. A chunk has some runs in their order,
/// and the links have the chunks in theirs. Who looks for a byte searches the links, which are few and stay
/// in the cache, and then one chunk, which comes from memory all at once.
///
/// No chunk is empty, and two neighbours have together more runs than half a chunk has room for.
template <class Value>
class Runs {
 public:
  /// Two runs, from byte 0 and from `cut` on, that have the value, which is moved away. Throws
  /// std::bad_alloc, and then the value is where it was.
  Runs(Value& value, std::size_t cut) {
    Value copy = value;
    links_.push_back({0, std::make_unique<Chunk>()});
    links_[0].chunk->Insert(0, 0, std::move(value));
    links_[0].chunk->Insert(1, cut, std::move(copy));
  }

  std::size_t size() const noexcept { return size_; }
  Value& front() noexcept { return links_[0].chunk->values[0]; }

  /// As RangeMap::Each.
  template <class Visit>
  bool Each(Bytes bytes, Visit& visit) const {
    Place run = Find(bytes.first);
    while (!bytes.empty()) {
      Value& value = links_[run.link].chunk->values[run.at];
      const std::size_t end = std::min(Advance(run), bytes.last);
      if (!visit(Bytes{bytes.first, end}, value)) return false;
      bytes.first = end;
    }
    return true;
  }

  /// A run begins at `byte`, with a copy of the value there. Throws std::bad_alloc, and then nothing has
  /// changed.
  void Split(std::size_t byte) {
    Place run = Find(byte);
    const Chunk& chunk = *links_[run.link].chunk;
    if (chunk.firsts[run.at] == byte) return;
    Value copy = chunk.values[run.at++];
    if (chunk.size == kMost) run = MakeRoom(run);
    links_[run.link].chunk->Insert(run.at, byte, std::move(copy));
    links_[run.link].first = links_[run.link].chunk->firsts[0];  // of a chunk that was made for it
    ++size_;
  }

  /// Of the runs that begin at bytes `first` to `last`, of which none is byte 0, each joins the run on its
  /// left if absorbs(left, right) says so.
  template <class Absorbs>
  void Thin(std::size_t first, std::size_t last, Absorbs& absorbs) noexcept {
    const auto [begin, at] = Find(first - 1);
    const std::size_t before = size_;
    Value* left = &links_[begin].chunk->values[at];
    std::size_t link = begin;
    for (std::size_t from = at + 1; link < links_.size() && links_[link].first <= last; ++link, from = 0) {
      Chunk& chunk = *links_[link].chunk;
      size_ -= chunk.size;
      left = chunk.Thin(from, last, left, absorbs);
      size_ += chunk.size;
    }
    if (size_ != before) Pack(begin, link);
  }

 private:
  static constexpr std::size_t kMost = 32;
  struct Chunk {
    Chunk() { firsts.fill(Bytes::kEnd); }

    /// Each cache line that a search reads says which one it needs next. So it asks for all of them first.
    void Prefetch() const noexcept {
      constexpr std::size_t kLine = 64;
      const char* const bytes = reinterpret_cast<const char*>(this);
      for (std::size_t i = 0; i < sizeof(Chunk); i += kLine) __builtin_prefetch(bytes + i);
    }
    /// There is room.
    void Insert(std::size_t at, std::size_t first, Value value) noexcept {
      for (std::size_t i = size++; i > at; --i) Move(i - 1, i);
      firsts[at] = first;
      values[at] = std::move(value);
    }
    /// Over a run that has gone. Returns where the value is now.
    Value* Move(std::size_t from, std::size_t to) noexcept {
      if (from == to) return &values[to];
      firsts[to] = std::exchange(firsts[from], Bytes::kEnd);
      values[to] = std::exchange(values[from], Value{});
      return &values[to];
    }
    /// The runs of another chunk, from number `begin` on, go behind those of this one.
    void Take(Chunk& other, std::size_t begin) noexcept {
      for (std::size_t i = begin; i < other.size; ++i)
        Insert(size, std::exchange(other.firsts[i], Bytes::kEnd), std::exchange(other.values[i], Value{}));
      other.size = begin;
    }
    /// As Runs::Thin, from run number `at` on. Returns the last value on the left.
    template <class Absorbs>
    Value* Thin(std::size_t at, std::size_t last, Value* left, Absorbs& absorbs) noexcept {
      std::size_t kept = at;
      for (; at < size && firsts[at] <= last; ++at) {
        if (absorbs(*left, values[at]))
          values[at] = Value{}, firsts[at] = Bytes::kEnd;
        else
          left = Move(at, kept++);
      }
      if (kept == at) return left;
      for (; at < size; ++at) Move(at, kept++);
      size = kept;
      return left;
    }

    std::size_t size = 0;                     ///< in runs
    std::array<std::size_t, kMost> firsts{};  ///< the first byte of each run; then kEnd
    std::array<Value, kMost> values{};
  };
  struct Link {
    std::size_t first;  ///< of the chunk's first run
    std::unique_ptr<Chunk> chunk;
  };
  struct Place {
    std::size_t link, at;
  };

  /// The last of `count` ascending numbers that is not greater than `byte`; the first one is not. Without a
  /// branch, which nobody could foretell.
  template <class Number>
  static std::size_t LastUpTo(std::size_t byte, std::size_t count, Number number) noexcept {
    std::size_t at = 0;
    for (std::size_t half; count > 1; count -= half) {
      half = count / 2;
      at += number(at + half) <= byte ? half : 0;
    }
    return at;
  }
  /// The run that has the byte.
  Place Find(std::size_t byte) const noexcept {
    const std::size_t link = LastUpTo(byte, links_.size(), [&](std::size_t i) { return links_[i].first; });
    const Chunk& chunk = *links_[link].chunk;
    chunk.Prefetch();
    return {link, LastUpTo(byte, kMost, [&](std::size_t i) { return chunk.firsts[i]; })};
  }
  /// Goes to the next run, and returns its first byte; kEnd behind the last one.
  std::size_t Advance(Place& run) const noexcept {
    if (++run.at < kMost) {
      const std::size_t first = links_[run.link].chunk->firsts[run.at];
      if (first != Bytes::kEnd) return first;
    }
    run = {run.link + 1, 0};
    return run.link == links_.size() ? Bytes::kEnd : links_[run.link].first;
  }

  /// Where a run goes that has no room in its place, as a full chunk becomes two. One that is the chunk's
  /// last leaves it full, since programs often access bytes in their order.
  Place MakeRoom(Place run) {
    const auto next = links_.begin() + static_cast<std::ptrdiff_t>(run.link) + 1;
    Chunk& right = *links_.insert(next, Link{0, std::make_unique<Chunk>()})->chunk;
    const std::size_t kept = run.at == kMost ? kMost : kMost / 2;
    right.Take(*links_[run.link].chunk, kept);
    links_[run.link + 1].first = right.firsts[0];
    return run.at < kept ? run : Place{run.link + 1, run.at - kept};
  }
  /// Makes one of neighbours that are small enough, as runs of those from `begin` to `end` have gone.
  void Pack(std::size_t begin, std::size_t end) noexcept {
    std::size_t kept = begin == 0 ? 0 : begin - 1;
    end = std::min(end + 1, links_.size());
    for (std::size_t i = kept + 1; i < end; ++i) {
      Chunk &left = *links_[kept].chunk, &right = *links_[i].chunk;
      if (right.size == 0 || left.size + right.size <= kMost / 2) {
        left.Take(right, 0);
      } else {
        links_[i].first = right.firsts[0];
        std::swap(links_[++kept], links_[i]);
      }
    }
    const auto links = links_.begin();
    links_.erase(links + static_cast<std::ptrdiff_t>(kept) + 1, links + static_cast<std::ptrdiff_t>(end));
  }

  std::vector<Link> links_;
  std::size_t size_ = 2;  ///< in runs
};

template <class Value>
RangeMap<Value>::RangeMap() = default;
template <class Value>
RangeMap<Value>::RangeMap(RangeMap&&) noexcept = default;
template <class Value>
RangeMap<Value>& RangeMap<Value>::operator=(RangeMap&&) noexcept = default;
template <class Value>
RangeMap<Value>::~RangeMap() = default;

}  // namespace ferry::detail
