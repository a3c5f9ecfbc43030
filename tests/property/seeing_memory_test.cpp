// SPDX-License-Identifier: BSD-2-Clause
// A trace of a program whose host memory runs out, at each allocation in turn.
#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "ferry/ferry.hpp"
#include "tests/folder.hpp"
#include "tests/property/host_memory.hpp"
#include "tools/report/trace.hpp"

namespace ferry::testing {
namespace {

TEST_CASE("Wherever host memory runs out, a trace is read as far as it goes") {
  const LogLevel before = log_level();
  SetLogLevel(LogLevel::kOff);  // the trace is detached
  const Folder folder;
  const std::string file = (folder / "t.json").string();
  ForEachFailedAllocation([&](const auto& call) {
    sim::Reset({.order = sim::Order::kLate});
    const std::unique_ptr<Device> device = MakeShielded(false);
    const Stream stream(*device);
    {
      std::optional<Trace> trace(file);
      SyncedMemory memory(64, *device, "x"), early(64, *device, "early");
      early.mutable_cpu_data();
      call([&] {
        memory.mutable_cpu_data();
        memory.gpu_data(stream);
        memory.mutable_gpu_data();
        memory.cpu_data();
        trace.reset();
      });
    }
    std::ifstream in(file);
    CHECK_NOTHROW(report::ReadTrace(in));
    std::ifstream text(file);  // what was whole before is kept
    CHECK(std::string(std::istreambuf_iterator<char>(text), {}).find("early") != std::string::npos);
  });
  SetLogLevel(before);
}

}  // namespace
}  // namespace ferry::testing
