// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/detail/live_list.hpp"

#include <algorithm>
#include <utility>

#include "core/device/name.hpp"
#include "ferry/detail/dependents.hpp"
#include "ferry/error.hpp"

namespace ferry {
namespace detail {
namespace {

bool OnHost(MemoryKind kind) noexcept { return kind == MemoryKind::kPinnedHost; }

std::string LineOf(const LiveBlock& block) {
  return "\n  " + (block.label.empty() ? "a memory without a label" : Quoted(block.label)) + ": " +
         std::to_string(block.bytes) + " bytes" + (OnHost(block.kind) ? " of the host" : "") +
         ", allocated by " + Name(block.site);
}

}  // namespace

void LiveNode::End::operator()(LiveNode* node) const noexcept { node->list_.Remove(*node); }

void LiveNode::Rename(const Label* label) noexcept {
  const std::lock_guard lock(list_.mutex_);
  label_ = label;
}

LiveEntry LiveList::Enter(const Device& device, MemoryKind kind, std::size_t bytes, const Label* label,
                          const Site& site) {
  LiveList& list = Dependents::Of(device.serial()).live();
  std::unique_lock lock(list.mutex_);
  LiveNode* const node = list.NewNode(lock);
  node->bytes_ = bytes;
  node->kind_ = kind;
  node->site_ = site;
  node->label_ = label;
  const std::size_t used = list.used_, limit = OnHost(kind) ? 0 : list.limit_;
  if (limit != 0 && (used > limit || bytes > limit - used)) [[unlikely]] {
    node->next_ = std::exchange(list.spare_, node);
    lock.unlock();
    throw OutOfMemory(Name(device), bytes, used, limit);
  }
  if (!OnHost(kind)) list.used_ += bytes;
  node->previous_ = nullptr;
  node->next_ = list.first_;
  if (list.first_ != nullptr) list.first_->previous_ = node;
  list.first_ = node;
  return LiveEntry(node);
}

/// A spare one: who makes a memory need not ask for memory of this size, too.
LiveNode* LiveList::NewNode(std::unique_lock<std::mutex>& lock) {
  if (spare_ != nullptr) [[likely]]
    return std::exchange(spare_, spare_->next_);
  lock.unlock();
  auto* const node = new LiveNode(*this);
  lock.lock();
  return node;
}

void LiveList::Remove(LiveNode& node) noexcept {
  const std::lock_guard lock(mutex_);
  if (!OnHost(node.kind_)) used_ -= node.bytes_;
  if (node.next_ != nullptr) node.next_->previous_ = node.previous_;
  (node.previous_ != nullptr ? node.previous_->next_ : first_) = node.next_;
  node.next_ = std::exchange(spare_, &node);
}

std::vector<LiveBlock> LiveList::Blocks(Where where) const {
  std::vector<LiveBlock> blocks;
  {
    const std::lock_guard lock(mutex_);
    for (const LiveNode* node = first_; node != nullptr; node = node->next_)
      if (where == Where::kAnywhere || OnHost(node->kind_) == (where == Where::kOnHost))
        blocks.push_back({node->label_ != nullptr ? node->label_->text : std::string(), node->bytes_,
                          node->kind_, node->site_});
  }
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const LiveBlock& a, const LiveBlock& b) { return a.bytes > b.bytes; });
  return blocks;
}

std::string LiveList::Text(Where where) const {
  constexpr std::size_t kShown = 10;
  const std::vector<LiveBlock> blocks = Blocks(where);
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, blocks.size()); ++i) text += LineOf(blocks[i]);
  const std::size_t left = blocks.size() - std::min(kShown, blocks.size());
  if (left != 0) text += "\n  and " + std::to_string(left) + (left == 1 ? " smaller one" : " smaller ones");
  return text;
}

std::size_t LiveList::SetLimit(std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  return std::exchange(limit_, bytes);
}

}  // namespace detail

std::vector<LiveBlock> LiveBlocks(const Device& device) {
  return detail::Dependents::Of(device.serial()).live().Blocks(detail::LiveList::Where::kAnywhere);
}
std::size_t SetMemoryLimit(Device& device, std::size_t bytes) noexcept {
  return detail::Dependents::Of(device.serial()).live().SetLimit(bytes);
}

}  // namespace ferry
