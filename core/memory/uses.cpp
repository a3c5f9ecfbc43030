// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/detail/uses.hpp"

#include <algorithm>

namespace ferry::detail {

std::optional<Event> Use::PointAfter(Dying& dying) const {
  if (point) return point;
  auto stream = on.Alive();
  if (!stream) return on.LastPoint();
  Event after(*stream);
  Dismiss(std::move(*stream), dying);
  return after;
}

Uses::Uses(std::vector<Use> all) {
  if (all.empty()) return;
  list_ = std::make_unique<std::vector<Use>>(std::move(all));
  Summarize();
}

Uses::Uses(const Uses& other) : brief_(other.brief_) {
  if (other.list_ == nullptr) return;
  list_ = std::make_unique<std::vector<Use>>();
  list_->reserve(other.list_->capacity());
  list_->assign(other.begin(), other.end());
}

void Uses::reserve(std::size_t count) {
  constexpr std::size_t kFew = 8;
  if (list_ == nullptr) list_ = std::make_unique<std::vector<Use>>();
  if (count > kFew && count > list_->capacity()) [[unlikely]]
    count = std::max(count, 2 * list_->capacity());  // of many, each one more must not copy all
  list_->reserve(count);
}

void Uses::Summarize() noexcept {
  const auto lazy = std::find_if(begin(), end(), [](const Use& use) { return !use.point; });
  brief_ = {lazy == end() ? StreamId::kNone : lazy->on.id(), !empty() && front().writes, size() == 1};
}

}  // namespace ferry::detail
