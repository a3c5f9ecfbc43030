// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ferry/detail/range.hpp"

namespace ferry {

/// The most axes that a shape can have, as in Caffe.
inline constexpr int kMaxBlobAxes = 32;

namespace detail {
template <class T, class... Others>
concept NoneOf = (!std::same_as<T, Others> && ...);
}  // namespace detail

/// Numbers, as dims and indices are; text and flags are none.
template <class R>
concept IntegerRange = detail::InputRange<R> && std::integral<detail::ValueOf<R>> &&
                       detail::NoneOf<detail::ValueOf<R>, bool, char, wchar_t, char8_t, char16_t, char32_t>;

/// The dims of an array, of which each is 0 or more: a value with no memory of its own to allocate, made of
/// braces or of any range of integers, and turned into a std::vector where one is wanted.
///
/// Making one throws ShapeError for a negative dim, for more than 32 axes, and if the product of the dims
/// that are not 0 is over int64. So count(start, end) fits for any axes.
class Shape {
 public:
  using value_type = std::int64_t;  ///< a dim
  class const_iterator;             ///< over the dims

  /// No axes: one element.
  Shape() noexcept {}  // NOLINT(modernize-use-equals-default): that would clear all the dims
  // NOLINTBEGIN(google-explicit-constructor): Caffe's shapes are vectors
  /// `call` is what an error says was called.
  Shape(std::initializer_list<std::int64_t> dims, const char* call = "Shape") { Take(dims, call); }
  /// Of any range of integers.
  template <class R>
    requires(!std::same_as<std::remove_cvref_t<R>, Shape>) && IntegerRange<R>
  Shape(R&& dims, const char* call = "Shape") {
    Take(dims, call);
  }
  // NOLINTEND(google-explicit-constructor)
  /// Allocates nothing.
  Shape(const Shape& other) noexcept { *this = other; }
  /// Allocates nothing.
  Shape& operator=(const Shape& other) noexcept {
    if (has_ints_) [[unlikely]]
      EndIntsUnlessOf(other);
    num_axes_ = other.num_axes_;
    count_ = other.count_;
    std::memmove(dims_.data(), other.data(), other.size() * sizeof(std::int64_t));
    return *this;
  }
  ~Shape() {
    if (has_ints_) [[unlikely]]
      EndInts();
  }

  /// 0 to 32.
  int num_axes() const noexcept { return num_axes_; }
  /// The number of elements.
  std::int64_t count() const noexcept { return count_; }
  /// The product of the dims from axis `start` up to, not including, `end`. Throws ShapeError, here and
  /// below.
  std::int64_t count(int start, int end, const char* call = "Shape::count") const;
  /// -1 is the last axis.
  int CanonicalAxisIndex(int axis, const char* call = "Shape::CanonicalAxisIndex") const {
    if (axis < -num_axes_ || axis >= num_axes_) FailAxis(axis, call);
    return axis < 0 ? axis + num_axes_ : axis;
  }
  /// The dim of `axis` in a shape of at most 4 axes, filled up with ones: at the end for an axis of 0 to 3,
  /// at the beginning for one of -4 to -1.
  std::int64_t Legacy(int axis, const char* call = "Shape::Legacy") const {
    if (num_axes_ > 4 || axis < -4 || axis >= 4) FailLegacy(axis, call);
    return axis < -num_axes_ || axis >= num_axes_ ? 1 : data()[axis < 0 ? axis + num_axes_ : axis];
  }
  /// "2 3 (6)": the dims, and their product.
  std::string ToString() const;

  /// @name As a const std::vector of the dims; no axis is checked
  ///@{

