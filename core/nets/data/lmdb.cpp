// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/data/database.hpp"

#ifdef FERRY_HAS_LMDB
#include <lmdb.h>

#include <cerrno>
#include <cstddef>
#include <system_error>
#include <utility>
#include <vector>

#include "core/nets/data/file_type.hpp"
#include "ferry/log.hpp"
#endif

namespace ferry::detail {
#ifdef FERRY_HAS_LMDB
namespace {

namespace fs = std::filesystem;

MDB_val ValueOf(std::string_view bytes) {
  return {bytes.size(), const_cast<char*>(bytes.data())};  // LMDB only reads it
}
std::string_view BytesOf(const MDB_val& value) {
  return {static_cast<const char*>(value.mv_data), value.mv_size};
}

/// An environment of LMDB with its one table of records.
class Lmdb final : public Database {
 public:
  Lmdb(fs::path path, DatabaseMode mode) : path_(std::move(path)) {
    std::error_code error;
    if (mode == DatabaseMode::kNew) {
      if (!fs::create_directory(path_, error)) FailDatabase(path_, "cannot be made: " + error.message());
      Check(Open(0), "open it");
      return;
    }
    if (!IsFile(File())) FailDatabase(path_, "is no database of LMDB: it has no data.mdb");
    if (fs::is_empty(File(), error)) FailDatabase(File(), "is empty; copy it anew");
    int result = Open(MDB_RDONLY | MDB_NOTLS);
    if (result == EACCES) {  // readers note themselves in a file beside the data, which others may not write
      result = Open(MDB_RDONLY | MDB_NOTLS | MDB_NOLOCK);
      if (result == 0)
        Log(LogLevel::kInfo, path_.string() + ": read without a lock, for it cannot be written");
    }
    Check(result, "open it");
    RequireWhole();
    MDB_txn* transaction = nullptr;
    Check(mdb_txn_begin(env(), nullptr, MDB_RDONLY, &transaction), "read it");
    const int opened = mdb_dbi_open(transaction, nullptr, 0, &records_);
    mdb_txn_abort(transaction);
    Check(opened, "read it");
  }

  std::unique_ptr<DatabaseCursor> NewCursor() override;
  std::unique_ptr<DatabaseTransaction> NewTransaction() override;

  MDB_env* env() const { return env_.get(); }
  MDB_dbi records() const { return records_; }
  void Check(int result, const char* what) const {
    if (result != 0) FailCall(what, mdb_strerror(result));
  }

 private:
  int Open(unsigned flags) {
    constexpr unsigned kMode = 0664;
    MDB_env* env = nullptr;
    Check(mdb_env_create(&env), "begin");
    env_.reset(env);
    return mdb_env_open(env, path_.c_str(), flags, kMode);
  }
  [[noreturn]] void FailCall(const char* what, const char* why) const {
    std::string text = "LMDB cannot ";
    text.append(what).append(": ").append(why);
    FailDatabase(path_, text);
  }
  fs::path File() const { return path_ / "data.mdb"; }
  /// LMDB maps the file, and a page behind its end ends the process.
  void RequireWhole() const {
    MDB_envinfo info;
    MDB_stat stat;
    Check(mdb_env_info(env(), &info), "read it");
    Check(mdb_env_stat(env(), &stat), "read it");
    const std::uintmax_t needed = (info.me_last_pgno + std::uintmax_t{1}) * stat.ms_psize;
    std::error_code error;
    const std::uintmax_t there = fs::file_size(File(), error);
    if (error) FailDatabase(File(), error.message());
    if (there < needed)
      FailDatabase(File(), "is cut short: it has " + std::to_string(there) + " bytes of " +
                               std::to_string(needed) + "; copy it anew");
  }

