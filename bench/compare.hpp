// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace bench {

/// Seconds that one call of `code` takes, over `calls` of them.
template <class Code>
double Seconds(int calls, const Code& code) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  for (int i = 0; i < calls; ++i) {
    code();
    benchmark::ClobberMemory();
  }
  return std::chrono::duration<double>(Clock::now() - begin).count() / calls;
}

inline double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Registers a benchmark that runs the two in turn, so that what else the machine does falls on both. Its
/// counters are the medians in seconds a call, how many times as fast as the reference the subject is, and
/// what is required of that.
template <class Subject, class Reference>
benchmark::internal::Benchmark* Compare(const std::string& name, double required, Subject subject,
                                        Reference reference) {
  return benchmark::RegisterBenchmark(name.c_str(),
                                      [=](benchmark::State& state) {
                                        subject();
                                        reference();
                                        const double once = std::max(Seconds(1, subject), 1e-9);
                                        const int calls =
                                            static_cast<int>(std::clamp(100e-6 / once, 1.0, 1e5));
                                        std::vector<double> ours, theirs;
                                        for (auto _ : state) {
                                          ours.push_back(Seconds(calls, subject));
                                          theirs.push_back(Seconds(calls, reference));
                                          state.SetIterationTime(ours.back() * calls);
                                        }
                                        state.counters["subject"] = Median(ours);
                                        state.counters["reference"] = Median(theirs);
                                        state.counters["ratio"] = Median(theirs) / Median(ours);
                                        state.counters["required"] = required;
                                      })
      ->UseManualTime();
}

/// Runs what is registered, as a table.
inline int Run(int argc, char** argv) {
  std::string tabular = "--benchmark_counters_tabular=true";
  std::vector<char*> args(argv, argv + argc);
  args.insert(args.begin() + 1, tabular.data());
  argc = static_cast<int>(args.size());
  benchmark::Initialize(&argc, args.data());
  if (benchmark::ReportUnrecognizedArguments(argc, args.data())) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace bench
