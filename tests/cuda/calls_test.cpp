// SPDX-License-Identifier: BSD-2-Clause
// How many of CUDA's functions a transition calls, counted on the fake CUDA runtime: the table in
// docs/explanation/performance.md, and what the page says may not be exceeded.
#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "ferry/backend.hpp"
#include "ferry/sim.hpp"
#include "ferry/synced_memory.hpp"

namespace ferry::testing {
namespace {

constexpr std::size_t kBytes = 4096;

/// The calls of `transition`, once those before it have made the events and blocks that it uses again.
long CallsOf(const std::function<void()>& prepare, const std::function<void()>& transition) {
  long calls = 0;
  for (int i = 0; i < 3; ++i) {
    prepare();
    const long before = sim::Inspect().runtime_calls;
    transition();
    calls = sim::Inspect().runtime_calls - before;
  }
  return calls;
}

struct Row {
  std::string transition;
  long calls, most;
};

std::vector<Row> Rows() {
  const auto first = MakeDevice("cuda:0"), second = MakeDevice("cuda:1");
  SyncedMemory memory(kBytes, *first), far(kBytes, *second);
  const Stream a(*first), b(*first), c(*first);
  // The program uses the first GPU, which is current.
  memory.mutable_gpu_data();
  return {
      {"GPU read of bytes that the host has written",
       CallsOf([&] { memory.mutable_cpu_data(); }, [&] { memory.gpu_data(); }), 4},
      {"host read of bytes that the GPU has written",
       CallsOf([&] { memory.mutable_gpu_data(); }, [&] { memory.cpu_data(); }), 5},
      {"access on another stream", CallsOf([&] { memory.mutable_gpu_data(a); }, [&] { memory.gpu_data(b); }),
       5},
      {"write after two readers",
       CallsOf(
           [&] {
             memory.mutable_gpu_data(a);
             memory.gpu_data(b);
             memory.gpu_data(c);
           },
           [&] { memory.mutable_gpu_data(a); }),
       8},
      {"pooled allocate and free on one stream",
       CallsOf([] {}, [&] { SyncedMemory(kBytes, *first).overwrite_gpu_data(a); }), 0},
      {"GPU read of bytes that the host has written, of a GPU that is not current",
       CallsOf([&] { far.mutable_cpu_data(); }, [&] { far.gpu_data(); }), 6},
  };
}

TEST_CASE("no transition calls more of CUDA's functions than the page on performance says") {
  std::ifstream file(FERRY_PERFORMANCE_PAGE);
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  std::ostringstream table;
  for (const Row& row : Rows()) {
    INFO(row.transition);
    CHECK(row.calls <= row.most);
    table << "| " << row.transition << " | " << row.calls << " | ≤ " << row.most << " |\n";
  }
  INFO("the table should be\n" << table.str());
  CHECK(page.find(table.str()) != std::string::npos);
  CHECK(sim::Inspect().misuse.empty());
}

}  // namespace
}  // namespace ferry::testing
