// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "core/nets/data/database.hpp"

namespace ferry::detail {

/// The records of a database as an endless sequence: after the last one comes the first. For one thread at a
/// time.
class RecordReader {
 public:
  /// Throws NetError, here and below; also for a database without a record.
  RecordReader(DataParameter::DB backend, const std::filesystem::path& path);

  /// Goes to that number. The next one costs nothing, and another one a step for each record from the first,
  /// or from here if that is nearer: some 20 ns in LMDB, which does not look at the values, while LevelDB
  /// reads them.
  void Seek(std::uint64_t number);
  std::string_view key() const { return cursor_->key(); }
  std::string_view value() const { return cursor_->value(); }

 private:
  std::shared_ptr<Database> database_;
  std::unique_ptr<DatabaseCursor> cursor_;
  std::optional<std::uint64_t> size_;  ///< once it is known
  std::uint64_t record_ = 0;           ///< where the cursor is
};

}  // namespace ferry::detail
