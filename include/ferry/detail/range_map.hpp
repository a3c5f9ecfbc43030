// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
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

/// The runs of a RangeMap that has several. What makes, changes or ends a RangeMap includes
/// core/memory/runs.hpp; who has a SyncedMemory need not read it.
template <class Value>
class Runs;

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
  bool whole() const noexcept { return runs_ == nullptr; }
  std::size_t runs() const noexcept { return whole() ? 1 : runs_->size(); }
  /// The value of all bytes of a whole map.
  const Value& front() const noexcept { return front_; }

  /// visit(Bytes, Value&) for each run, cut to `bytes`, from the left, until one returns false. Returns
  /// whether none did.
  template <class Visit>
  bool Each(Bytes bytes, Visit visit) {
    if (bytes.empty()) return true;
    return whole() ? visit(bytes, front_) : runs_->Each(bytes, visit);
  }
  template <class Visit>
  bool Each(Bytes bytes, Visit visit) const {
    if (bytes.empty()) return true;
    const auto look = [&](Bytes run, const Value& value) { return visit(run, value); };
    return whole() ? look(bytes, front_) : runs_->Each(bytes, look);
  }

  /// Afterwards no run has bytes on both sides of an end of `bytes`.
  void Isolate(Bytes bytes) {
    if (bytes.empty()) return;
    Split(bytes.first);
    Split(bytes.last);
  }
  /// The bytes, which are isolated, get the value of their first one.
  void Unite(Bytes bytes) noexcept {
    if (!bytes.empty()) Thin(bytes.first + 1, bytes.last - 1, [](Value&, Value&) { return true; });
  }
  /// One run again.
  void Reset(Value value = {}) noexcept {
    runs_.reset();
    front_ = std::move(value);
  }
  /// Neighbours that merge(left, right) takes for one become one: those that meet in `bytes` or at its ends.
  template <class Merge>
  void Join(Bytes bytes, Merge merge) noexcept {
    Thin(bytes.first == 0 ? 1 : bytes.first, bytes.last, merge);
  }

 private:
  void Split(std::size_t at) {
    if (at == 0 || at == Bytes::kEnd) return;
    if (whole())
      runs_ = std::make_unique<Runs<Value>>(front_, at);
    else
      runs_->Split(at);
  }
  template <class Absorbs>
  void Thin(std::size_t first, std::size_t last, Absorbs absorbs) noexcept {
    if (whole()) return;
    runs_->Thin(first, last, absorbs);
    if (runs_->size() == 1) Reset(std::move(runs_->front()));
  }

  Value front_{};                        ///< of a map of one run
  std::unique_ptr<Runs<Value>> runs_{};  ///< null in a map of one run
};

}  // namespace ferry::detail