  struct Close {
    void operator()(MDB_env* env) const { mdb_env_close(env); }
  };
  const fs::path path_;
  std::unique_ptr<MDB_env, Close> env_;
  MDB_dbi records_ = 0;
};

class LmdbCursor final : public DatabaseCursor {
 public:
  explicit LmdbCursor(std::shared_ptr<const Lmdb> lmdb) : lmdb_(std::move(lmdb)) {
    lmdb_->Check(mdb_txn_begin(lmdb_->env(), nullptr, MDB_RDONLY, &transaction_), "read it");
    const int opened = mdb_cursor_open(transaction_, lmdb_->records(), &cursor_);
    if (opened != 0) mdb_txn_abort(transaction_);
    lmdb_->Check(opened, "read it");
    SeekToFirst();
  }
  ~LmdbCursor() override {
    mdb_cursor_close(cursor_);
    mdb_txn_abort(transaction_);
  }

  void SeekToFirst() override { Move(MDB_FIRST); }
  void Next() override { Move(MDB_NEXT); }
  bool valid() const override { return valid_; }
  std::string_view key() const override { return BytesOf(key_); }
  std::string_view value() const override { return BytesOf(value_); }
  std::optional<std::uint64_t> size() const override {
    MDB_stat stat;
    lmdb_->Check(mdb_stat(transaction_, lmdb_->records(), &stat), "count its records");
    return stat.ms_entries;
  }

 private:
  void Move(MDB_cursor_op how) {
    const int result = mdb_cursor_get(cursor_, &key_, &value_, how);
    valid_ = result == 0;
    if (result != MDB_NOTFOUND) lmdb_->Check(result, "read a record");
  }

  std::shared_ptr<const Lmdb> lmdb_;
  MDB_txn* transaction_ = nullptr;
  MDB_cursor* cursor_ = nullptr;
  MDB_val key_{}, value_{};
  bool valid_ = false;
};

class LmdbTransaction final : public DatabaseTransaction {
 public:
  explicit LmdbTransaction(std::shared_ptr<const Lmdb> lmdb) : lmdb_(std::move(lmdb)) {}

  void Put(std::string_view key, std::string_view value) override { records_.emplace_back(key, value); }
  void Commit() override {
    int result = Write();
    while (result == MDB_MAP_FULL) {
      MDB_envinfo info;
      lmdb_->Check(mdb_env_info(lmdb_->env(), &info), "grow");
      lmdb_->Check(mdb_env_set_mapsize(lmdb_->env(), 2 * info.me_mapsize), "grow");
      result = Write();
    }
    lmdb_->Check(result, "write records");
    records_.clear();
  }

 private:
  /// Returns LMDB's error; then nothing has been written.
  int Write() {
    MDB_txn* transaction = nullptr;
    if (const int error = mdb_txn_begin(lmdb_->env(), nullptr, 0, &transaction)) return error;
    MDB_dbi to = 0;
    int error = mdb_dbi_open(transaction, nullptr, 0, &to);
    for (const auto& [key, value] : records_) {
      MDB_val k = ValueOf(key);
      MDB_val v = ValueOf(value);
      if (error == 0) error = mdb_put(transaction, to, &k, &v, 0);
    }
    if (error == 0) return mdb_txn_commit(transaction);
    mdb_txn_abort(transaction);
    return error;
  }

  std::shared_ptr<const Lmdb> lmdb_;
  std::vector<std::pair<std::string, std::string>> records_;
};

std::unique_ptr<DatabaseCursor> Lmdb::NewCursor() {
  return std::make_unique<LmdbCursor>(std::static_pointer_cast<const Lmdb>(shared_from_this()));
}
std::unique_ptr<DatabaseTransaction> Lmdb::NewTransaction() {
  return std::make_unique<LmdbTransaction>(std::static_pointer_cast<const Lmdb>(shared_from_this()));
}

}  // namespace

std::unique_ptr<Database> OpenLmdb(const fs::path& path, DatabaseMode mode) {
  return std::make_unique<Lmdb>(path, mode);
}
#else
std::unique_ptr<Database> OpenLmdb(const std::filesystem::path& path, DatabaseMode) {
  FailDatabase(path,
               "this Ferry was built without LMDB; install it (Debian's liblmdb-dev) and build Ferry with "
               "-DFERRY_LMDB=ON");
}
#endif

}  // namespace ferry::detail
