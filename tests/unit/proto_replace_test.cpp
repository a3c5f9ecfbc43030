// SPDX-License-Identifier: BSD-2-Clause
// How a new file takes the place of an old one, and what is left where it does not.
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <future>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/proto/file.hpp"
#include "ferry/error.hpp"
#include "ferry/proto.hpp"
#include "tests/full_disk.hpp"
#include "tests/unit/proto_world.hpp"

namespace {

constexpr int kAll = std::numeric_limits<int>::max();
int good_syncs = kAll;  // those before the disk fails
bool has_proc = true;
int killed_by = 0;  // when all is written, and not in its place
bool killed_at_rename = false;
nlink_t names = 0;  // of the file that was synchronized
int synchronized = -1;

}  // namespace

/// In place of the system's: a disk that fails at last, or not.
extern "C" int fsync(int file) {
  if (killed_by != 0) ::raise(killed_by);
  struct stat status {};
  names = ::fstat(file, &status) == 0 ? status.st_nlink : 0;
  synchronized = file;
  errno = EIO;
  return good_syncs-- > 0 ? 0 : -1;
}
/// In place of the system's: there is a /proc, or not.
extern "C" int access(const char* path, int mode) noexcept {
  if (has_proc || !std::string_view(path).starts_with("/proc/")) return ::faccessat(AT_FDCWD, path, mode, 0);
  errno = ENOENT;
  return -1;
}

/// In place of the system's: some are killed here.
extern "C" int rename(const char* from, const char* to) noexcept {
  if (killed_at_rename) ::raise(SIGKILL);
  return ::renameat(AT_FDCWD, from, AT_FDCWD, to);
}

