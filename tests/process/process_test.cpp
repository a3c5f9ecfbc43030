// SPDX-License-Identifier: BSD-2-Clause
// What only a whole process can show: its end, and its environment.
#include <sys/wait.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/folder.hpp"

namespace {

struct Outcome {
  int status;          ///< what main returned; -1 where a signal ended it
  std::string output;  ///< both streams
  bool Says(const std::string& text) const { return output.find(text) != std::string::npos; }
};

/// Runs a scenario of child.cpp in an environment, "FERRY_LOG=info FERRY_DEVICE=sim" say.
Outcome Run(const std::string& environment, const std::string& scenario) {
  const std::string command = "{ env -u FERRY_DEVICE -u FERRY_LOG " + environment +
                              " " FERRY_PROCESS_CHILD " " + scenario + "; } 2>&1";
  FILE* const pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Outcome outcome{-1, ""};
  std::array<char, 4096> buffer{};
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe))
    outcome.output.append(buffer.data(), n);
  const int ended = pclose(pipe);
  if (WIFEXITED(ended)) outcome.status = WEXITSTATUS(ended);
  UNSCOPED_INFO(command << '\n' << outcome.output);
  return outcome;
}

std::string Bytes(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
std::size_t Count(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("A global memory with work in flight ends with the process, and may log") {
  const std::string device = GENERATE("host", "sim");
  const Outcome outcome = Run("FERRY_DEVICE=" + device, "global-memory");
  CHECK(outcome.status == 0);
  CHECK(outcome.Says("[ferry] [error] goodbye\n"));
  CHECK(outcome.output.find('\n') == outcome.output.size() - 1);
}

TEST_CASE("A global memory and stream that outlive their device say so, and the process ends well") {
  const std::string device = GENERATE("host", "sim");
  const Outcome outcome = Run("ASAN_OPTIONS=detect_leaks=0 FERRY_DEVICE=" + device,
                              "outlives-device");  // what was not given back
  CHECK(outcome.status == 0);
  CHECK(outcome.Says("[ferry] [warning] " + device +
                     ":0 ends before what memories have of it:\n  \"weights\": 65536 bytes, allocated by "
                     "QueueWork (child.cpp:"));
  CHECK(outcome.Says("[ferry] [error] the memory \"weights\" of 65536 bytes outlives its device " + device +
                     ":0: what it holds, allocated by QueueWork (child.cpp:"));
  CHECK(outcome.Says("[ferry] [error] goodbye\n"));
  const ferry::testing::Folder folder;
  const std::string trace = (folder / "t.json").string();
  CHECK(Run("ASAN_OPTIONS=detect_leaks=0 FERRY_TRACE=" + trace + " FERRY_DEVICE=" + device, "outlives-device")
            .status == 0);
  CHECK(Bytes(trace).ends_with("\n]\n"));
}

TEST_CASE("An exception in flight ends memories with work in flight") {
  const std::string device = GENERATE("host", "sim");
  const Outcome outcome = Run("FERRY_DEVICE=" + device, "unwinding");
  CHECK(outcome.status == 0);
  CHECK(outcome.output == "in flight\n2\n");
}

TEST_CASE("FERRY_DEVICE names the default device") {
  CHECK(Run("FERRY_DEVICE=sim", "device").output == "sim:0\n");
  CHECK(Run("FERRY_DEVICE=host:0", "device").output == "host:0\n");
}

TEST_CASE("A default device that is not there says what there is, and what to set") {
  for (const char* name : {"nonsense", "nonsense:0", "sim:1", "sim:x"}) {
    const Outcome outcome = Run(std::string("FERRY_DEVICE=") + name, "device");
    CHECK(outcome.status == 3);
    CHECK(outcome.Says('"' + std::string(name) + '"'));
    CHECK(outcome.Says("FERRY_DEVICE=host"));
  }
  CHECK(Run("FERRY_DEVICE=nonsense", "device").Says("host, sim"));
}

TEST_CASE("The default device is tried again after a failure, and then stays") {
  const Outcome outcome = Run("FERRY_DEVICE=nonsense", "second-try");
  CHECK(outcome.status == 0);
  CHECK(outcome.Says("host:0\nhost:0\n"));
}

TEST_CASE("FERRY_LOG sets what is logged, to stderr; warnings and errors if it is not set") {
  const std::pair<const char*, int> expected[] = {
      {"FERRY_LOG=trace", 5}, {"FERRY_LOG=debug", 4},   {"FERRY_LOG=info", 3},  {"", 2},
      {"FERRY_LOG=", 2},      {"FERRY_LOG=warning", 2}, {"FERRY_LOG=error", 1}, {"FERRY_LOG=off", 0}};
  const std::string lines[] = {"[error] an error\n", "[warning] a warning\n", "[info] an info\n",
                               "[debug] a debug\n", "[trace] a trace\n"};
  for (const auto& [environment, count] : expected) {
    const Outcome outcome = Run(environment, "log");
    CHECK(outcome.status == 0);
    for (int i = 0; i < 5; ++i) CHECK(outcome.Says(lines[i]) == (i < count));
  }
  CHECK(Run("FERRY_LOG=trace", "log 2>/dev/null").output.empty());
}

TEST_CASE("A FERRY_LOG that is no level is a warning") {
  const Outcome outcome = Run("FERRY_LOG=loud", "log");
  CHECK(outcome.Says("FERRY_LOG=loud is not a level: trace, debug, info, warning, error, off"));
  CHECK(outcome.Says("a warning"));
  CHECK_FALSE(outcome.Says("an info"));
}

TEST_CASE("FERRY_LOG is read by the first record, though nothing has been logged before") {
  const Outcome outcome = Run("FERRY_LOG=trace", "moves");
  CHECK(outcome.status == 0);
  CHECK(outcome.Says("\"x\": UNINITIALIZED, cpu read-write -> zero 65536 bytes, HEAD_AT_CPU, at "));
  CHECK(outcome.Says("\"x\": HEAD_AT_CPU, gpu read -> copy 65536 bytes, SYNCED, at "));
  CHECK(Run("FERRY_LOG=loud", "moves").Says("FERRY_LOG=loud is not a level"));
}

TEST_CASE("A host that is out of memory says so, and goes on when there is room") {
  const Outcome outcome = Run("FERRY_DEVICE=host", "out-of-memory");
  CHECK(outcome.status == 0);
  CHECK(outcome.output == "host: cannot allocate 2147483648 bytes\n");
}

TEST_CASE("A process that was forked writes nothing into its parent's trace or ledger") {
  const ferry::testing::Folder folder;
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
  const ferry::testing::Folder folder;
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
  CHECK(Run("FERRY_LOG=warning", "leaks").output.empty());
}

TEST_CASE("A ledger whose reader has gone does not end its program") {
  const ferry::testing::Folder folder;
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
  const ferry::testing::Folder folder;
  const std::string log = (folder / "log.txt").string(), other = (folder / "other.txt").string();
  std::string command = "cd " + (folder / "").string() + " && { echo before; echo before >&2; FERRY_LEDGER=";
  command.append(of.ledger).append(" " FERRY_PROCESS_CHILD " moves; } ").append(of.redirected);
  REQUIRE(std::system(command.c_str()) == 0);
  CHECK(Bytes(log).starts_with("before\n"));
  CHECK(Count(Bytes(log), "the host to sim:0") == (of.there ? 1 : 0));
  CHECK(Count(Bytes(other), "the host to sim:0") == (of.there ? 0 : 1));
}

TEST_CASE("A trace leaves the file alone that the program prints to, and a warning says so") {
  const ferry::testing::Folder folder;
  const std::string log = (folder / "log.txt").string();
  const std::string command =
      "{ echo before; FERRY_TRACE=/dev/stdout " FERRY_PROCESS_CHILD " moves; } > " + log + " 2>&1";
  REQUIRE(std::system(command.c_str()) == 0);
  CHECK(Bytes(log).starts_with("before\n"));
  CHECK(Count(Bytes(log),
              "FERRY_TRACE: Trace: the file /dev/stdout cannot be written: the program prints to it") == 1);
  CHECK(Count(Bytes(log), R"("ph":)") == 0);
}

TEST_CASE("A ledger stands behind wide characters that wait to be printed, too") {
  const ferry::testing::Folder folder;
  const std::string log = (folder / "log.txt").string();
  const std::string command = "FERRY_LEDGER=" + log + " " FERRY_PROCESS_CHILD " prints-wide > " + log;
  REQUIRE(std::system(command.c_str()) == 0);
  CHECK(Bytes(log).starts_with("before\n"));
  CHECK(Count(Bytes(log), "the host to sim:0") == 1);
}

TEST_CASE("A ledger's file is emptied, though the program has neither stdout nor stderr") {
  const ferry::testing::Folder folder;
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
  const ferry::testing::Folder folder;
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
  const ferry::testing::Folder folder;
  const std::string here = "-C " + (folder / "").string();
  CHECK(Run(here + " FERRY_LEDGER=l.json", "moves").output.empty());
  CHECK(Run(here + " FERRY_LEDGER=1,l.txt", "moves").output.empty());
  CHECK(Run(here + " FERRY_LEDGER=verify,v.txt", "moves").output.empty());
  CHECK(folder.Files().size() == 3);
  for (const char* const name : {"l.json", "l.txt", "v.txt"})
    CHECK(Count(Bytes((folder / name).string()), "the host to sim:0") == (name[2] == 't' ? 1 : 0));
  CHECK(Count(Bytes((folder / "l.json").string()), R"("kind": "copy")") == 1);
}

TEST_CASE("A file that is to have both trace and ledger has the ledger, and a warning says so") {
  const ferry::testing::Folder folder;
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
  const ferry::testing::Folder folder;
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
