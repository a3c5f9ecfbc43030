// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <iterator>
#include <span>
#include <utility>

#include "ferry/detail/language.hpp"

/// The standard's concepts of ranges, without <ranges>: that is a fifth of what ferry/ferry.hpp includes.
namespace ferry::detail {

template <class R>
using IteratorOf = decltype(std::ranges::begin(std::declval<R&>()));
template <class R>
using ValueOf = std::iter_value_t<IteratorOf<R>>;

template <class R>
concept InputRange = requires(R& range) { std::ranges::end(range); } && std::input_iterator<IteratorOf<R>>;
template <class R>
concept ForwardRange = InputRange<R> && std::forward_iterator<IteratorOf<R>>;

}  // namespace ferry::detail
