// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/data/database.hpp"

#ifdef FERRY_HAS_LEVELDB
#include <leveldb/db.h>
#include <leveldb/write_batch.h>

#include <utility>

#include "core/nets/data/file_type.hpp"
#endif

namespace ferry::detail {
#ifdef FERRY_HAS_LEVELDB
namespace {

namespace fs = std::filesystem;

class LevelDb final : public Database {
 public:
  LevelDb(fs::path path, DatabaseMode mode) : path_(std::move(path)) {
    // LevelDB itself would leave files in a folder that is no database.
    if (mode == DatabaseMode::kRead && !IsFile(path_ / "CURRENT"))
      FailDatabase(path_,
                   "is no database of LevelDB, which is data_param's backend unless it says "
                   "backend: LMDB: it has no CURRENT");
    leveldb::Options options;
    options.error_if_exists = options.create_if_missing = mode == DatabaseMode::kNew;
    options.paranoid_checks = true;  // else it drops damaged records, and the file that has them
    leveldb::DB* database = nullptr;
    Check(leveldb::DB::Open(options, path_.string(), &database), "open it");
    database_.reset(database);
  }

  std::unique_ptr<DatabaseCursor> NewCursor() override;
  std::unique_ptr<DatabaseTransaction> NewTransaction() override;

  leveldb::DB& get() const { return *database_; }
  void Check(const leveldb::Status& status, const char* what) const {
    if (!status.ok()) FailDatabase(path_, std::string("LevelDB cannot ") + what + ": " + status.ToString());
  }

 private:
  const fs::path path_;
  std::unique_ptr<leveldb::DB> database_;
};

leveldb::Slice SliceOf(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
std::string_view BytesOf(const leveldb::Slice& slice) { return {slice.data(), slice.size()}; }

class LevelDbCursor final : public DatabaseCursor {
 public:
  explicit LevelDbCursor(std::shared_ptr<const LevelDb> database) : database_(std::move(database)) {
    leveldb::ReadOptions options;
    options.verify_checksums = true;
    options.fill_cache = false;  // each epoch reads all of it once
    iterator_.reset(database_->get().NewIterator(options));
    SeekToFirst();
  }
  void SeekToFirst() override {
    iterator_->SeekToFirst();
    database_->Check(iterator_->status(), "read a record");
  }
  void Next() override {
    iterator_->Next();
    database_->Check(iterator_->status(), "read a record");
  }
  bool valid() const override { return iterator_->Valid(); }
  std::string_view key() const override { return BytesOf(iterator_->key()); }
  std::string_view value() const override { return BytesOf(iterator_->value()); }
  std::optional<std::uint64_t> size() const override { return std::nullopt; }

 private:
  std::shared_ptr<const LevelDb> database_;
  std::unique_ptr<leveldb::Iterator> iterator_;
};

class LevelDbTransaction final : public DatabaseTransaction {
 public:
  explicit LevelDbTransaction(std::shared_ptr<const LevelDb> database) : database_(std::move(database)) {}
  void Put(std::string_view key, std::string_view value) override {
    batch_.Put(SliceOf(key), SliceOf(value));
  }
  void Commit() override {
    database_->Check(database_->get().Write({}, &batch_), "write records");
    batch_.Clear();
  }

 private:
  std::shared_ptr<const LevelDb> database_;
  leveldb::WriteBatch batch_;
};

std::unique_ptr<DatabaseCursor> LevelDb::NewCursor() {
  return std::make_unique<LevelDbCursor>(std::static_pointer_cast<const LevelDb>(shared_from_this()));
}
std::unique_ptr<DatabaseTransaction> LevelDb::NewTransaction() {
  return std::make_unique<LevelDbTransaction>(std::static_pointer_cast<const LevelDb>(shared_from_this()));
}

}  // namespace

std::unique_ptr<Database> OpenLevelDb(const fs::path& path, DatabaseMode mode) {
  return std::make_unique<LevelDb>(path, mode);
}
#else
std::unique_ptr<Database> OpenLevelDb(const std::filesystem::path& path, DatabaseMode) {
  FailDatabase(
      path,
      "this Ferry was built without LevelDB; install it (Debian's libleveldb-dev) and build Ferry with "
      "-DFERRY_LEVELDB=ON. LEVELDB is the default of data_param's backend; say backend: LMDB for the "
      "other one");
}
#endif

}  // namespace ferry::detail
