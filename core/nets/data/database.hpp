// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ferry/data.pb.h"

namespace ferry::detail {

/// A position among the records of a database, in the order of their keys. For one thread at a time.
class DatabaseCursor {
 public:
  virtual ~DatabaseCursor() = default;
  DatabaseCursor(const DatabaseCursor&) = delete;
  DatabaseCursor& operator=(const DatabaseCursor&) = delete;

  virtual void SeekToFirst() = 0;
  virtual void Next() = 0;
  /// Whether there is a record here, and not the end.
  virtual bool valid() const = 0;
  /// Good until the cursor moves, as is value().
  virtual std::string_view key() const = 0;
  virtual std::string_view value() const = 0;
  /// How many records there are, where the database knows it.
  virtual std::optional<std::uint64_t> size() const = 0;

 protected:
  DatabaseCursor() = default;
};

/// Records that Commit writes, all or none.
class DatabaseTransaction {
 public:
  virtual ~DatabaseTransaction() = default;
  DatabaseTransaction(const DatabaseTransaction&) = delete;
  DatabaseTransaction& operator=(const DatabaseTransaction&) = delete;

  virtual void Put(std::string_view key, std::string_view value) = 0;
  virtual void Commit() = 0;

 protected:
  DatabaseTransaction() = default;
};

enum class DatabaseMode : std::uint8_t {
  kRead,  ///< of one that is there
  kNew,   ///< of one that is not there yet
};

/// A folder of keys and values, as Caffe's Data layer reads them: LMDB or LevelDB. Cursors and transactions
/// keep it open. All calls throw NetError with the path. Any thread may call.
class Database : public std::enable_shared_from_this<Database> {
 public:
  virtual ~Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  virtual std::unique_ptr<DatabaseCursor> NewCursor() = 0;
  virtual std::unique_ptr<DatabaseTransaction> NewTransaction() = 0;

 protected:
  Database() = default;
};

/// Readers of one folder within a process share what they open: neither library may open one twice.
std::shared_ptr<Database> OpenDatabase(DataParameter::DB backend, const std::filesystem::path& path,
                                       DatabaseMode mode);

/// Throws NetError, which begins with the path.
[[noreturn]] void FailDatabase(const std::filesystem::path& path, const std::string& what);

// What OpenDatabase opens once. Each is an error where its library was not there when Ferry was built.
std::unique_ptr<Database> OpenLmdb(const std::filesystem::path& path, DatabaseMode mode);
std::unique_ptr<Database> OpenLevelDb(const std::filesystem::path& path, DatabaseMode mode);

}  // namespace ferry::detail
