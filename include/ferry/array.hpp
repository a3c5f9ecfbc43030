// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "ferry/backend.hpp"
#include "ferry/detail/in_place.hpp"
#include "ferry/detail/range.hpp"
#include "ferry/memory_ptr.hpp"
#include "ferry/operand.hpp"
#include "ferry/place.hpp"
#include "ferry/synced_memory.hpp"

namespace ferry {
namespace detail {
[[noreturn]] void FailArrayCount(std::int64_t count, std::size_t element, const std::string& label);
[[noreturn]] void FailSlice(const Part& part, std::int64_t first, std::int64_t count);
}  // namespace detail

/// Elements that live on the host and on devices at once, copied only when they must be: the typed face of a
/// SyncedMemory, or of a part of one.
///
/// T is any trivially copyable type, aligned to 64 bytes at most; elements that nobody wrote are zero bytes.
/// Moving an array is cheap, and leaves an empty one. Share and Slice make further arrays of the same
/// elements; each sees the others' writes. Const is deep: Share and Slice of a const Array return an
/// Array<const T>, which is taken wherever elements are only read. To read and write elements, ask a Place
/// for them, or name the array in a kernel. Threads and exceptions are as in SyncedMemory, and an alias
/// counts as the memory itself.
template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>, "ferry: an Array holds what can be copied as bytes");
  static_assert(alignof(T) <= 64, "ferry: an Array holds elements aligned to 64 bytes at most, as memory is");

 public:
  using value_type = std::remove_const_t<T>;  ///< T, without const
  /// Gives elements back to their owner. Must not throw.
  using Deleter = std::function<void(value_type*)>;

  /// No elements, and no memory.
  Array() = default;
  /// `count` elements, all zero bytes; no memory is allocated yet. `label` is the array's name in errors and
  /// traces. Throws ShapeError for a count below 0, and for one whose bytes are over int64.
  explicit Array(std::int64_t count, Device& device = DefaultDevice(), std::string label = {},
                 const Site& site = Site::Caller())
      : Array(std::make_shared<SyncedMemory>(BytesOf(count, label), device, std::move(label), site), 0,
              count) {}
  /// A copy of `values`, whose elements are of type T and no other. Throws what a host access throws.
  template <detail::ForwardRange R>
    requires std::same_as<detail::ValueOf<R>, T>
  explicit Array(const R& values, Device& device = DefaultDevice(), std::string label = {},
                 const Site& site = Site::Caller())
      : Array(static_cast<std::int64_t>(std::ranges::distance(values)), device, std::move(label), site) {
    auto* element = count_ != 0 ? static_cast<T*>(memory_->overwrite_cpu_data(site)) : nullptr;
    for (const auto& value : values) *element++ = value;
  }
  /// An Array<T> becomes one that may only be read.
  template <class U>
    requires(std::same_as<const U, T> && !std::same_as<U, T>)
  Array(Array<U>&& other) noexcept {  // NOLINT(google-explicit-constructor): as T* becomes const T*
    Swap(other);
  }
  /// `other` is then an array of no elements.
  Array(Array&& other) noexcept { Swap(other); }
  /// `other` is then an array of no elements. The old elements go, unless an alias has them.
  Array& operator=(Array&& other) noexcept {
    Array(std::move(other)).Swap(*this);
    return *this;
  }

  /// An array of the caller's `count` elements, in the memory that code at `place` uses: the host's for the
  /// CPU; for a stream its device's, and then work queued on the stream may have written them. They must
  /// live as long as the array and its aliases do; with a deleter the array owns them, if the call returns.
  /// Nothing ever writes to the elements of an Array<const T>: an access for writing through its memory()
  /// throws std::logic_error. SyncedMemory's set_cpu_data and its like say when the deleter is called, and
  /// what is thrown.
  static Array Adopt(T* elements, std::int64_t count, const Place& place, Deleter deleter = {},
                     const Site& site = Site::Caller()) {
    Array array(count, place.device(), {}, site);
    SyncedMemory& memory = *array.memory_;
    SyncedMemory::Deleter give_back;
    if (deleter)
      give_back = [deleter = std::move(deleter)](void* p) { deleter(static_cast<value_type*>(p)); };
    const bool cpu = place.side() == Side::kCpu;
    if constexpr (std::is_const_v<T>)
      cpu ? memory.set_const_cpu_data(elements, std::move(give_back), site)
          : memory.set_const_gpu_data(elements, place.stream(), std::move(give_back), site);
    else
      cpu ? memory.set_cpu_data(elements, std::move(give_back), site)
          : memory.set_gpu_data(elements, place.stream(), std::move(give_back), site);
    return array;
  }

  /// In elements.
  std::int64_t size() const noexcept { return count_; }
  /// Whether size() is 0.
  bool empty() const noexcept { return count_ == 0; }
  /// What the array was made on; the default device for an array without memory.
  Device& device() const { return memory_ != nullptr ? memory_->device() : DefaultDevice(); }
  /// The name of the memory in errors and traces, and so of all aliases; empty if nobody named it.
  const std::string& label() const noexcept {
    static const std::string none;
    return memory_ != nullptr ? memory_->label() : none;
  }
  /// Names the memory, and so all aliases. Counts as a write. Does nothing for an array without memory.
  void set_label(std::string label) {
    if (memory_ != nullptr) memory_->set_label(std::move(label));
  }

  /// An alias: the same elements again.
  Array Share() { return ShareAs<T>(); }
  /// An alias that may only be read.
  Array<const T> Share() const { return ShareAs<const T>(); }
  /// An alias of `count` elements from number `first` on. Allocates nothing. Throws ShapeError, with label,
  /// range and size, for elements beyond the end.
  Array Slice(std::int64_t first, std::int64_t count) { return SliceAs<T>(first, count); }
  /// The same, which may only be read.
  Array<const T> Slice(std::int64_t first, std::int64_t count) const {
    return SliceAs<const T>(first, count);
  }

  /// Starts on `on` what a read of these elements would need on that side, the host or the stream's device,
  /// and does not wait for it. The next access does.
  void Prefetch(Side side, const Stream& on, const Site& site = Site::Caller()) const {
    if (count_ != 0) memory_->Prefetch(side, on, part().range, site);
  }
  /// Gives back the memory that the host, or the array's device, has for the elements; for a slice, that of
  /// the whole array. SyncedMemory::Release says what becomes of the elements, and what is thrown.
  void Release(Side side, const Site& site = Site::Caller()) {
    if (memory_ != nullptr) memory_->Release(side, site);
  }
  /// The same for the memory of any device that has some.
  void Release(Device& device, const Site& site = Site::Caller()) {
    if (memory_ != nullptr) memory_->Release(device, site);
  }

  /// The layer below, which knows neither type nor const: for head and the like. Null for an array without
  /// memory. Its size must stay.
  const MemoryPtr& memory() const noexcept { return memory_; }

 private:
  template <class U>
  friend class Array;
  template <class U>
  friend class Blob;
  friend struct detail::PartOf<Array>;

  Array(MemoryPtr memory, std::size_t first, std::int64_t count) noexcept
      : memory_(std::move(memory)), first_(first) {
    Fit(count);
  }
  /// Of memory whose size has become another one: the `count` elements that there are from first_ on.
  void Fit(std::int64_t count) noexcept {
    count_ = count;
    in_place_ = {};
    const SyncedMemory* const memory = memory_.get();
    if (memory != nullptr && first_ == 0 && memory->size() == part().range.bytes)
      in_place_ = detail::InPlace(*memory);
  }

  static std::size_t BytesOf(std::int64_t count, const std::string& label) {
    if (count < 0 || count > PTRDIFF_MAX / static_cast<std::int64_t>(sizeof(T)))
      detail::FailArrayCount(count, sizeof(T), label);
    return static_cast<std::size_t>(count) * sizeof(T);
  }
  template <class U>
  Array<U> Alias(std::size_t first, std::int64_t count, detail::InPlace in_place) const {
    Array<U> alias;
    alias.memory_ = memory_;
    alias.in_place_ = in_place;
    alias.first_ = first;
    alias.count_ = count;
    return alias;
  }
  template <class U>
  Array<U> ShareAs() const {
    return Alias<U>(first_, count_, in_place_);
  }
  template <class U>
  void Swap(Array<U>& other) noexcept {
    memory_.swap(other.memory_);
    std::swap(in_place_, other.in_place_);
    std::swap(first_, other.first_);
    std::swap(count_, other.count_);
  }
  template <class U>
  Array<U> SliceAs(std::int64_t first, std::int64_t count) const {
    if (first < 0 || count < 0 || first > count_ || count > count_ - first) [[unlikely]]
      detail::FailSlice(part(), first, count);
    const std::size_t start = first_ + static_cast<std::size_t>(first) * sizeof(T);
    return Alias<U>(start, count, count == count_ ? in_place_ : detail::InPlace{});
  }
  detail::Part part() const noexcept {
    return {memory_.get(), {first_, static_cast<std::size_t>(count_) * sizeof(T)}, count_, {}, in_place_};
  }

  MemoryPtr memory_;
  detail::InPlace in_place_;  ///< memory_'s, where the elements are all that it has
  std::size_t first_ = 0;     ///< in bytes
  std::int64_t count_ = 0;
};

/// Array(values) has the type of its values.
template <detail::ForwardRange R>
Array(const R&) -> Array<detail::ValueOf<R>>;
/// The same on a device.
template <detail::ForwardRange R>
Array(const R&, Device&, std::string = {}) -> Array<detail::ValueOf<R>>;

template <class T>
struct detail::PartOf<Array<T>> {
  using Element = T;
  static Part Of(const Array<T>& array) noexcept { return array.part(); }
  static InPlace Short(const Array<T>& array) noexcept { return array.in_place_; }
  static std::int64_t CountOf(const Array<T>& array) noexcept { return array.count_; }
};

}  // namespace ferry
