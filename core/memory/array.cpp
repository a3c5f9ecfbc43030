// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/array.hpp"

#include "core/device/name.hpp"
#include "ferry/error.hpp"

namespace ferry {

void MemoryPtr::FailNull() {
  throw ShapeError(
      "ferry::MemoryPtr: there is no memory, since the blob has no shape, or the array no elements; Reshape "
      "the blob first, or give the array a count");
}

namespace detail {

constinit const ReadyWords kNeverReady[] = {ReadyWords(StreamId::kHost)};

void FailArrayCount(std::int64_t count, std::size_t element, const std::string& label) {
  throw ShapeError("ferry::Array: " + std::to_string(count) + " elements of " + std::to_string(element) +
                   " bytes" + (label.empty() ? "" : " for " + Quoted(label)) +
                   "; a count is 0 or more, and its bytes fit std::ptrdiff_t");
}

void FailSlice(const Part& part, std::int64_t first, std::int64_t count) {
  throw ShapeError("ferry::Array::Slice: " + std::to_string(count) + " elements from number " +
                   std::to_string(first) + " on, of an array (" + LabelOf(part) + ") of " +
                   std::to_string(part.count) + "; a slice lies within it");
}

}  // namespace detail
}  // namespace ferry
