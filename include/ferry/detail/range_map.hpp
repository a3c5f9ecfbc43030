// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>

#include "ferry/detail/language.hpp"

namespace ferry::detail {

/// Bytes from `first` up to, not including, `last`.
struct Bytes {
  static constexpr std::size_t kEnd = ~std::size_t{0};
  std::size_t first = 0;
  std::size_t last = kEnd;

  bool empty() const noexcept { return first >= last; }
  friend bool operator==(const Bytes&, const Bytes&) = default;
};

/// The runs of a RangeMap behind the first one, by their first byte: a std::map. What makes, changes or ends
/// a RangeMap includes core/memory/range_map_nodes.hpp; who has a SyncedMemory need not read <map>.
template <class Value>
struct RangeMapNodes;

/// A value for every byte there can be, kept as runs of bytes that have the same one. A map of one run, which
/// is the usual one, allocates nothing. Not thread-safe.
///
/// Only Isolate can fail (std::bad_alloc), and changes no byte's value: whoever has isolated what it is about
/// to change can't be stopped half-way.
template <class Value>
class RangeMap {
 public:
  RangeMap();
  RangeMap(RangeMap&&) noexcept;
  RangeMap& operator=(RangeMap&&) noexcept;
  ~RangeMap();

  /// One run from byte 0 to the end.
  bool whole() const noexcept { return rest_ == nullptr || rest_->empty(); }
  std::size_t runs() const noexcept { return 1 + (rest_ == nullptr ? 0 : rest_->size()); }
  const Value& front() const noexcept { return front_; }

  /// visit(Bytes, Value&) for each run, cut to `bytes`, from the left, until one returns false. Returns
  /// whether none did.
  template <class Visit>
  bool Each(Bytes bytes, Visit visit) const {
    return EachOf(*this, bytes, visit);
  }
  template <class Visit>
  bool Each(Bytes bytes, Visit visit) {
    return EachOf(*this, bytes, visit);
  }

  /// Afterwards no run has bytes on both sides of an end of `bytes`.
  void Isolate(Bytes bytes) {
    if (bytes.empty()) return;
    Split(bytes.first);
    Split(bytes.last);
  }
  /// The bytes, which are isolated, get the value of their first one.
  void Unite(Bytes bytes) noexcept {
    if (rest_ != nullptr && !bytes.empty())
      rest_->erase(rest_->upper_bound(bytes.first), rest_->lower_bound(bytes.last));
  }
  /// One run again.
  void Reset(Value value = {}) noexcept {
    if (rest_ != nullptr) rest_->clear();
    front_ = std::move(value);
  }
  /// Neighbours that merge(left, right) takes for one become one: those that meet in `bytes` or at its ends.
  template <class Merge>
  void Join(Bytes bytes, Merge merge) noexcept {
    if (whole()) return;
    auto right = rest_->lower_bound(bytes.first);
    while (right != rest_->end() && right->first <= bytes.last) {
      Value& left = right == rest_->begin() ? front_ : std::prev(right)->second;
      right = merge(left, right->second) ? rest_->erase(right) : std::next(right);
    }
  }

 private:
  using Rest = RangeMapNodes<Value>;

  template <class Map, class Visit>
  static bool EachOf(Map& map, Bytes bytes, Visit& visit) {
    if (bytes.empty()) return true;
    if (map.whole()) return visit(bytes, map.front_);
    auto next = map.rest_->upper_bound(bytes.first);
    auto* value = next == map.rest_->begin() ? &map.front_ : &std::prev(next)->second;
    for (std::size_t first = bytes.first; first < bytes.last;) {
      const bool more = next != map.rest_->end() && next->first < bytes.last;
      const std::size_t last = more ? next->first : bytes.last;
      if (!visit(Bytes{first, last}, *value)) return false;
      first = last;
      if (more) value = &(next++)->second;
    }
    return true;
  }

  void Split(std::size_t at) {
    if (at == 0 || at == Bytes::kEnd) return;
    if (rest_ == nullptr) rest_ = std::make_unique<Rest>();
    const auto next = rest_->lower_bound(at);
    if (next != rest_->end() && next->first == at) return;
    rest_->emplace_hint(next, at, next == rest_->begin() ? front_ : std::prev(next)->second);
  }

  Value front_{};                 ///< of the run that begins at byte 0
  std::unique_ptr<Rest> rest_{};  ///< the other runs, by their first byte
};

}  // namespace ferry::detail
