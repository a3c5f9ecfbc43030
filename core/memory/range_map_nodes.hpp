// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <map>

#include "ferry/detail/range_map.hpp"

namespace ferry::detail {

template <class Value>
struct RangeMapNodes : std::map<std::size_t, Value> {};

template <class Value>
RangeMap<Value>::RangeMap() = default;
template <class Value>
RangeMap<Value>::RangeMap(RangeMap&&) noexcept = default;
template <class Value>
RangeMap<Value>& RangeMap<Value>::operator=(RangeMap&&) noexcept = default;
template <class Value>
RangeMap<Value>::~RangeMap() = default;

}  // namespace ferry::detail
