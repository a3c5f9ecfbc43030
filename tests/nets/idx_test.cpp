// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/nets/idx.hpp"

#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <atomic>
#include <csignal>
#include <iterator>
#include <span>
#include <thread>

#include "core/nets/data/record_reader.hpp"
#include "core/nets/hdf5/hdf5_file.hpp"
#include "ferry/nets/io.hpp"
#include "tests/full_disk.hpp"
#include "tests/nets/data_folder.hpp"

namespace ferry::nets_test {
namespace {

/// The bytes of a file with elements 0, 1, 2, ...
std::string IdxOf(const std::vector<std::uint32_t>& dims, std::size_t count, char type = 8) {
  std::string bytes{0, 0, type, static_cast<char>(dims.size())};
  for (const std::uint32_t dim : dims)
    for (const unsigned shift : {24U, 16U, 8U, 0U}) bytes.push_back(static_cast<char>(dim >> shift & 0xFFU));
  for (std::size_t i = 0; i < count; ++i) bytes.push_back(static_cast<char>(i % 256));
  return bytes;
}

std::string WritePacked(const std::string& path, const std::string& bytes) {
  gzFile file = gzopen(path.c_str(), "wb");
  REQUIRE(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())) == static_cast<int>(bytes.size()));
  gzclose(file);
  return path;
}

TEST_CASE("An idx file is read plain and from gzip") {
  const Folder folder;
  const std::string bytes = IdxOf({300, 2, 3}, 1800);
  for (const std::string& path : {folder.Write("plain", bytes), WritePacked(folder / "packed.gz", bytes)}) {
    const IdxArray read = ReadIdx(path);
    CHECK(read.dims == std::vector<std::int64_t>{300, 2, 3});
    REQUIRE(read.bytes.size() == 1800);
    CHECK(read.bytes[1799] == 1799 % 256);
  }
}

TEST_CASE("An idx file that is not whole or of another kind is an error with its path") {
  const Folder folder;
  const auto fails = [&](const std::string& bytes, const std::string& why) {
    CheckFails([&] { ReadIdx(folder.Write("file", bytes)); }, {folder / "file", why});
  };
  CheckFails([&] { ReadIdx(folder / "none"); }, {folder / "none", "cannot be opened"});
  CheckFails([&] { ReadIdx(folder / "."); }, {"is a directory"});
  CheckFails([&] { ReadIdx("/dev/zero"); }, {"/dev/zero", "does not begin"});  // which has no end
  fails("", "does not begin");
  fails("hello", "does not begin");
  fails(IdxOf({2}, 2, 13), "unsigned bytes");
  fails(IdxOf({2, 3}, 6).substr(0, 9), "ends within its header");
  fails(IdxOf({2, 3}, 5), "cut short");
  fails(IdxOf({1U << 31U, 1U << 31U, 4}, 5), "more than the 5 elements");  // 2^64
  fails(IdxOf({2, 3}, 7), "more elements than the 6 that its dims make");
  fails(IdxOf({2, 0}, 7), "more elements than the 0 that its dims make");
  CHECK(ReadIdx(folder.Write("empty", IdxOf({13, 0, 2}, 0))).dims == std::vector<std::int64_t>{13, 0, 2});
  const std::string packed = WritePacked(folder / "packed.gz", IdxOf({300, 2, 3}, 1800));
  std::filesystem::resize_file(packed, std::filesystem::file_size(packed) / 2);
  CheckFails([&] { ReadIdx(packed); }, {packed, "cut short or corrupt"});
}

TEST_CASE("Images and labels become a database in their order") {
  for (const auto backend : Backends()) {
    const Folder folder;
    const IdxFiles from{folder.Write("images", IdxOf({1201, 2, 3}, 7206)),
                        folder.Write("labels", IdxOf({1201}, 1201))};
    CHECK(ConvertIdxToDatabase(from, backend, folder / "db") == 1201);
    detail::RecordReader reader(backend, folder / "db");
    for (const unsigned n : {0U, 7U, 999U, 1000U, 1200U}) {
      reader.Seek(n);
      Datum datum;
      REQUIRE(datum.ParseFromString(std::string(reader.value())));
      CHECK(reader.key() == std::string(8 - std::to_string(n).size(), '0') + std::to_string(n));
      CHECK(datum.label() == static_cast<int>(n % 256));
      CHECK((datum.channels() == 1 && datum.height() == 2 && datum.width() == 3));
      CHECK(datum.data().size() == 6);
      CHECK(ElementOf(datum, 5) == (6 * n + 5) % 256);
    }
    reader.Seek(1201);
    CHECK(reader.key() == "00000000");
    CheckFails([&] { ConvertIdxToDatabase(from, backend, folder / "db"); }, {folder / "db", "there already"});
  }
}

