// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "ferry/observer.hpp"

namespace ferry::detail {

/// Hands what happens to a tool of Kokkos' (https://github.com/kokkos/kokkos-tools), while Kokkos has loaded
/// one: copies as deep copies, blocks as data, calls as regions, accesses and waits as events. Null where the
/// environment names no tool, as Kokkos reads it.
std::shared_ptr<Observer> ObserverForTools();

}  // namespace ferry::detail