  /// The number of axes.
  std::size_t size() const noexcept { return static_cast<std::size_t>(num_axes_); }
  /// Whether there is no axis.
  bool empty() const noexcept { return num_axes_ == 0; }
  /// To the first dim.
  const std::int64_t* data() const noexcept { return dims_.data(); }
  /// At the first dim.
  const_iterator begin() const noexcept;
  /// One past the last dim.
  const_iterator end() const noexcept;
  /// The first dim.
  std::int64_t front() const noexcept { return dims_[0]; }
  /// The last dim.
  std::int64_t back() const noexcept { return dims_[size() - 1]; }
  /// The dim of an axis from 0 on.
  std::int64_t operator[](std::size_t axis) const noexcept { return dims_[axis]; }
  ///@}

  // NOLINTBEGIN(google-explicit-constructor)
  /// The dims.
  operator std::vector<std::int64_t>() const { return {data(), data() + num_axes_}; }
  /// Throws ShapeError for a dim over int.
  operator std::vector<int>() const { return ToInts("Shape to std::vector<int>"); }
  // NOLINTEND(google-explicit-constructor)
  /// The same, where an error names `call`.
  std::vector<int> ToInts(const char* call) const;

  /// The same axes, each with the same dim.
  friend bool operator==(const Shape& a, const Shape& b) noexcept {
    return a.num_axes_ == b.num_axes_ &&
           std::memcmp(a.data(), b.data(), a.size() * sizeof(std::int64_t)) == 0;
  }
  /// The same with any range of integers.
  template <class R>
    requires(!std::same_as<R, Shape>) && IntegerRange<R>
  friend bool operator==(const Shape& a, const R& b) {
    if constexpr (std::same_as<R, std::initializer_list<std::int64_t>>)  // the compiler may know its dims
      return a.size() == b.size() &&
             (b.size() == 0 || std::memcmp(a.data(), b.begin(), b.size() * sizeof(std::int64_t)) == 0);
    const std::int64_t* dim = a.data();
    for (const auto other : b)
      if (dim == a.data() + a.num_axes_ || !std::cmp_equal(*dim++, other)) return false;
    return dim == a.data() + a.num_axes_;
  }

 private:
  template <class R>
  void Take(R&& dims, const char* call) {
    for (const auto dim : dims) {
      if (num_axes_ == kMaxBlobAxes) Fail("goes on after 32 axes, the most that a shape can have", call);
      if (!std::in_range<std::int64_t>(dim)) FailDim(static_cast<std::uint64_t>(dim), call);
      dims_[static_cast<std::size_t>(num_axes_++)] = static_cast<std::int64_t>(dim);
    }
    bool any = true;
    for (const std::int64_t dim : std::span(data(), size())) {
      if (dim < 0) Fail("has a negative dim; dims are 0 or more", call);
      any &= dim != 0;
      if (dim != 0 && __builtin_mul_overflow(count_, dim, &count_))
        Fail("is too large: the product of its dims that are not 0 must fit int64", call);
    }
    if (!any) count_ = 0;
  }
  /// The dims, where they stay until the shape changes or ends.
  const std::vector<int>& Ints() const;
  void EndInts() noexcept;
  void EndIntsUnlessOf(const Shape& other) noexcept;
  [[noreturn]] void Fail(const char* what, const char* call) const;
  [[noreturn]] void FailDim(std::uint64_t dim, const char* call) const;
  [[noreturn]] void FailAxis(int axis, const char* call) const;
  [[noreturn]] void FailLegacy(int axis, const char* call) const;

  int num_axes_ = 0;
  mutable bool has_ints_ = false;  ///< const functions read and set it under a lock
  std::int64_t count_ = 1;
  std::array<std::int64_t, kMaxBlobAxes> dims_;  ///< the first num_axes_ are set
};

/// Contiguous. Where code that was written for Caffe's shapes asks for the iterator of a std::vector<int>, it
/// becomes one of the same dims. That one ends when the shape does, or gets other dims. Several threads may
/// ask at once for iterators of a shape that nobody changes. To convert throws ShapeError for a dim over int.
class Shape::const_iterator {
 public:
  using iterator_concept = std::contiguous_iterator_tag;
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::int64_t;
  using difference_type = std::ptrdiff_t;
  using pointer = const std::int64_t*;
  using reference = const std::int64_t&;
  using OfInts = std::vector<int>::const_iterator;  ///< as Caffe's shapes have them

