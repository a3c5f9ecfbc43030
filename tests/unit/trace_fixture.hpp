// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ferry/ferry.hpp"
#include "tests/folder.hpp"
#include "tools/report/json.hpp"

namespace ferry::testing {

using report::Json;

inline std::vector<Json> EventsOf(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  report::ArrayReader reader(in);
  std::vector<Json> events;
  while (auto event = reader.Next()) events.push_back(*std::move(event));
  return events;
}

/// Traces while it lives, on a device of its own.
struct TraceFixture {
  TraceFixture() { sim::Reset({.seed = 1}); }
  /// Ends the trace, and reads it.
  std::vector<Json> Events() {
    trace.reset();
    return EventsOf(file);
  }

  Folder folder;
  std::string file = (folder / "t.json").string();
  std::unique_ptr<Device> device = MakeDevice("sim:0");
  std::optional<Trace> trace{file};
};

inline std::vector<Json> Only(const std::vector<Json>& events, std::string_view phase,
                              std::string_view category) {
  std::vector<Json> some;
  for (const Json& event : events)
    if (event.Text("ph") == phase && event.Text("cat") == category) some.push_back(event);
  return some;
}
inline const Json& ArgsOf(const Json& event) { return *event.Find("args"); }
inline bool OnOneTrack(const Json& a, const Json& b) {
  return a.Number("pid") == b.Number("pid") && a.Number("tid") == b.Number("tid");
}
inline double EndOf(const Json& event) { return event.Number("ts") + event.Number("dur"); }

/// By the host, which then does nothing for some time.
inline void CheckWaitedFor(const std::vector<Json>& events, const Json& work, const Json& wait) {
  const auto begins = Only(events, "s", "wait"), ends = Only(events, "f", "wait");
  REQUIRE((begins.size() == 1 && ends.size() == 1));
  CHECK((OnOneTrack(begins[0], work) && begins[0].Number("ts") == work.Number("ts")));
  CHECK((OnOneTrack(ends[0], wait) && ends[0].Number("ts") >= wait.Number("ts")));
  CHECK(EndOf(work) <= EndOf(wait) + 0.002);
}

/// On streams, in the order in which they were queued.
inline std::vector<Json> Queued(const std::vector<Json>& events, std::string_view category) {
  auto slices = Only(events, "X", category);
  std::erase_if(slices, [](const Json& slice) { return slice.Number("pid") == 1; });
  std::sort(slices.begin(), slices.end(),
            [](const Json& a, const Json& b) { return a.Number("ts") < b.Number("ts"); });
  return slices;
}

inline void WriteIt(Blob<float>& blob) { blob.mutable_cpu_data(); }
inline void ReadItThere(const Blob<float>& blob) { blob.gpu_data(); }

}  // namespace ferry::testing