TEST_CASE("Images and labels become datasets of HDF5, scaled") {
  if (!detail::HasHdf5()) SKIP("a build without HDF5");
  const Folder folder;
  const IdxFiles from{folder.Write("images", IdxOf({2, 3, 1, 2}, 12)), folder.Write("labels", IdxOf({2}, 2))};
  CHECK(ConvertIdxToHdf5(from, folder / "out.h5", 0.5F) == 2);
  const auto file = detail::Hdf5File::Open(folder / "out.h5");
  CHECK(file.ShapeOf("data") == Shape{2, 3, 1, 2});
  CHECK(file.ShapeOf("label") == Shape{2});
  std::vector<float> data(12);
  file.Read("data", std::span<float>(data));
  CHECK(data[11] == 5.5F);
}

TEST_CASE("Images and labels that do not fit are an error, and no database is made") {
  const Folder folder;
  const std::string images = folder.Write("images", IdxOf({2, 2, 3}, 12));
  const auto fails = [&](const IdxFiles& from, const std::vector<std::string>& parts) {
    for (const auto backend : Backends())
      CheckFails([&] { ConvertIdxToDatabase(from, backend, folder / "db"); }, parts);
    CHECK(!std::filesystem::exists(folder / "db"));
  };
  fails({images, folder.Write("labels", IdxOf({3}, 3))}, {folder / "labels", "dims 3; ", "2 images"});
  fails({folder / "labels", folder / "labels"}, {folder / "labels", "1 dims", "3 (n, height, width)"});
  fails({folder.Write("none", IdxOf({0, 2, 3}, 0)), folder.Write("no labels", IdxOf({0}, 0))},
        {folder / "none", "no elements"});
  constexpr std::uint32_t kMost = 0xFFFFFFFF;
  fails({folder.Write("none", IdxOf({0, kMost, kMost, kMost}, 0)), folder / "no labels"},
        {folder / "none", "its dims are 0 x 4294967295 x 4294967295 x 4294967295"});
  fails({images, folder.Write("labels", IdxOf({0, kMost, kMost, kMost}, 0))},
        {folder / "labels", "dims 0 x 4294967295"});
}

TEST_CASE("A database that could not be written to its end is no database") {
  for (const auto backend : Backends()) {
    const Folder folder;
    const IdxFiles from{folder.Write("images", IdxOf({5000, 2, 3}, 30000)),
                        folder.Write("labels", IdxOf({5000}, 5000))};
    {
      const ferry::testing::FullDisk full(65536);
      CheckFails([&] { ConvertIdxToDatabase(from, backend, folder / "db"); }, {folder / "db"});
    }
    CHECK(!std::filesystem::exists(folder / "db"));
    CHECK(ConvertIdxToDatabase(from, backend, folder / "db") == 5000);
    CheckFails([&] { ConvertIdxToDatabase(from, backend, folder / "db"); }, {"there already"});
    CHECK(std::filesystem::exists(folder / "db"));
  }
}

TEST_CASE("A conversion that is told to stop leaves nothing") {
  for (const auto backend : Backends()) {
    const Folder folder;
    const IdxFiles from{folder.Write("images", IdxOf({5000, 2, 3}, 30000)),
                        folder.Write("labels", IdxOf({5000}, 5000))};
    for (const int asked : {1, 2, 4000}) {
      int calls = 0;
      CheckFails(
          [&] { ConvertIdxToDatabase(from, backend, folder / "db", [&] { return ++calls == asked; }); },
          {folder / "db", "stopped"});
      CHECK(calls == asked);
      const std::filesystem::directory_iterator left(std::filesystem::path(folder / "db").parent_path());
      CHECK(std::distance(begin(left), end(left)) == 2);  // what it reads
    }
    CHECK(ConvertIdxToDatabase(from, backend, folder / "db", [] { return false; }) == 5000);
  }
}

TEST_CASE("One to HDF5 that is told to stop leaves nothing, too") {
  if (!detail::HasHdf5()) SKIP("a build without HDF5");
  const Folder folder;
  const IdxFiles from{folder.Write("images", IdxOf({5, 2, 3}, 30)), folder.Write("labels", IdxOf({5}, 5))};
  for (const int asked : {1, 2}) {
    int calls = 0;
    CheckFails([&] { ConvertIdxToHdf5(from, folder / "x.h5", 1, [&] { return ++calls == asked; }); },
               {folder / "x.h5", "stopped"});
    CHECK(folder.Files() == std::vector<std::string>{"images", "labels"});
  }
  CHECK(ConvertIdxToHdf5(from, folder / "x.h5", 1, [] { return false; }) == 5);
}

