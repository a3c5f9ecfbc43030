// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/detail/take.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/memory/call.hpp"

namespace ferry::detail {
namespace {

std::string Text(Bytes bytes) {
  return "bytes " + std::to_string(bytes.first) + " to " + std::to_string(bytes.last);
}

std::string Described(const SyncedMemory& memory) {
  return "the memory " + (memory.label().empty() ? "without a label" : '"' + memory.label() + '"') + " of " +
         std::to_string(memory.size()) + " bytes";
}

Bytes BytesOf(const Request& request) {
  const auto [first, bytes] = request.range;
  const std::size_t size = request.memory->size();
  const bool rest = bytes == ByteRange::kRest;
  if (first > size || (!rest && bytes > size - first))
    throw std::invalid_argument(
        "ferry: an operand is of " + (rest ? std::string("the bytes") : std::to_string(bytes) + " bytes") +
        " from number " + std::to_string(first) + " on, and goes beyond " + Described(*request.memory));
  return {first, rest ? size : first + bytes};
}

void RequireIdenticalOrDisjoint(const Request& a, const Request& b) {
  const Bytes x = BytesOf(a), y = BytesOf(b);
  const bool reads = a.access == Access::kRead && b.access == Access::kRead;
  if (reads || x == y || x.last <= y.first || y.last <= x.first) return;
  throw std::invalid_argument(
      "ferry: two operands of one call overlap in part, and one of them writes: " + Text(x) + " and " +
      Text(y) + " of " + Described(*a.memory) + "; they must be identical or disjoint");
}

}  // namespace

void Take(std::span<const Request> requests, const Stream* on, std::span<void*> ptrs) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    static_cast<void>(BytesOf(requests[i]));
    for (std::size_t j = 0; j < i; ++j)
      if (requests[j].memory == requests[i].memory) RequireIdenticalOrDisjoint(requests[j], requests[i]);
  }
  Call::Take(requests, on, ptrs);
}

/// Where all are in place, nothing changes; else the distinct ones are performed in the order of their
/// addresses.
void Call::Take(std::span<const Request> requests, const Stream* on, std::span<void*> ptrs) {
  const auto in_place = [&](std::size_t i) {
    const auto [memory, range, access] = requests[i];
    ptrs[i] = memory->InPlace(access, on, memory->Checked(range, "an operand"));
    return ptrs[i] != nullptr;
  };
  std::size_t there = 0;
  while (there < requests.size() && in_place(there)) ++there;
  if (there == requests.size()) return;
  std::vector<Arrival> arrivals;
  arrivals.reserve(requests.size());
  const auto find = [&](const Request& request) {
    const Bytes bytes = request.memory->Checked(request.range, "an operand");
    return std::find_if(arrivals.begin(), arrivals.end(), [=](const Arrival& arrival) {
      return arrival.memory == request.memory && arrival.bytes == bytes;
    });
  };
  for (const Request& request : requests) {
    const auto same = find(request);
    if (same == arrivals.end())
      arrivals.emplace_back(*request.memory, request.memory->Checked(request.range, "an operand"),
                            request.access, on);
    else if (same->access != request.access)
      same->access = Access::kReadWrite;
  }
  for (Arrival& arrival : arrivals)
    arrival.in_place = arrival.memory->InPlace(arrival.access, on, arrival.bytes) != nullptr;
  std::sort(arrivals.begin(), arrivals.end(),
            [](const Arrival& a, const Arrival& b) { return std::less<>()(a.memory, b.memory); });
  Perform(arrivals);
  for (std::size_t i = 0; i < requests.size(); ++i) ptrs[i] = find(requests[i])->ptr;
}

}  // namespace ferry::detail
