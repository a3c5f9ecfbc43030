// SPDX-License-Identifier: BSD-2-Clause
// What only a whole process can show: its end, and its environment.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <string>

#include "run.hpp"
#include "tests/folder.hpp"

namespace ferry::testing {
namespace {

TEST_CASE("A process that was forked does not tell of what its parent has live at the end") {
  const Outcome outcome = Run("FERRY_LOG=info", "fork");
  CHECK(outcome.status == 0);
  CHECK(!outcome.Says("the program ends before"));
}

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

}  // namespace
}  // namespace ferry::testing