namespace ferry::testing {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;
using Catch::Matchers::MessageMatches;
using Names = std::vector<std::string>;

/// Whether files in this folder may have no name.
bool MayBeUnnamed(const Folder& folder) {
#ifdef O_TMPFILE
  return detail::OpenFile(::open((folder / "").c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600)).get() >= 0;
#else
  return static_cast<void>(folder), false;
#endif
}

TEST_CASE("a file is replaced, and keeps its permissions and the links to it") {
  const Folder folder;
  WriteBlobProto(folder / "blob", Proto(1));
  fs::permissions(folder / "blob", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(folder / "blob", folder / "link");
  WriteBlobProto(folder / "link", Proto(5));
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(ReadBlobProto(folder / "blob").data_size() == 5);
  CHECK(fs::status(folder / "blob").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(folder.Files().size() == 2);
}

TEST_CASE("on a full disk the old file stays, and no other is left") {
  const Folder folder;
  WriteBlobProto(folder / "blob", Proto(3));
  {
    const FullDisk disk(100000, true);
    CHECK_THROWS_MATCHES(
        WriteBlobProto(folder / "blob", Proto(100000)), Error,
        Message("WriteBlobProto: " + (folder / "blob").string() + ": cannot write: File too large"));
    CHECK_THROWS_AS(WriteBlobProto(folder / "new", Proto(100000)), Error);
  }
  {
    const FullDisk disk(5);  // room for a part of what is written at last
    CHECK_THROWS_AS(WriteBlobProto(folder / "blob", Proto(4)), Error);
  }
  CHECK(ReadBlobProto(folder / "blob").data_size() == 3);
  CHECK(folder.Files().size() == 1);
  WriteBlobProto(folder / "blob", Proto(100000));
  CHECK(ReadBlobProto(folder / "blob").data_size() == 100000);
}

TEST_CASE("where the disk fails at last the old file stays, and no other is left") {
  const Folder folder;
  WriteBlobProto(folder / "blob", Proto(3));
  good_syncs = 0;
  CHECK_THROWS_MATCHES(
      WriteBlobProto(folder / "blob", Proto(4)), Error,
      Message("WriteBlobProto: " + (folder / "blob").string() + ": cannot write: Input/output error"));
  good_syncs = kAll;
  CHECK(ReadBlobProto(folder / "blob").data_size() == 3);
  CHECK(folder.Files().size() == 1);
}

TEST_CASE("without a stderr, what is said there gets into no file") {
  const Folder folder;
  for (const bool proc : {true, false}) {
    const pid_t child = fork();
    if (child == 0) {
      has_proc = proc;
      close(STDERR_FILENO);
      WriteBlobProto(folder / "blob", Proto(3));
      _exit(synchronized > STDERR_FILENO ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
}

TEST_CASE("a process that is killed while it writes a file leaves the old one, and no other") {
  for (const int signal : {SIGTERM, SIGKILL}) {
    const Folder folder;
    if (!MayBeUnnamed(folder)) SKIP("files have a name here from the first");
    WriteBlobProto(folder / "blob", Proto(3));
    for (const fs::path& file : {folder / "blob", folder / "new", fs::path("new")}) {
      const pid_t child = fork();
      if (child == 0) {
        fs::current_path(folder / "");
        std::signal(SIGTERM, SIG_DFL);  // not Catch's
        killed_by = signal;
        WriteBlobProto(file, Proto(100000));
        _exit(0);
      }
      int status = 0;
      REQUIRE(waitpid(child, &status, 0) == child);
      CHECK(WIFSIGNALED(status));
      CHECK(WTERMSIG(status) == signal);
      CHECK(folder.Files() == Names{"blob"});
      CHECK(ReadBlobProto(folder / "blob").data_size() == 3);
    }
  }
}

TEST_CASE(
    "one that is killed as files take the places of old ones leaves one more at most, and of new ones none") {
  const Folder folder;
  if (!MayBeUnnamed(folder)) SKIP("files have a name here from the first");
  for (const bool replaces : {false, true}) {
    const pid_t child = fork();
    if (child == 0) {
      detail::NewFile first(folder / "first", "first"), second(folder / "second", "second");
      killed_at_rename = true;
      detail::NewFile::CommitAll({&first, &second});
      _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) == replaces);
    CHECK(folder.Files().size() == (replaces ? 3 : 2));
  }
}

TEST_CASE("a thread with descriptors of its own writes its own file") {
  const Folder folder;
  WriteBlobProto(folder / "other", Proto(7));
  std::promise<bool> ready;
  std::promise<void> opened;
  std::thread thread([&] {
    const bool own = ::unshare(CLONE_FILES) == 0;
    ready.set_value(own);
    opened.get_future().wait();
    if (own) WriteBlobProto(folder / "blob", Proto(3));
  });
  const bool own = ready.get_future().get();
  const detail::OpenFile other(
      ::open((folder / "other").c_str(), O_RDONLY | O_CLOEXEC));  // of the same number
  opened.set_value();
  thread.join();
  if (!own) SKIP("descriptors cannot be a thread's own here");
  CHECK(ReadBlobProto(folder / "blob").data_size() == 3);
}

TEST_CASE("without /proc a file has a name from the first, and takes its place as with it") {
  const Folder folder;
  const nlink_t unnamed = MayBeUnnamed(folder) ? 0 : 1;
  for (const bool proc : {true, false}) {
    has_proc = proc;
    for (const int elements : {3, 5}) {
      WriteBlobProto(folder / "blob", Proto(elements));
      CHECK(names == (proc ? unnamed : 1));
      CHECK(ReadBlobProto(folder / "blob").data_size() == elements);
      CHECK(folder.Files() == Names{"blob"});
    }
    good_syncs = 0;
    CHECK_THROWS_AS(WriteBlobProto(folder / "blob", Proto(4)), Error);
    good_syncs = kAll;
    CHECK(folder.Files() == Names{"blob"});
    fs::remove(folder / "blob");
  }
  has_proc = true;
}

TEST_CASE("without /proc no descriptor stays open") {
  const Folder folder;
  const auto open = [] {
    const fs::directory_iterator descriptors("/dev/fd");
    return std::distance(begin(descriptors), end(descriptors));
  };
  const auto before = open();
  has_proc = false;
  for (int i = 0; i < 3; ++i) WriteBlobProto(folder / "blob", Proto(i + 1));
  has_proc = true;
  CHECK(open() == before);
}

TEST_CASE("a file beside another one never takes the name of a third") {
  const Folder folder;
  WriteBlobProto(folder / "blob", Proto(1));
  constexpr int kThere = 2000;  // more than this process has made
  const auto name = [](int number) {
    return ".ferry-" + std::to_string(::getpid()) + "-" + std::to_string(number);
  };
  for (int i = 1; i <= kThere; ++i) Put(folder / name(i), "other");
  has_proc = GENERATE(false, true);
  WriteBlobProto(folder / "blob", Proto(2));
  has_proc = true;
  CHECK(ReadBlobProto(folder / "blob").data_size() == 2);
  CHECK(folder.Files().size() == kThere + 1);
  for (int i = 1; i <= kThere; ++i)
    if (Bytes(folder / name(i)) != "other") FAIL_CHECK(name(i));
}

TEST_CASE("where a folder has come into a file's place, nothing is left of the file") {
  const Folder folder;
  {
    detail::NewFile file(folder / "blob", "here");
    file.Write("bytes");
    fs::create_directory(folder / "blob");
    CHECK_THROWS_MATCHES(file.Commit(), Error, Message("here: cannot rename into place: Is a directory"));
  }
  CHECK(folder.Files() == Names{"blob"});
  CHECK(fs::is_directory(folder / "blob"));
}

TEST_CASE("files that belong together are renamed one after the other once the disk has all of them") {
  const Folder folder;
  {
    detail::NewFile first(folder / "first", "first"), second(folder / "second", "second");
    good_syncs = 1;
    CHECK_THROWS_MATCHES(detail::NewFile::CommitAll({&first, &second}), Error,
                         Message("second: cannot write: Input/output error"));
    good_syncs = kAll;
  }
  CHECK(folder.Files().empty());
  detail::NewFile first(folder / "first", "first"), second(folder / "second", "second");
  fs::create_directory(folder / "second");
  CHECK_THROWS_MATCHES(detail::NewFile::CommitAll({&first, &second}), Error,
                       MessageMatches(ContainsSubstring("second: cannot rename into place: ")));
  CHECK(fs::is_regular_file(folder / "first"));
}

}  // namespace
}  // namespace ferry::testing
