// SPDX-License-Identifier: BSD-2-Clause
// Where a process puts what its environment asks for: ledgers, traces and words at its end.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "run.hpp"
#include "tests/folder.hpp"

namespace ferry::testing {
namespace {

TEST_CASE("A process that was forked writes nothing into its parent's trace or ledger") {
  const Folder folder;
  const std::string trace = (folder / "t.json").string(), ledger = (folder / "l.json").string();
  const Outcome outcome = Run("FERRY_TRACE=" + trace + " FERRY_LEDGER=" + ledger, "fork");
  CHECK(outcome.status == 0);
  CHECK(outcome.output.empty());
  const std::string traced = Bytes(trace), table = Bytes(ledger);
  CHECK(Count(traced, R"("cat":"copy","name":"copy parents")") == 2);
  CHECK(Count(traced, "childs") == 0);
  CHECK(traced.ends_with("\n]\n"));
  CHECK(Count(table, "parents") > 0);
  CHECK(Count(table, "childs") == 0);
}

TEST_CASE("%p in the name of a trace's file, or a ledger's, stands for the process") {
  const Folder folder;
  const std::string files = "FERRY_TRACE=" + (folder / "t_%p_%p.json").string() + " FERRY_LEDGER=verify," +
                            (folder / "l_%p.txt").string();
  CHECK(Run(files, "fork").status == 0);
  CHECK(Run(files, "fork").status == 0);
  const auto names = folder.Files();
  REQUIRE(names.size() == 4);
  CHECK(names[0] != names[1]);
  for (const std::string& name : names) CHECK(name.find('%') == std::string::npos);
  const std::string process = names[0].substr(2, names[0].find('.') - 2);
  CHECK(std::filesystem::exists(folder / ("t_" + process + '_' + process + ".json")));
}

TEST_CASE("A Prefetch that nobody has read when the program ends was in vain") {
  const Outcome outcome = Run("FERRY_LEDGER=1", "prefetches");
  CHECK(outcome.status == 0);
  CHECK(outcome.Says("* \"unread\" copied to sim:0 by the Prefetch in Prefetches (child.cpp:"));
  CHECK(outcome.Says("once of 1, nobody read it there before"));
  CHECK_FALSE(outcome.Says("* \"read\""));
}

TEST_CASE("FERRY_LOG=info says at the program's end what is live on devices that live to the end") {
  const Outcome outcome = Run("FERRY_LOG=info", "leaks");
  CHECK(outcome.status == 0);
  CHECK(outcome.Says(
      "[info] the program ends before what memories have of sim:0:\n  \"leaked\": 65536 bytes, allocated "
      "by Leaks (child.cpp:"));
  CHECK_FALSE(outcome.Says("\"global\""));
  CHECK(Run("FERRY_LOG=info", "moves").output.empty());
  const Outcome other = Run("FERRY_LOG=info", "fails-to-make");
  CHECK(other.status == 0);
  CHECK(other.Says("what memories have of host:0:"));
  CHECK(Run("FERRY_LOG=warning", "leaks").output.empty());
}

TEST_CASE("A ledger whose reader has gone does not end its program") {
  const Folder folder;
  const std::string status = (folder / "status").string();
  const std::string command =
      "{ FERRY_LEDGER=1 " FERRY_PROCESS_CHILD " fork 2>&1; echo $? >" + status + "; } | :";
  REQUIRE(std::system(command.c_str()) == 0);
  CHECK(Bytes(status) == "0\n");
}

TEST_CASE("A ledger in the file that the program prints to stands behind what is there") {
  struct Case {
    const char *ledger, *redirected;
    bool there;  ///< the ledger is in the file that is redirected to
  };
  const auto of = GENERATE(from_range(std::vector<Case>{{"/dev/stdout", "> log.txt 2> /dev/null", true},
                                                        {"/dev/stderr", "2> log.txt > /dev/null", true},
                                                        {"log.txt", "> log.txt 2>&1", true},
                                                        {"log.txt", ">> log.txt 2> /dev/null", true},
                                                        {"other.txt", "> log.txt 2>&1", false}}));
  INFO(of.ledger << ' ' << of.redirected);
  const Folder folder;
  const std::string log = (folder / "log.txt").string(), other = (folder / "other.txt").string();
  std::string command = "cd " + (folder / "").string() + " && { echo before; echo before >&2; FERRY_LEDGER=";
  command.append(of.ledger).append(" " FERRY_PROCESS_CHILD " moves; } ").append(of.redirected);
  REQUIRE(std::system(command.c_str()) == 0);
  CHECK(Bytes(log).starts_with("before\n"));
  CHECK(Count(Bytes(log), "the host to sim:0") == (of.there ? 1 : 0));
  CHECK(Count(Bytes(other), "the host to sim:0") == (of.there ? 0 : 1));
}

TEST_CASE("A trace leaves the file alone that the program prints to, and a warning says so") {
  const Folder folder;
  const std::string log = (folder / "log.txt").string();
  const std::string command =
      "{ echo before; FERRY_TRACE=/dev/stdout " FERRY_PROCESS_CHILD " moves; } > " + log + " 2>&1";
  REQUIRE(std::system(command.c_str()) == 0);
  CHECK(Bytes(log).starts_with("before\n"));
  CHECK(Count(Bytes(log),
              "FERRY_TRACE: Trace: the file /dev/stdout cannot be written: the program prints to it") == 1);
  CHECK(Count(Bytes(log), R"("ph":)") == 0);
}

enum class Kind : std::uint8_t { kPipe, kSocket };

/// What a command writes to its stdout, which is a pipe or a socket.
std::string WrittenTo(Kind kind, const std::string& command) {
  std::array<int, 2> ends{};
  REQUIRE((kind == Kind::kPipe ? pipe(ends.data()) : socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data())) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]), close(ends[1]);
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  std::string written;
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = read(ends[0], buffer.data(), buffer.size())) > 0;)
    written.append(buffer.data(), static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 1;
  CHECK((waitpid(child, &status, 0) == child && status == 0));
  return written;
}

