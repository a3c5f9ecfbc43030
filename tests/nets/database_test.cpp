// SPDX-License-Identifier: BSD-2-Clause
#include <catch2/generators/catch_generators_range.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/nets/data/record_reader.hpp"
#include "tests/nets/data_folder.hpp"

namespace ferry::nets_test {
namespace {

using detail::DatabaseMode;
using detail::OpenDatabase;
using detail::RecordReader;

TEST_CASE("A database gives what was put there in the order of the keys") {
  for (const auto backend : Backends()) {
    const Folder folder;
    const std::string path = folder / "db";
    {
      const auto database = OpenDatabase(backend, path, DatabaseMode::kNew);
      const auto transaction = database->NewTransaction();
      transaction->Put("b", "two");
      transaction->Put("a", "one");
      transaction->Commit();
      transaction->Put("c", std::string(3 << 20, 'x'));  // more than LMDB's map has at first, twice
      for (int i = 0; i < 8; ++i) transaction->Put("d" + std::to_string(i), std::string(3 << 20, 'y'));
      transaction->Commit();
    }
    const auto cursor = OpenDatabase(backend, path, DatabaseMode::kRead)->NewCursor();
    CHECK(cursor->key() == "a");
    CHECK(cursor->value() == "one");
    cursor->Next();
    CHECK(cursor->value() == "two");
    cursor->Next();
    CHECK(cursor->value().size() == 3 << 20);
    for (int i = 0; i < 8; ++i) cursor->Next();
    CHECK(cursor->key() == "d7");
    cursor->Next();
    CHECK(!cursor->valid());
    cursor->SeekToFirst();
    CHECK(cursor->key() == "a");
  }
}

TEST_CASE("What was not committed is not in the database") {
  for (const auto backend : Backends()) {
    const Folder folder;
    {
      const auto database = OpenDatabase(backend, folder / "db", DatabaseMode::kNew);
      database->NewTransaction()->Put("a", "one");
      const auto transaction = database->NewTransaction();
      transaction->Put("b", "two");
      transaction->Commit();
    }
    const auto cursor = OpenDatabase(backend, folder / "db", DatabaseMode::kRead)->NewCursor();
    CHECK(cursor->key() == "b");
  }
}

TEST_CASE("Readers of one folder share what they open, and the last one closes it") {
  for (const auto backend : Backends()) {
    const Folder folder;
    const std::string path = WriteDatabase(folder / "db", backend, Datums(3, 1, 1, 1));
    std::filesystem::create_directory_symlink(path, folder / "link");
    auto first = OpenDatabase(backend, path, DatabaseMode::kRead);
    CHECK(OpenDatabase(backend, folder / "link", DatabaseMode::kRead) == first);
    const auto cursor = first->NewCursor();
    first.reset();
    const auto second = OpenDatabase(backend, path, DatabaseMode::kRead);
    const auto other = second->NewCursor();
    cursor->Next();
    CHECK(cursor->key() == "00000001");
    CHECK(other->key() == "00000000");
  }
}

TEST_CASE("Threads open, read and close one database at once") {
  for (const auto backend : Backends()) {
    const Folder folder;
    const std::string path = WriteDatabase(folder / "db", backend, Datums(20, 1, 1, 1));
    std::vector<std::thread> threads;
    std::atomic<int> right = 0;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int round = 0; round < 20; ++round) {
          RecordReader reader(backend, path);
          reader.Seek(33);
          right += reader.key() == "00000013";
        }
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(right == 80);
  }
}

TEST_CASE("A reader goes to any number of an endless sequence") {
  for (const auto backend : Backends()) {
    const Folder folder;
    const std::string path = WriteDatabase(folder / "db", backend, Datums(5, 1, 1, 1));
    RecordReader reader(backend, path);
    for (const std::uint64_t number : {0U, 1U, 2U, 1U, 4U, 5U, 6U, 23U, 22U, 3U, 1000000004U, 0U, 0U}) {
      reader.Seek(number);
      CHECK(reader.key() == "0000000" + std::to_string(number % 5));
    }
    RecordReader far(backend, path);
    far.Seek(13);  // beyond the end before the end was ever seen
    CHECK(far.key() == "00000003");
  }
}

TEST_CASE("A database that cannot be read is an error with its path") {
  for (const auto backend : Backends()) {
    const Folder folder;
    CheckFails([&] { RecordReader(backend, folder / "none"); }, {folder / "none", "no such database"});
    CheckFails([&] { RecordReader(backend, ""); }, {"source is empty"});
    WriteDatabase(folder / "empty", backend, std::vector<Datum>{});
    CheckFails([&] { RecordReader(backend, folder / "empty"); }, {folder / "empty", "has no record"});
    CheckFails([&] { OpenDatabase(backend, folder / "empty", DatabaseMode::kNew); }, {"is there already"});
    CheckFails([&] { OpenDatabase(backend, folder / "no/parent", DatabaseMode::kNew); }, {"no/parent"});
    CheckFails([&] { RecordReader(backend, folder.Write("file", "text")); }, {folder / "file"});
    const std::string bare = folder / "bare";
    std::filesystem::create_directory(bare);
    CheckFails([&] { RecordReader(backend, bare); }, {bare, "is no database of"});
    CHECK(std::filesystem::is_empty(bare));
  }
}

TEST_CASE("A database whose path cannot be looked up is an error that says why") {
  const std::string too_long(300, 'a');
  for (const auto backend : Backends()) {
    const Folder folder;
    const std::string database = folder / "db";
    std::filesystem::create_directory(database);
    const std::string file = database + (backend == DataParameter::LMDB ? "/data.mdb" : "/CURRENT");
    std::filesystem::create_symlink(file, file);
    for (const std::string& path : {too_long, database, file}) {
      const std::string asked = path == database ? file : path;
      const std::string why = path == too_long ? "name too long" : "symbolic links";
      CheckFails([&] { OpenDatabase(backend, path, DatabaseMode::kRead); },
                 {asked + ": cannot be looked up", why});
    }
    CheckFails([&] { OpenDatabase(backend, file, DatabaseMode::kNew); }, {file, "symbolic links"});
  }
}

#ifdef FERRY_HAS_LMDB
#ifdef FERRY_HAS_LEVELDB
TEST_CASE("A damaged database of LevelDB is an error, and keeps what it has") {
  const Folder folder;
  const std::string path = folder / "db";
  WriteDatabase(path, DataParameter::LEVELDB, Datums(200, 1, 8, 8));
  const auto log = [&] {
    for (const auto& entry : std::filesystem::directory_iterator(path))
      if (entry.path().extension() == ".log") return entry.path();
    return std::filesystem::path();
  };
  const std::filesystem::path file = log();
  const auto size = std::filesystem::file_size(file);
  std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekp(static_cast<std::streamoff>(size / 2));
  const int old = bytes.get();
  bytes.seekp(static_cast<std::streamoff>(size / 2));
  bytes.put(static_cast<char>(old ^ 1));
  bytes.close();
  CheckFails([&] { RecordReader(DataParameter::LEVELDB, path); }, {path, "Corruption"});
  CHECK(std::filesystem::file_size(file) == size);
}
#endif

TEST_CASE("A file of LMDB that is cut short is an error wherever it is cut") {
  const Folder folder;
  const std::string path = WriteDatabase(folder / "db", DataParameter::LMDB, Datums(200, 1, 28, 28));
  const std::string file = path + "/data.mdb";
  const auto size = std::filesystem::file_size(file);
  REQUIRE(size > 100000);
  for (const auto left : {size - 1, size / 2, std::uintmax_t{8192}, std::uintmax_t{5000}, std::uintmax_t{100},
                          std::uintmax_t{0}}) {
    INFO(left << " bytes of " << size);
    std::filesystem::resize_file(file, left);
    CheckFails([&] { RecordReader(DataParameter::LMDB, path); }, {path});
  }
  CheckFails([&] { RecordReader(DataParameter::LMDB, path); }, {file, "is empty"});
  CheckFails([&] { RecordReader(DataParameter::LMDB, folder / "."); }, {"no data.mdb"});
}
#endif

}  // namespace
}  // namespace ferry::nets_test
