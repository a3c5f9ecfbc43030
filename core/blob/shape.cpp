// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/shape.hpp"

#include <map>
#include <mutex>

#include "ferry/error.hpp"

namespace ferry {
namespace {

using detail::Bound;

std::string Join(std::span<const std::int64_t> numbers) {
  std::string text;
  for (const std::int64_t n : numbers) {
    if (!text.empty()) text += ' ';
    text += std::to_string(n);
  }
  return text;
}

[[noreturn]] void RefuseIndex(std::span<const std::int64_t> dims, const std::string& index, Bound bound,
                              const char* call) {
  const std::string refused =
      std::string(call) + ": " + (index.empty() ? "no index" : "index " + index) + " in ";
  if (dims.empty()) throw ShapeError(refused + "a shape without axes; give an index without numbers");
  throw ShapeError(refused + "shape " + Join(dims) + "; at most " +
                   (dims.size() == 1
                        ? "1 number is allowed, from 0 to its dim"
                        : std::to_string(dims.size()) + " numbers are allowed, each from 0 to its dim") +
                   (bound == Bound::kInside ? " - 1" : ""));
}

/// The ints of shapes whose iterators became those of a std::vector<int>. In a table, as few shapes need
/// them, and the others then stay small. Never destroyed, for global shapes.
struct AllInts {
  std::mutex mutex;
  std::map<const Shape*, std::vector<int>> of;
};
AllInts& all_ints() {
  static auto* const instance = new AllInts;
  return *instance;
}

}  // namespace

std::int64_t Shape::count(int start, int end, const char* call) const {
  if (start < 0 || start > end || end > num_axes_)
    throw ShapeError(std::string(call) + ": axes " + std::to_string(start) + " to " + std::to_string(end) +
                     (empty() ? " of a shape without axes" : " of shape " + ToString()) +
                     "; 0 <= start <= end <= " + std::to_string(num_axes_) + " must hold");
  std::int64_t product = 1;
  for (int axis = start; axis < end; ++axis) product *= dims_[static_cast<std::size_t>(axis)];
  return product;
}

std::string Shape::ToString() const {
  return Join(*this) + (empty() ? "(" : " (") + std::to_string(count_) + ")";
}

std::vector<int> Shape::ToInts(const char* call) const {
  std::vector<int> dims;
  dims.reserve(size());
  for (const std::int64_t dim : *this) {
    if (!std::in_range<int>(dim))
      Fail("has a dim over 2147483647, the most that int holds; use 64-bit dims", call);
    dims.push_back(static_cast<int>(dim));
  }
  return dims;
}

const std::vector<int>& Shape::Ints() const {
  const std::lock_guard lock(all_ints().mutex);
  auto& of = all_ints().of;
  if (has_ints_) return of.at(this);
  const auto made = of.insert_or_assign(this, ToInts("Shape's iterator to std::vector<int>'s")).first;
  has_ints_ = true;
  return made->second;
}

void Shape::EndInts() noexcept {
  const std::lock_guard lock(all_ints().mutex);
  all_ints().of.erase(this);
  has_ints_ = false;
}

void Shape::EndIntsUnlessOf(const Shape& other) noexcept {
  if (*this != other) EndInts();
}

void Shape::Fail(const char* what, const char* call) const {
  throw ShapeError(std::string(call) + ": shape " + Join(*this) + " " + what);
}

void Shape::FailDim(std::uint64_t dim, const char* call) const {
  throw ShapeError(std::string(call) + ": dim " + std::to_string(num_axes_) + " of a shape is " +
                   std::to_string(dim) + "; dims go up to 9223372036854775807");
}

void Shape::FailAxis(int axis, const char* call) const {
  throw ShapeError(std::string(call) + ": axis " + std::to_string(axis) + " of " +
                   (empty() ? "a shape without axes; ask num_axes first"
                            : "shape " + ToString() + "; its axes are " + std::to_string(-num_axes_) +
                                  " to " + std::to_string(num_axes_ - 1)));
}

void Shape::FailLegacy(int axis, const char* call) const {
  if (num_axes_ <= 4)
    throw ShapeError(std::string(call) + ": axis " + std::to_string(axis) + " of shape " + ToString() +
                     "; legacy axes are -4 to 3");
  throw ShapeError(
      std::string(call) + ": shape " + ToString() + " has " + std::to_string(num_axes_) +
      " axes, and num, channels, height and width are of 4 at most; use shape(axis), or an index "
      "of as many numbers");
}

void detail::FailIndex(std::span<const std::int64_t> dims, std::span<const std::int64_t> before,
                       std::uint64_t over, Bound bound, const char* call) {
  RefuseIndex(dims, Join(before) + (before.empty() ? "" : " ") + std::to_string(over), bound, call);
}

std::int64_t detail::Offset(std::span<const std::int64_t> dims, std::span<const std::int64_t> index,
                            Bound bound, const char* call) {
  std::uint64_t offset = 0;  // one past the end of a shape near the limit may wrap
  bool inside = index.size() <= dims.size();
  for (std::size_t axis = 0; inside && axis < dims.size(); ++axis) {
    const std::int64_t i = axis < index.size() ? index[axis] : 0;
    inside = i >= 0 && (i < dims[axis] || (i == dims[axis] && bound == Bound::kPastEnd));
    offset = offset * static_cast<std::uint64_t>(dims[axis]) + static_cast<std::uint64_t>(i);
  }
  if (!inside) RefuseIndex(dims, Join(index), bound, call);
  return static_cast<std::int64_t>(offset);
}

}  // namespace ferry