TEST_CASE("A pipe or a socket that the program prints to gets no trace, and a ledger at its end") {
  const Kind kind = GENERATE(Kind::kPipe, Kind::kSocket);
  const std::string moves = " " FERRY_PROCESS_CHILD " moves ";
  const std::string refused = " cannot be written: the program prints to it";
  const std::string of_stdout = WrittenTo(kind, "FERRY_TRACE=/dev/stdout" + moves + "2>&1");
  CHECK(Count(of_stdout, "the file /dev/stdout" + refused) == 1);
  const std::string of_stderr = WrittenTo(kind, "FERRY_TRACE=/dev/stderr" + moves + "2>&1 >/dev/null");
  CHECK(Count(of_stderr, "the file /dev/stderr" + refused) == 1);
  const std::string both = WrittenTo(kind, "FERRY_LEDGER=/dev/stdout FERRY_TRACE=/dev/fd/1" + moves + "2>&1");
  CHECK(Count(both, "FERRY_TRACE: the file /dev/fd/1 is that of FERRY_LEDGER, too") == 1);
  CHECK(Count(both, "the host to sim:0") == 1);
  for (const std::string& written : {of_stdout, of_stderr, both}) CHECK(Count(written, R"("ph":)") == 0);
}

TEST_CASE("A named pipe that is to have both trace and ledger has the ledger, and a warning says so") {
  const Folder folder;
  const std::string fifo = (folder / "fifo").string(), read = (folder / "read").string();
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  const std::string kept_open = "cat " + fifo + " > " + read + " & exec 3> " + fifo + "; ";
  const std::string command = kept_open + "FERRY_LEDGER=" + fifo + " FERRY_TRACE=" + fifo +
                              " timeout 60 " FERRY_PROCESS_CHILD " moves 2>&1; exec 3>&-; wait";
  CHECK(Count(WrittenTo(Kind::kPipe, command), "is that of FERRY_LEDGER, too") == 1);
  CHECK(Count(Bytes(read), "the host to sim:0") == 1);
  CHECK(Count(Bytes(read), R"("ph":)") == 0);
}

