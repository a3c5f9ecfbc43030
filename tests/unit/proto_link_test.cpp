// SPDX-License-Identifier: BSD-2-Clause
// Which file a path means, and whether it may be written.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <filesystem>
#include <string>

#include "core/proto/file.hpp"
#include "ferry/error.hpp"
#include "tests/unit/proto_world.hpp"

namespace ferry::testing {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Message;

/// What the system keeps from root it keeps from nobody: for a while, root is a user like any other.
class CommonUser {
 public:
  CommonUser() {
    if (::geteuid() == 0 && ::seteuid(65534) != 0) SKIP("root here cannot be another user");
  }
  ~CommonUser() {
    if (::getuid() == 0) static_cast<void>(!::seteuid(0));
  }
  CommonUser(const CommonUser&) = delete;
  CommonUser& operator=(const CommonUser&) = delete;
};

TEST_CASE("a link to a file that is not there yet stays, and the file is made") {
  const Folder folder;
  fs::create_symlink("blob", folder / "link");
  WriteBlobProto(folder / "link", Proto(5));
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(ReadBlobProto(folder / "blob").data_size() == 5);
  CHECK(folder.Files().size() == 2);
}

TEST_CASE("every link of a chain stays, whether the file at its end is there or not") {
  const Folder folder;
  fs::create_directory(folder / "there");
  fs::create_symlink("there/middle", folder / "first");
  fs::create_symlink("../last", folder / "there/middle");
  fs::create_symlink(folder / "blob", folder / "last");
  for (const int elements : {1, 2}) {
    WriteBlobProto(folder / "first", Proto(elements));
    for (const char* link : {"first", "there/middle", "last"}) CHECK(fs::is_symlink(folder / link));
    CHECK_FALSE(fs::is_symlink(folder / "blob"));
    CHECK(ReadBlobProto(folder / "blob").data_size() == elements);
  }
}

TEST_CASE("links that lead to each other are an error, and stay") {
  const Folder folder;
  fs::create_symlink("b", folder / "a");
  fs::create_symlink("a", folder / "b");
  CHECK_THROWS_MATCHES(WriteBlobProto(folder / "a", Proto(1)), Error,
                       Message("WriteBlobProto: " + (folder / "a").string() +
                               ": cannot write: Too many levels of symbolic links"));
  CHECK(fs::is_symlink(folder / "a"));
  CHECK(folder.Files().size() == 2);
}

TEST_CASE("as many links are followed as by the system") {
  const Folder folder;
  const auto link = [](int number) { return "link" + std::to_string(number); };
  constexpr int kMost = 40;
  fs::create_symlink("blob", folder / link(1));
  for (int i = 2; i <= kMost + 1; ++i) fs::create_symlink(link(i - 1), folder / link(i));
  WriteBlobProto(folder / link(kMost), Proto(5));
  CHECK(ReadBlobProto(folder / link(kMost)).data_size() == 5);
  CHECK_THROWS_AS(ReadBlobProto(folder / link(kMost + 1)), Error);
  CHECK_THROWS_AS(WriteBlobProto(folder / link(kMost + 1), Proto(6)), Error);
  CHECK(ReadBlobProto(folder / "blob").data_size() == 5);
}

TEST_CASE("a new file has the permissions that the program gives to new files") {
  const Folder folder;
  for (const mode_t kept : {0000U, 0027U}) {
    const mode_t before = ::umask(kept);
    WriteBlobProto(folder / "blob", Proto(1));
    ::umask(before);
    CHECK(fs::status(folder / "blob").permissions() == static_cast<fs::perms>(0666U & ~kept));
    fs::remove(folder / "blob");
  }
}

TEST_CASE("a path that no file can have is refused before anything is written") {
  const Folder folder;
  CHECK_THROWS_MATCHES(detail::NewFile(folder / std::string(300, 'x'), "here"), Error,
                       Message("here: cannot create: File name too long"));
}

TEST_CASE("a file that may not be written is not replaced") {
  const Folder folder;
  WriteBlobProto(folder / "blob", Proto(1));
  fs::permissions(folder / "blob", fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
  fs::permissions(folder / "", fs::perms::all);
  {
    const CommonUser user;
    CHECK_THROWS_MATCHES(
        WriteBlobProto(folder / "blob", Proto(2)), Error,
        Message("WriteBlobProto: " + (folder / "blob").string() + ": cannot write: Permission denied"));
  }
  CHECK(ReadBlobProto(folder / "blob").data_size() == 1);
  CHECK(folder.Files().size() == 1);
}

TEST_CASE("an empty path is an error that says so") {
  CHECK_THROWS_MATCHES(WriteBlobProto("", Proto(1)), Error,
                       Message("WriteBlobProto: the path is empty; give the path of a file"));
  CHECK_THROWS_MATCHES(ReadBlobProto(std::filesystem::path()), Error,
                       Message("ReadBlobProto: the path is empty; give the path of a file"));
}

}  // namespace
}  // namespace ferry::testing
