// SPDX-License-Identifier: BSD-2-Clause
// The file of a trace, and the lack of one.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/full_disk.hpp"
#include "tests/log_lines.hpp"
#include "tests/unit/ledger_fixture.hpp"
#include "tests/unit/trace_fixture.hpp"
#include "tools/report/trace.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("Labels are any bytes, and the trace is JSON all the same") {
  TraceFixture f;
  SyncedMemory memory(4, *f.device, "a \"b\"\\\n</script>\xC3\xA9\xFF\xC0\x80");
  memory.mutable_cpu_data();
  memory.gpu_data();
  const auto copies = Only(f.Events(), "X", "copy");
  REQUIRE(copies.size() == 1);
  CHECK(ArgsOf(copies[0]).Text("label") ==
        "a \"b\"\\\n</script>\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST_CASE("A forked process leaves the trace to its parent") {
  TraceFixture f;
  Blob<float> blob({100}, *f.device);
  blob.set_name("parent's");
  WriteIt(blob), ReadItThere(blob);
  const pid_t child = fork();
  if (child == 0) {
    blob.set_name("child's");
    for (int i = 0; i < 1000; ++i) WriteIt(blob), ReadItThere(blob);
    f.trace.reset();
    _exit(0);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  WriteIt(blob), ReadItThere(blob);
  const auto copies = Only(f.Events(), "X", "copy");
  CHECK(copies.size() == 2);
  for (const Json& copy : copies) CHECK(ArgsOf(copy).Text("label") == "parent's");
}

TEST_CASE("A trace is written on the way, so that what is there can be read though its end is missing") {
  TraceFixture f;
  SyncedMemory memory(4, *f.device, "x");
  for (int i = 0; i < 300; ++i) memory.mutable_cpu_data(), memory.gpu_data();
  std::ifstream in(f.file, std::ios::binary);
  report::ArrayReader reader(in);
  std::size_t events = 0;
  const auto read_all = [&] {
    while (reader.Next()) ++events;
  };
  CHECK_THROWS_AS(read_all(), report::Truncated);
  CHECK(events > 200);
}

TEST_CASE("A trace that can't be begun is an error that names the file and says why") {
  const Folder folder;
  try {
    const Trace trace((folder / "none/t.json").string());
    FAIL("wrote to no folder");
  } catch (const Error& error) {
    CHECK_THAT(error.what(), ContainsSubstring("none/t.json") && ContainsSubstring("No such file"));
  }
  CHECK_THROWS_AS(Trace((folder / "").string()), Error);
}

TEST_CASE("A disk that gets full is one warning, and the program goes on") {
  if (!std::filesystem::exists("/dev/full")) SKIP("there is no /dev/full");
  sim::Reset({.seed = 1});
  const LogLines warnings;
  const auto device = MakeDevice("sim:0");
  {
    const Trace trace("/dev/full");
    Blob<float> blob({100}, *device);
    for (int i = 0; i < 500; ++i) {
      blob.mutable_cpu_data()[7] += 1;
      ReadItThere(blob);
    }
    CHECK(blob.cpu_data()[7] == 500);
  }
  REQUIRE(warnings.lines().size() == 1);
  CHECK_THAT(warnings.lines()[0], ContainsSubstring("/dev/full") && ContainsSubstring("No space left"));
}

TEST_CASE("Where the disk gets full in the middle, what has been written can be read") {
  TraceFixture f;
  const LogLines warnings;
  Blob<float> blob({100}, *f.device);
  {
    const FullDisk full(150'000);
    for (int i = 0; i < 1000; ++i) WriteIt(blob), ReadItThere(blob);
    f.trace.reset();
  }
  REQUIRE(warnings.lines().size() == 1);
  CHECK_THAT(warnings.lines()[0], ContainsSubstring(f.file + " cannot be written: File too large"));
  CHECK(std::filesystem::file_size(f.file) == 150'000);
  std::ifstream in(f.file, std::ios::binary);
  const report::Trace read = report::ReadTrace(in);
  CHECK(read.truncated);
  CHECK(read.pairs.size() == 1);
}

TEST_CASE(
    "A limit of a file's size, and a pipe that nobody reads any more, end the trace and not the program") {
  sim::Reset({.seed = 1});
  const auto device = MakeDevice("sim:0");
  const Folder folder;
  const std::string file = (folder / "t.json").string(), fifo = (folder / "fifo").string();
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  const int reader = open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
  const LogLines warnings;
  {
    const Trace limited(file), read(fifo);
    Blob<float> blob({100}, *device);
    WriteIt(blob), ReadItThere(blob);
    close(reader);
    const FullDisk full(100'000, true);
    for (int i = 0; i < 1000; ++i) WriteIt(blob), ReadItThere(blob);
  }
  REQUIRE(warnings.lines().size() == 2);
  CHECK(warnings.Has(file + " cannot be written: File too large"));
  CHECK(warnings.Has(fifo + " cannot be written: Broken pipe"));
}

TEST_CASE("A named pipe gets all of a trace or a ledger, and one that nobody reads is an error at once") {
  LedgerFixture f;
  const Folder folder;
  const std::string fifo = (folder / "fifo").string();
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  const auto refusal = ContainsSubstring(fifo + " cannot be written: No such device");
  CHECK_THROWS_WITH(Trace(fifo), refusal);
  Ledger ledger;
  for (int i = 0; i < 300; ++i) SyncedMemory(4, *f.device, "x" + std::to_string(i)).mutable_cpu_data();
  CHECK_THROWS_WITH(ledger.Write(fifo), refusal);
  const std::string all = ledger.Table(Ledger::kAllRows);
  CHECK(all.size() > 65'536);  // more than a pipe takes before somebody reads
  std::string read;
  std::thread reader([&] {
    std::ifstream in(fifo);
    read.assign(std::istreambuf_iterator<char>(in), {});
  });
  for (bool written = false; !written;) try {  // once it is there
      ledger.Write(fifo);
      written = true;
    } catch (const Error&) {
      std::this_thread::yield();
    }
  reader.join();
  CHECK(read == all);
}

/// The descriptor of an open file.
int Descriptor(const std::string& path) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code closed;  // as the iterator's own is by now, or may be
    if (std::filesystem::read_symlink(entry.path(), closed) == path)
      return std::stoi(entry.path().filename());
  }
  return -1;
}

TEST_CASE("A program that closes a trace's file, and opens the same one itself, has it for itself") {
  TraceFixture f;
  const LogLines warnings;
  SyncedMemory memory(4, *f.device, "x");
  const int traced = Descriptor(f.file);
  REQUIRE(traced >= 0);
  const int own = open(f.file.c_str(), O_RDWR | O_TRUNC | GENERATE(0, O_APPEND));
  REQUIRE(dup2(own, traced) == traced);
  close(own);
  REQUIRE(write(traced, "own", 3) == 3);
  for (int i = 0; i < 1000; ++i) memory.mutable_cpu_data(), memory.gpu_data();
  f.trace.reset();
  REQUIRE(warnings.lines().size() == 1);
  CHECK_THAT(warnings.lines()[0], ContainsSubstring(f.file + " cannot be written: Bad file descriptor"));
  std::ifstream in(f.file);
  CHECK(std::string(std::istreambuf_iterator<char>(in), {}) == "own");
  close(traced);
}

TEST_CASE("A file has one trace at a time, and whoever was forked meanwhile does not keep it") {
  const Folder folder;
  const std::string file = (folder / "t.json").string();
  std::optional<Trace> first(file);
  CHECK_THROWS_WITH(Trace(file), ContainsSubstring(file) && ContainsSubstring("is being written"));
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  first.reset();
  CHECK_NOTHROW(Trace(file));
  kill(child, SIGKILL);
  CHECK(waitpid(child, nullptr, 0) == child);
  const Trace nowhere("/dev/null"), nowhere_too("/dev/null");  // no regular file
}

}  // namespace
}  // namespace ferry::testing