TEST_CASE("A ledger stands behind wide characters that wait to be printed, too") {
  const Folder folder;
  const std::string log = (folder / "log.txt").string();
  const std::string command = "FERRY_LEDGER=" + log + " " FERRY_PROCESS_CHILD " prints-wide > " + log;
  REQUIRE(std::system(command.c_str()) == 0);
  CHECK(Bytes(log).starts_with("before\n"));
  CHECK(Count(Bytes(log), "the host to sim:0") == 1);
}

TEST_CASE("A ledger's file is emptied, though the program has neither stdout nor stderr") {
  const Folder folder;
  const std::string file = (folder / "l.json").string();
  const std::string old(100'000, '#');
  std::ofstream(file) << old;
  const std::string command = "FERRY_LEDGER=" + file + " " FERRY_PROCESS_CHILD " moves >&- 2>&-";
  REQUIRE(std::system(command.c_str()) == 0);
  CHECK(Count(Bytes(file), "##") == 0);
  CHECK(Bytes(file).ends_with("}\n"));
}

TEST_CASE(
    "Of programs that are asked for one trace at once, the first writes it, and the others say why not") {
  const Folder folder;
  const std::string trace = (folder / "t.json").string();
  const Outcome outcome = Run("FERRY_TRACE=" + trace, "runs-itself");
  CHECK(outcome.status == 0);
  CHECK(outcome.Says("FERRY_TRACE: Trace: the file " + trace +
                     " cannot be written: it is being written by "
                     "another one; in the variables, %p stands for the process"));
  const std::string traced = Bytes(trace);
  CHECK(Count(traced, R"("cat":"copy","name":"copy parents")") == 2);
  CHECK(Count(traced, "\"copy x\"") == 0);
  CHECK(traced.ends_with("\n]\n"));
}

TEST_CASE("A ledger's file is where it was asked for, though the program goes to another folder") {
  const Folder folder;
  const std::string here = "-C " + (folder / "").string();
  CHECK(Run(here + " FERRY_LEDGER=0,none.json", "moves").output.empty());
  CHECK_FALSE(std::filesystem::exists(folder / "none.json"));
  CHECK_FALSE(std::filesystem::exists(folder / "0,none.json"));
  CHECK(Run(here + " FERRY_LEDGER=l.json", "moves").output.empty());
  CHECK(Run(here + " FERRY_LEDGER=1,l.txt", "moves").output.empty());
  CHECK(Run(here + " FERRY_LEDGER=verify,v.txt", "moves").output.empty());
  for (const char* const turned : {"turned.json,verify", "turned.json,0"}) {
    const Outcome outcome = Run(here + " FERRY_LEDGER=" + turned, "moves");
    CHECK(outcome.Says(std::string("FERRY_LEDGER=") + turned + " is neither 0, 1, verify nor a file"));
    CHECK(!std::filesystem::exists(folder / turned));
  }
  CHECK(Run(here + " FERRY_LEDGER=1,with,comma.txt", "moves").output.empty());
  CHECK(std::filesystem::exists(folder / "with,comma.txt"));
  CHECK(folder.Files().size() == 4);
  for (const char* const name : {"l.json", "l.txt", "v.txt"})
    CHECK(Count(Bytes((folder / name).string()), "the host to sim:0") == (name[2] == 't' ? 1 : 0));
  CHECK(Count(Bytes((folder / "l.json").string()), R"("kind": "copy")") == 1);
}

TEST_CASE("A file that is to have both trace and ledger has the ledger, and a warning says so") {
  const Folder folder;
  const std::string file = (folder / "both.json").string(), link = (folder / "link.json").string();
  std::filesystem::create_symlink(file, link);
  const Outcome outcome = Run("FERRY_LEDGER=" + file + " FERRY_TRACE=" + link, "moves");
  CHECK(outcome.status == 0);
  CHECK(outcome.Says("FERRY_TRACE: the file " + link + " is that of FERRY_LEDGER, too"));
  CHECK(Count(Bytes(file), R"("kind": "copy")") == 1);
  CHECK(Run("FERRY_LEDGER=" + file + " FERRY_TRACE=" + (folder / "trace.json").string(), "moves")
            .output.empty());
  CHECK(Run("FERRY_LEDGER=/dev/null FERRY_TRACE=/dev/null", "moves").output.empty());
  const std::string numbered = (folder / "both.%p.json").string();
  CHECK(Run("FERRY_LEDGER=" + numbered + " FERRY_TRACE=" + numbered, "moves")
            .Says("is that of FERRY_LEDGER, too"));
}

TEST_CASE("A word that is neither a value nor a file's name is a warning, and no file") {
  const Folder folder;
  for (const char* const value : {"FERRY_LEDGER=on", "FERRY_LEDGER=verfy", "FERRY_LEDGER=verify,on",
                                  "FERRY_LEDGER=1on", "FERRY_TRACE=on"}) {
    const Outcome outcome = Run("-C " + (folder / "").string() + " " + value, "moves");
    CHECK(outcome.status == 0);
    CHECK(outcome.Says("[warning] " + std::string(value)));
    CHECK(Count(outcome.output, "\n") == 1);
  }
  CHECK(folder.Files().empty());
}

TEST_CASE("A log's sink may end the program that is warned of its trace") {
  if (!std::filesystem::exists("/dev/full")) SKIP("there is no /dev/full");
  const Outcome outcome = Run("timeout 60 env FERRY_TRACE=/dev/full", "end-at-warning");
  CHECK(outcome.status == 7);
  CHECK(outcome.Says("/dev/full cannot be written"));
}

TEST_CASE("Without a stderr, what is said there changes no byte of a device, and no trace") {
  const Folder folder;
  const std::string trace = (folder / "t.json").string();
  CHECK(Run("FERRY_DEVICE=sim FERRY_GUARD=" + std::string(GENERATE("0", "1")), "speaks 2>&-").status == 0);
  CHECK(Run("FERRY_DEVICE=host FERRY_LOG=trace FERRY_TRACE=" + trace, "speaks 2>&-").status == 0);
  CHECK(Bytes(trace).starts_with("["));
  CHECK(Count(Bytes(trace), "[ferry]") == 0);
}

TEST_CASE("Why a ledger's file cannot be written is said at once") {
  CHECK(Run("FERRY_LEDGER=/", "moves").Says("the file / cannot be written: Is a directory; say 1"));
  CHECK(
      Run("FERRY_LEDGER=/no/l.txt", "moves").Says("/no/l.txt cannot be written: No such file or directory"));
}

TEST_CASE("A program that closes all files, and opens its own, finds in them what it wrote") {
  const Folder folder;
  const std::string trace = (folder / "t.json").string();
  CHECK(Run("FERRY_GUARD=" + std::string(GENERATE("0", "1")), "closes-files").status == 0);
  const Outcome traced = Run("FERRY_TRACE=" + trace, "closes-files");
  CHECK(traced.status == 0);
  CHECK(traced.Says("the file " + trace + " cannot be written: Bad file descriptor"));
}

TEST_CASE("The simulated GPU runs in a program that locks its memory") {
  const Outcome locked = Run("", "locks-memory");
  CHECK((locked.status == 0 || locked.Says("a limit (ulimit -v, -l, -f or -n) denies")));
}

TEST_CASE("A limit of the size of files ends no program, and is named where it denies what is needed") {
  const Outcome none = Run(R"(FERRY_DEVICE=sim sh -c 'ulimit -f 1000; exec "$0" "$@"')", "device");
  CHECK(none.status == 3);
  CHECK(none.Says("ulimit -v, -l, -f or -n"));
  const Outcome unguarded = Run("", "limits-files");
  CHECK(unguarded.status == 0);
  CHECK(unguarded.Says("FERRY_GUARD: no memory is guarded from now on"));
  CHECK(unguarded.Says("a limit (ulimit -f) denies it"));
}

}  // namespace
}  // namespace ferry::testing
