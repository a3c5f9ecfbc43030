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

/// How many calls make up one measurement: some 100 us of the slower of the two, and at least one call.
template <class Subject, class Reference>
int CallsAtOnce(const Subject& subject, const Reference& reference) {
  double slower = 1e-9;
  for (int warm = 0; warm < 2; ++warm) slower = std::max(Seconds(1, subject), Seconds(1, reference));
  return static_cast<int>(std::clamp(100e-6 / slower, 1.0, 1e5));
}

/// Registers a benchmark that runs the two in turn, so that what else the machine does falls on both. Its
/// counters are the medians in seconds a call, how many times as fast as the reference the subject is, and
/// what is required of that. Its time is that of both.
template <class Subject, class Reference>
benchmark::internal::Benchmark* Compare(const std::string& name, double required, Subject subject,
                                        Reference reference) {
  return benchmark::RegisterBenchmark(name.c_str(),
                                      [=](benchmark::State& state) {
                                        const int calls = CallsAtOnce(subject, reference);
                                        std::vector<double> ours, theirs;
                                        for (auto _ : state) {
                                          ours.push_back(Seconds(calls, subject));
                                          theirs.push_back(Seconds(calls, reference));
                                        }
                                        state.counters["subject"] = Median(ours);
                                        state.counters["reference"] = Median(theirs);
                                        state.counters["ratio"] = Median(theirs) / Median(ours);
                                        state.counters["required"] = required;
                                      })
      ->UseRealTime();
}

/// Runs what is registered, as a table, and destroys it: its memories need their device, which is main's.
inline int Run(int argc, char** argv) {
  std::string tabular = "--benchmark_counters_tabular=true";
  std::vector<char*> args(argv, argv + argc);
  args.insert(args.begin() + 1, tabular.data());
  argc = static_cast<int>(args.size());
  benchmark::Initialize(&argc, args.data());
  const bool understood = !benchmark::ReportUnrecognizedArguments(argc, args.data());
  if (understood) benchmark::RunSpecifiedBenchmarks();
  benchmark::ClearRegisteredBenchmarks();
  return understood ? 0 : 1;
}

}  // namespace bench
