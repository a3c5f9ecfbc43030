// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace ferry::detail {

/// What makes the objects of each type, by the type's name. Any thread may call.
template <class Creator>
class Creators {
 public:
  explicit Creators(std::map<std::string, Creator> creators) : creators_(std::move(creators)) {}

  /// Returns whether there was none of that name before.
  bool Add(const std::string& type, Creator creator) {
    const std::lock_guard lock(mutex_);
    return creators_.emplace(type, creator).second;
  }
  /// Null where there is none.
  Creator Find(const std::string& type) const {
    const std::lock_guard lock(mutex_);
    const auto found = creators_.find(type);
    return found == creators_.end() ? nullptr : found->second;
  }
  /// In alphabetical order.
  std::vector<std::string> Types() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> types;
    types.reserve(creators_.size());
    for (const auto& [type, creator] : creators_) types.push_back(type);
    return types;
  }
  /// The same in words.
  std::string Listed() const {
    std::string list;
    for (const std::string& type : Types()) list += (list.empty() ? "" : ", ") + type;
    return list;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Creator> creators_;
};

}  // namespace ferry::detail
