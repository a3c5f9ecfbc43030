// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/data/database.hpp"

#include <condition_variable>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

#include "core/nets/data/file_type.hpp"
#include "ferry/nets/error.hpp"

namespace ferry::detail {
namespace {

namespace fs = std::filesystem;

using Key = std::pair<DataParameter::DB, fs::path>;

/// What is open for reading. An entry stays until its database is closed.
struct OpenDatabases {
  std::mutex mutex;
  std::condition_variable closed;
  std::map<Key, std::weak_ptr<Database>> databases;
};

OpenDatabases& All() {
  static OpenDatabases& all = *new OpenDatabases;  // a layer in a global object may be the last to close one
  return all;
}

std::shared_ptr<Database> Shared(const Key& key, const fs::path& path) {
  const auto open = key.first == DataParameter::LMDB ? OpenLmdb : OpenLevelDb;
  OpenDatabases& all = All();
  std::unique_lock lock(all.mutex);
  for (;;) {
    const auto known = all.databases.find(key);
    if (known == all.databases.end()) break;
    if (std::shared_ptr<Database> database = known->second.lock()) return database;
    all.closed.wait(lock);
  }
  const auto close = [key](Database* database) {
    OpenDatabases& every = All();
    const std::lock_guard closing(every.mutex);
    delete database;
    every.databases.erase(key);
    every.closed.notify_all();
  };
  std::shared_ptr<Database> shared(open(path, DatabaseMode::kRead).release(), close);
  all.databases[key] = shared;
  return shared;
}

}  // namespace

void FailDatabase(const fs::path& path, const std::string& what) {
  throw NetError(path.string() + ": " + what);
}

std::shared_ptr<Database> OpenDatabase(DataParameter::DB backend, const fs::path& path, DatabaseMode mode) {
  if (path.empty()) throw NetError("data_param's source is empty; it is the path of a database's folder");
  const bool there = IsThere(path);
  if (mode == DatabaseMode::kNew) {
    if (there) FailDatabase(path, "is there already; a new database needs a path of its own");
    return (backend == DataParameter::LMDB ? OpenLmdb : OpenLevelDb)(path, mode);
  }
  if (!there) FailDatabase(path, "there is no such database; data_param's source is the path of its folder");
  std::error_code error;
  const fs::path own = fs::canonical(path, error);
  if (error) FailDatabase(path, error.message());
  return Shared({backend, own}, path);
}

}  // namespace ferry::detail
