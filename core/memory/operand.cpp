// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/operand.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "core/device/name.hpp"
#include "ferry/error.hpp"
#include "ferry/place.hpp"

namespace ferry::detail {
namespace {

/// "2 x 3"
std::string Text(std::span<const std::int64_t> dims) {
  std::string text;
  for (const std::int64_t dim : dims) text += (text.empty() ? "" : " x ") + std::to_string(dim);
  return text;
}

}  // namespace

std::string LabelOf(const Part& part) {
  return part.memory == nullptr || part.memory->label().empty() ? "no label" : Quoted(part.memory->label());
}

std::int64_t CountOf(const char* call, std::span<const std::int64_t> dims) {
  const auto refuse = [&](const char* why) {
    throw ShapeError(std::string("ferry::") + call + ": the dims " + Text(dims) + why);
  };
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) {
    if (dim < 0) refuse(" have a negative one; each is 0 or more");
    if (__builtin_mul_overflow(count, dim, &count)) refuse(" are too large; their product must fit int64");
  }
  return count;
}

void RequireDims(const Part& part, std::span<const std::int64_t> dims) {
  if (CountOf("Operand", dims) != part.count)
    throw ShapeError("ferry: the dims " + Text(dims) + " of an operand (" + LabelOf(part) + ") of " +
                     std::to_string(part.count) + " elements; their product must be the count");
}

void RequireDimsFor(const char* call, const Part& part, std::span<const std::int64_t> loop) {
  const auto refuse = [&](const std::string& has, const char* advice) {
    throw ShapeError(std::string("ferry::") + call + ": an operand (" + LabelOf(part) + ") has " + has +
                     ", the loop is of " + Text(loop) + "; " + advice);
  };
  const bool own = part.dims.data() != nullptr;
  if (own && part.dims.size() != loop.size()) {
    if (part.memory == nullptr) refuse("no shape", "Reshape the blob first");
    refuse(part.dims.empty() ? "a shape without axes" : "the shape " + Text(part.dims),
           "say its dims, as in Read(x, {ny, nx})");
  }
  if (!own && part.count != CountOf(call, loop))
    refuse(std::to_string(part.count) + " elements",
           "they must be as many, or have dims, as in Read(x, {ny, nx})");
}

void CopyDims(const Part& part, std::span<const std::int64_t> loop, std::span<std::int64_t> dims) noexcept {
  const std::int64_t* const from = part.dims.data() != nullptr ? part.dims.data() : loop.data();
  std::copy_n(from, dims.size(), dims.begin());
}

void FailCounts(const char* call, Named x, Named y) {
  const auto described = [](const Named& of) {
    return std::string(of.name) + " (" + LabelOf(of.part) + ") has " + std::to_string(of.part.count) +
           " elements";
  };
  throw ShapeError(std::string("ferry::") + call + ": " + described(x) + ", " + described(y) +
                   "; the counts must be equal");
}

void* Reach(const Part& part, Access access, const Stream* on, const char* file, const char* function,
            int line) {
  if (part.count == 0) return nullptr;
  return InPlace::Reach(*part.memory, access, part.range, on, Site::Caller(file, line, function));
}
void* ReachOnMain(const Part& part, Access access, const char* file, const char* function, int line) {
  if (part.count == 0) return nullptr;
  const Stream main = Stream::Main(part.memory->device());
  return InPlace::Reach(*part.memory, access, part.range, &main, Site::Caller(file, line, function));
}

void TakeAt(const At& at, std::span<const Request> requests, std::span<void*> ptrs) {
  const Place& place = at.place();
  const auto empty = [](const Request& request) { return request.range.bytes == 0; };
  const Stream* const on = place.side() == Side::kCpu ? nullptr : &place.stream();
  if (std::none_of(requests.begin(), requests.end(), empty)) [[likely]]
    return Take(requests, on, ptrs, at.site());
  std::vector<Request> some;
  std::remove_copy_if(requests.begin(), requests.end(), std::back_inserter(some), empty);
  std::vector<void*> taken(some.size());
  Take(some, on, taken, at.site());
  auto next = taken.begin();
  for (std::size_t i = 0; i < requests.size(); ++i) ptrs[i] = empty(requests[i]) ? nullptr : *next++;
}

}  // namespace ferry::detail