  const_iterator() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): Caffe's shapes are vectors
  operator OfInts() const { return of_ == nullptr ? OfInts() : of_->Ints().begin() + (at_ - of_->data()); }

  reference operator*() const noexcept { return *at_; }
  pointer operator->() const noexcept { return at_; }
  reference operator[](difference_type n) const noexcept { return at_[n]; }
  const_iterator& operator+=(difference_type n) noexcept { return at_ += n, *this; }
  const_iterator& operator-=(difference_type n) noexcept { return at_ -= n, *this; }
  const_iterator& operator++() noexcept { return *this += 1; }
  const_iterator& operator--() noexcept { return *this -= 1; }
  const_iterator operator++(int) noexcept { return ++at_, const_iterator(*of_, at_ - 1); }
  const_iterator operator--(int) noexcept { return --at_, const_iterator(*of_, at_ + 1); }
  friend const_iterator operator+(const_iterator i, difference_type n) noexcept { return i += n; }
  friend const_iterator operator+(difference_type n, const_iterator i) noexcept { return i += n; }
  friend const_iterator operator-(const_iterator i, difference_type n) noexcept { return i -= n; }
  friend difference_type operator-(const_iterator a, const_iterator b) noexcept { return a.at_ - b.at_; }
  friend bool operator==(const_iterator a, const_iterator b) noexcept { return a.at_ == b.at_; }
  friend auto operator<=>(const_iterator a, const_iterator b) noexcept { return a.at_ <=> b.at_; }
  friend difference_type operator-(OfInts a, const_iterator b) { return a - OfInts(b); }
  friend difference_type operator-(const_iterator a, OfInts b) { return OfInts(a) - b; }
  friend bool operator==(const_iterator a, OfInts b) { return OfInts(a) == b; }
  friend std::strong_ordering operator<=>(const_iterator a, OfInts b) { return OfInts(a) - b <=> 0; }

 private:
  friend Shape;
  const_iterator(const Shape& of, pointer at) noexcept : of_(&of), at_(at) {}

  const Shape* of_ = nullptr;
  pointer at_ = nullptr;
};

inline Shape::const_iterator Shape::begin() const noexcept { return {*this, data()}; }
inline Shape::const_iterator Shape::end() const noexcept { return {*this, data() + num_axes_}; }

namespace detail {

enum class Bound : std::uint8_t {
  kInside,   ///< an index is below its dim
  kPastEnd,  ///< or equal to it, as for the end of a range
};
/// The offset of the element at `index` in an array of `dims`; missing indices are 0.
/// Throws ShapeError, which names `call`.
std::int64_t Offset(std::span<const std::int64_t> dims, std::span<const std::int64_t> index, Bound bound,
                    const char* call);
/// For an index that begins with `before` and goes on with a number over int64.
[[noreturn]] void FailIndex(std::span<const std::int64_t> dims, std::span<const std::int64_t> before,
                            std::uint64_t over, Bound bound, const char* call);
template <IntegerRange R>
std::int64_t Offset(const Shape& dims, const R& index, Bound bound, const char* call) {
  std::array<std::int64_t, kMaxBlobAxes + 1> first;  // one more than can be, so that too many are seen
  std::size_t axes = 0;
  for (const auto i : index) {
    if (!std::in_range<std::int64_t>(i))
      FailIndex(std::span(dims), std::span<const std::int64_t>(first).first(axes),
                static_cast<std::uint64_t>(i), bound, call);
    if (axes < first.size()) first[axes++] = static_cast<std::int64_t>(i);
  }
  return Offset(std::span(dims), std::span<const std::int64_t>(first).first(axes), bound, call);
}

}  // namespace detail
}  // namespace ferry
