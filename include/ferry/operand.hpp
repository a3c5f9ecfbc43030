// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "ferry/coherence.hpp"
#include "ferry/detail/in_place.hpp"
#include "ferry/detail/take.hpp"
#include "ferry/synced_memory.hpp"

/// What a call does with an array: Read(x), ReadWrite(x), Overwrite(x).
namespace ferry {

class At;
class Place;

namespace detail {

/// Elements of a memory. No memory: no elements.
struct Part {
  SyncedMemory* memory;
  ByteRange range;                     ///< of just these elements
  std::int64_t count;                  ///< in elements
  std::span<const std::int64_t> dims;  ///< a null span where it has none of its own
  InPlace in_place{};                  ///< the memory's, where it has no other elements
};

/// How to come by the Part of an X: Element, and static Part Of(const X&); for an access in place, what is
/// enough of it: Short, and CountOf. Array, Blob and what Diff returns have one.
template <class X>
struct PartOf;

/// The element type where there is none, and what scalars of a call with it become: so that such a call is
/// refused in words.
struct NoElement {
  template <class T>
  // NOLINTNEXTLINE(google-explicit-constructor,bugprone-forwarding-reference-overload): takes any scalar
  constexpr NoElement(T&& /*scalar*/) {}
};
template <class X>
struct ElementTypeOf {
  using Type = NoElement;
};
template <class X>
  requires requires { typename PartOf<std::remove_const_t<X>>::Element; }
struct ElementTypeOf<X> {
  using Of = typename PartOf<std::remove_const_t<X>>::Element;
  using Type = std::conditional_t<std::is_const_v<X>, const Of, Of>;
};

}  // namespace detail

/// What the elements of X are, an Array or the like; const where they may only be read.
template <class X>
using ElementOf = typename detail::ElementTypeOf<std::remove_reference_t<X>>::Type;

/// An Array, a Blob (which stands for its data) or Diff(blob).
template <class X>
concept ArrayLike = !
std::same_as<ElementOf<X>, detail::NoElement>;

/// An array and the access that a call makes of it. The elements are `const T` where the call only reads.
/// Refers to the array, as a span does, and must not outlive it. N is the number of dims that the caller said
/// for it, 0 for none.
template <class T, std::size_t N = 0>
class Operand {
 public:
  using Element = T;  ///< const where the call only reads

  /// Without dims. Read, ReadWrite and Overwrite are the short way.
  Operand(const detail::Part& part, Access access) noexcept
    requires(N == 0)
      : part_(part), access_(access) {}
  /// Throws ShapeError unless the dims make up the array's count.
  Operand(const detail::Part& part, Access access, std::span<const std::int64_t, N> dims);

  /// What the call does with the elements.
  Access access() const noexcept { return access_; }
  /// In elements.
  std::int64_t count() const noexcept { return part_.count; }
  /// Which elements of which memory.
  const detail::Part& part() const noexcept { return part_; }
  /// The N dims that the caller said.
  const std::array<std::int64_t, N>& dims() const noexcept { return dims_; }
  /// For Take.
  detail::Request request() const noexcept { return {part_.memory, part_.range, access_}; }

 private:
  detail::Part part_;
  Access access_;
  [[no_unique_address]] std::array<std::int64_t, N> dims_{};
};

namespace detail {

template <class X>
inline constexpr bool kIsOperand = false;
template <class T, std::size_t N>
inline constexpr bool kIsOperand<Operand<T, N>> = true;

/// `"weights"`, or what stands for it where there is no label.
std::string LabelOf(const Part& part);
/// The product of dims. Throws ShapeError, which names the call, for a negative one and for more than int64
/// has.
std::int64_t CountOf(const char* call, std::span<const std::int64_t> dims);
/// Throws ShapeError where dims do not make up the count.
void RequireDims(const Part& part, std::span<const std::int64_t> dims);

/// Throws ShapeError, which names the call, where the operand has no such dims. A Blob has its own.
void RequireDimsFor(const char* call, const Part& part, std::span<const std::int64_t> loop);
/// The Blob's dims, or else the loop's.
void CopyDims(const Part& part, std::span<const std::int64_t> loop, std::span<std::int64_t> dims) noexcept;

/// One array of a call, for its errors.
struct Named {
  const char* name;
  const Part& part;
};
[[noreturn]] void FailCounts(const char* call, Named x, Named y);
/// Throws ShapeError, which names the call, both labels and both counts.
inline void RequireSameCount(const char* call, Named x, Named y) {
  if (x.part.count != y.part.count) [[unlikely]]
    FailCounts(call, x, y);
}

/// Take, at a place; those without elements are left alone, and their pointers null.
void TakeAt(const At& at, std::span<const Request> requests, std::span<void*> ptrs);

template <class X>
constexpr void RequireWritable() {
  static_assert(!std::is_const_v<ElementOf<X>>, "ferry: a const array can't be written; Read is for it");
}

/// One access of those elements; `on` is null for the CPU. Null where there are none. The site comes by what
/// fits in registers: in memory, it would be written where the bytes are in place, too.
void* Reach(const Part& part, Access access, const Stream* on, const char* file, const char* function,
            int line);
/// On the main stream of the memory's device.
void* ReachOnMain(const Part& part, Access access, const char* file, const char* function, int line);

template <class X>
Part MakePart(const X& x) {
  return PartOf<X>::Of(x);
}

/// The same as bytes, for what copies them.
template <class T>
auto BytesOf(const Operand<T>& operand) noexcept {
  Part part = operand.part();
  part.count *= static_cast<std::int64_t>(sizeof(T));
  return Operand<std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>>(part, operand.access());
}

}  // namespace detail

template <class T, std::size_t N>
Operand<T, N>::Operand(const detail::Part& part, Access access, std::span<const std::int64_t, N> dims)
    : part_(part), access_(access) {
  detail::RequireDims(part, dims);
  for (std::size_t i = 0; i < N; ++i) dims_[i] = dims[i];
}

/// The call only reads x.
template <ArrayLike X>
Operand<const ElementOf<X>> Read(X&& x) {
  return {detail::MakePart(x), Access::kRead};
}
/// The call changes elements of x, and may read all.
template <ArrayLike X>
Operand<ElementOf<X>> ReadWrite(X&& x) {
  detail::RequireWritable<X>();
  return {detail::MakePart(x), Access::kReadWrite};
}
/// The call writes each element of x and reads none that it has not written.
template <ArrayLike X>
Operand<ElementOf<X>> Overwrite(X&& x) {
  detail::RequireWritable<X>();
  return {detail::MakePart(x), Access::kOverwrite};
}

/// The same with dims, row-major, for kernels that index by them: Read(x, {ny, nx}). Throws ShapeError unless
/// their product is the count.
template <ArrayLike X, std::size_t N>
Operand<const ElementOf<X>, N> Read(X&& x, const std::int64_t (&dims)[N]) {
  return {detail::MakePart(x), Access::kRead, std::span(dims)};
}
/// The same for elements that the call changes.
template <ArrayLike X, std::size_t N>
Operand<ElementOf<X>, N> ReadWrite(X&& x, const std::int64_t (&dims)[N]) {
  detail::RequireWritable<X>();
  return {detail::MakePart(x), Access::kReadWrite, std::span(dims)};
}
/// The same for elements that the call overwrites, all of them.
template <ArrayLike X, std::size_t N>
Operand<ElementOf<X>, N> Overwrite(X&& x, const std::int64_t (&dims)[N]) {
  detail::RequireWritable<X>();
  return {detail::MakePart(x), Access::kOverwrite, std::span(dims)};
}

}  // namespace ferry