TEST_CASE("A program that ends while it writes a database leaves none in its place") {
  for (const auto backend : Backends()) {
    const Folder folder;
    const IdxFiles from{folder.Write("images", IdxOf({5000, 2, 3}, 30000)),
                        folder.Write("labels", IdxOf({5000}, 5000))};
    const pid_t child = fork();
    if (child == 0) try {
        const ferry::testing::FullDisk full(0, true);
        ConvertIdxToDatabase(from, backend, folder / "db");
        _exit(0);
      } catch (...) {
        _exit(1);
      }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ));
    CHECK(!std::filesystem::exists(folder / "db"));
    CHECK(ConvertIdxToDatabase(from, backend, folder / "db/") == 5000);
  }
}

TEST_CASE("Of two threads that write one database, one does, and the other one leaves it alone") {
  for (const auto backend : Backends()) {
    const Folder folder;
    const IdxFiles from{folder.Write("images", IdxOf({5000, 2, 3}, 30000)),
                        folder.Write("labels", IdxOf({5000}, 5000))};
    std::atomic<int> written = 0, refused = 0;
    const auto convert = [&] {
      try {
        ConvertIdxToDatabase(from, backend, folder / "db");
        ++written;
      } catch (const NetError&) {
        ++refused;
      }
    };
    std::thread other(convert);
    convert();
    other.join();
    CHECK((written == 1 && refused == 1));
    CHECK(OpenDatabase(backend, folder / "db", detail::DatabaseMode::kRead)->NewCursor()->valid());
    CHECK(std::distance(std::filesystem::directory_iterator(folder / ""), {}) == 3);
  }
}

TEST_CASE("A database's name may be as long as that of any file") {
  const std::string name(255, 'd');
  for (const auto backend : Backends()) {
    const Folder folder;
    const IdxFiles from{folder.Write("images", IdxOf({2, 2, 3}, 12)), folder.Write("labels", IdxOf({2}, 2))};
    CHECK(ConvertIdxToDatabase(from, backend, folder / name) == 2);
    CHECK(OpenDatabase(backend, folder / name, detail::DatabaseMode::kRead)->NewCursor()->valid());
  }
}

TEST_CASE("Nothing is removed where a database cannot be made") {
  for (const auto backend : Backends()) {
    const Folder folder;
    const IdxFiles from{folder.Write("images", IdxOf({2, 2, 3}, 12)), folder.Write("labels", IdxOf({2}, 2))};
    const std::string loop = folder / "loop", nowhere = folder / "nowhere";
    std::filesystem::create_symlink(loop, loop);
    std::filesystem::create_symlink(folder / "none/at/all", nowhere);
    CheckFails([&] { ConvertIdxToDatabase(from, backend, loop); }, {loop, "symbolic links"});
    CheckFails([&] { ConvertIdxToDatabase(from, backend, nowhere); },
               {nowhere, "is a link to " + std::string(folder / "none/at/all") + ", which is not there"});
    CHECK(std::filesystem::is_symlink(loop));
    CHECK(std::filesystem::is_symlink(nowhere));
  }
}

TEST_CASE("A file becomes a datum as it is") {
  const Folder folder;
  Datum datum;
  CHECK(ReadFileToDatum(folder.Write("file", std::string("a\0b", 3)), 4, &datum));
  CHECK(datum.data() == std::string("a\0b", 3));
  CHECK(datum.encoded());
  CHECK(datum.label() == 4);
  CHECK(ReadFileToDatum(folder / "file", &datum));
  CHECK(datum.label() == -1);
  CheckFails([&] { ReadFileToDatum(folder / "none", &datum); }, {folder / "none"});
  CheckFails([&] { ReadFileToDatum(folder / ".", &datum); }, {"cannot be read"});
  CHECK_THROWS_AS(ReadFileToDatum(folder / "file", nullptr), std::invalid_argument);
  Datum plain = DatumOf(0, 1, 2, 2);
  CHECK(!DecodeDatum(&plain, true));
  CHECK(!DecodeDatumNative(&plain));
  CHECK(plain.data() == DatumOf(0, 1, 2, 2).data());
#ifndef FERRY_HAS_OPENCV
  CheckFails([&] { ReadImageToDatum(folder / "file", 0, &datum); }, {"FERRY_OPENCV=ON", "libopencv-dev"});
  CheckFails([&] { DecodeDatum(&datum, true); }, {"FERRY_OPENCV=ON", "libopencv-dev"});
#endif
}

}  // namespace
}  // namespace ferry::nets_test
