// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/detail/take.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/device/name.hpp"
#include "core/memory/call.hpp"

namespace ferry::detail {
namespace {

std::string Described(const SyncedMemory& memory) {
  return "the memory " + (memory.label().empty() ? "without a label" : Quoted(memory.label())) + " of " +
         std::to_string(memory.size()) + " bytes";
}

[[noreturn]] void FailBeyond(const Request& request) {
  const auto [first, bytes] = request.range;
  throw std::invalid_argument(
      "ferry: an operand is of " +
      (bytes == ByteRange::kRest ? std::string("the bytes") : std::to_string(bytes) + " bytes") +
      " from number " + std::to_string(first) + " on, and goes beyond " + Described(*request.memory));
}

Bytes BytesOf(const Request& request) {
  const auto within = Within(request.memory->size(), request.range);
  if (!within) [[unlikely]]
    FailBeyond(request);
  return *within;
}

void RequireIdenticalOrDisjoint(const Request& a, const Request& b) {
  const Bytes x = BytesOf(a), y = BytesOf(b);
  const bool reads = a.access == Access::kRead && b.access == Access::kRead;
  if (reads || x == y || x.last <= y.first || y.last <= x.first) return;
  const auto text = [&](Bytes bytes) {
    return "bytes " + std::to_string(bytes.first) + " to " +
           std::to_string(std::min(bytes.last, a.memory->size()));
  };
  throw std::invalid_argument(
      "ferry: two operands of one call overlap in part, and one of them writes: " + text(x) + " and " +
      text(y) + " of " + Described(*a.memory) + "; they must be identical or disjoint");
}

}  // namespace

void Take(std::span<const Request> requests, const Stream* on, std::span<void*> ptrs, const Site& site) {
  Call::Take(requests, on, ptrs, site);
}

/// Where all are in place, nothing changes; else the distinct ones are performed in the order of their
/// addresses.
void Call::Take(std::span<const Request> requests, const Stream* on, std::span<void*> ptrs,
                const Site& site) {
  bool in_place = true;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto [memory, range, access] = requests[i];
    const Bytes bytes = BytesOf(requests[i]);
    for (std::size_t j = 0; j < i; ++j)
      if (requests[j].memory == memory) RequireIdenticalOrDisjoint(requests[j], requests[i]);
    in_place = in_place && (ptrs[i] = memory->InPlace(access, on, bytes)) != nullptr;
  }
  if (in_place) return;
  std::vector<Arrival> arrivals;
  arrivals.reserve(requests.size());
  const auto find = [&](const Request& request) {
    return std::find_if(arrivals.begin(), arrivals.end(),
                        [memory = request.memory, bytes = BytesOf(request)](const Arrival& arrival) {
                          return arrival.memory == memory && arrival.bytes == bytes;
                        });
  };
  for (const Request& request : requests) {
    const auto same = find(request);
    if (same == arrivals.end())
      arrivals.emplace_back(*request.memory, BytesOf(request), request.access, on, site);
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
