// SPDX-License-Identifier: BSD-2-Clause
// Is a comparison sized by the slower of the two, and gone before the device that it was made on?
#include "bench/compare.hpp"

#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

namespace {

int Require(bool holds, const char* what) {
  if (!holds) std::fprintf(stderr, "bench::Compare: %s\n", what);
  return holds ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto of_device = std::make_shared<int>(0);
  static int slow_calls = 0, fast_calls = 0;
  bench::Compare(
      "nothing, 1 ms", 0, [of_device] { benchmark::DoNotOptimize(++fast_calls); },
      [of_device] {
        ++slow_calls;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      });
  int status = bench::Run(argc, argv);
  status |= Require(slow_calls == fast_calls && slow_calls < 50'000,
                    "a fast subject makes a slow reference run for minutes");
  status |= Require(of_device.use_count() == 1, "what was registered outlives Run");
  return status;
}
