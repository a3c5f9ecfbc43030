// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <span>

#include "core/memory/arrival.hpp"
#include "ferry/detail/take.hpp"

namespace ferry::detail {

/// All accesses of a call, or none: first every allocation, copy and wait, then every change of state, which
/// cannot fail. Between the two the locks are held.
class Call {
 public:
  /// Sorted by memory, without two of the same bytes, of which one writes. Between the two, `work` is done
  /// under the locks.
  static void Perform(std::span<Arrival> arrivals, const std::function<void()>& work = {});
  /// See take.hpp.
  static void Take(std::span<const Request> requests, const Stream* on, std::span<void*> ptrs,
                   const Site& site);

 private:
  class Locks;
  static void Await(Arrival& arrival, const Wait& wait, Locks& locks, Dying& dying);
  static bool Prepared(std::span<Arrival> arrivals, Locks& locks, int& asked, Dying& dying);
};

}  // namespace ferry::detail
