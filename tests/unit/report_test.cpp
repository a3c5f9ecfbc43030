// SPDX-License-Identifier: BSD-2-Clause
// What ferry-report makes of traces, and of files that are none.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/sanitized.hpp"
#include "tools/report/json.hpp"
#include "tools/report/page.hpp"
#include "tools/report/trace.hpp"

namespace ferry::report {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;

constexpr const char* kSmall = R"json([
{"ph":"M","pid":1,"tid":0,"ts":0,"name":"ferry_trace","args":{"version":1,"times":"host"}},
{"ph":"M","pid":2,"tid":0,"ts":0,"name":"process_name","args":{"name":"sim:0"}},
{"ph":"M","pid":2,"tid":1,"ts":0,"name":"thread_name","args":{"name":"main stream"}},
{"ph":"i","pid":2,"tid":0,"ts":1,"cat":"memory","name":"allocate a","args":{"label":"a","what":"allocate","bytes":100}},
{"ph":"i","pid":2,"tid":0,"ts":2,"cat":"memory","name":"allocate b","args":{"label":"b","what":"allocate","bytes":300}},
{"ph":"i","pid":2,"tid":0,"ts":3,"cat":"memory","name":"evict a","args":{"label":"a","what":"evict","bytes":100}},
{"ph":"X","pid":2,"tid":1,"ts":10.5,"dur":4,"cat":"copy","name":"copy a","args":{"label":"a","bytes":100,"from":"the host","to":"sim:0",
 "stale_by":"F (f.cpp:1)","stale_as":"mutable","asked_by":"G (g.cpp:2)","asked_as":"read"}},
{"ph":"X","pid":2,"tid":1,"ts":20,"dur":4,"cat":"copy","name":"copy \u00e9\ud83d\ude00","args":{"label":"a","bytes":100,"from":"the host","to":"sim:0",
 "stale_by":"F (f.cpp:1)","stale_as":"mutable","asked_by":"G (g.cpp:2)","asked_as":"read"}},
{"ph":"X","pid":2,"tid":2,"ts":12.5,"dur":1,"cat":"kernel","name":"G (g.cpp:2)","args":{"operands":"read \"a\"","bytes":100}},
{"ph":"X","pid":2,"tid":2,"ts":13,"dur":9,"cat":"kernel","name":"H (h.cpp:3)","args":{"operands":"","bytes":1e2}},
{"ph":"s","pid":2,"tid":1,"ts":10.5,"cat":"wait","name":"waited for","bp":"e","id":1},
{"ph":"f","pid":1,"tid":1,"ts":30,"cat":"wait","name":"waited for","bp":"e","id":1}
]
)json";

constexpr std::size_t kFew = 500;

Trace Parse(const std::string& text, std::size_t most_slices = kFew) {
  std::istringstream in(text);
  return ReadTrace(in, most_slices);
}
std::string FlawOf(const std::string& text) {
  try {
    Parse(text);
  } catch (const BadTrace& flaw) {
    return flaw.what();
  }
  return "";
}

TEST_CASE("A report sums copies by memory and pair of sites") {
  const Trace trace = Parse(kSmall);
  CHECK_FALSE(trace.truncated);
  REQUIRE(trace.pairs.size() == 1);
  const auto& [key, pair] = *trace.pairs.begin();
  CHECK(trace.texts[key[0]] == "a");
  CHECK(trace.texts[key[3]] == "F (f.cpp:1)");
  CHECK(trace.texts[key[5]] == "G (g.cpp:2)");
  CHECK(pair.count == 2);
  CHECK_THAT(pair.bytes, WithinAbs(200, 0));
  CHECK_THAT(pair.time, WithinAbs(8, 0));
  CHECK(trace.slices.size() == 5);  // with the eviction
  CHECK(trace.flows.size() == 1);
}

TEST_CASE("A report says how much of the copies' time kernels hide") {
  const Trace trace = Parse(kSmall);
  const Overlap overlap = OverlapOf(trace.spaces.at(2));
  CHECK_THAT(overlap.copies, WithinAbs(8, 1e-9));
  CHECK_THAT(overlap.hidden, WithinAbs(2 + 2, 1e-9));  // from 12.5 to 14.5, and from 20 to 22
  CHECK_THAT(OverlapOf({}).copies, WithinAbs(0, 0));
}

TEST_CASE("A report holds copies against kernels by a clock that has both") {
  const std::string begin = R"([{"ph":"M","pid":1,"tid":0,"name":"ferry_trace"})";
  const std::string copies = R"(,{"ph":"X","pid":2,"tid":1,"ts":0,"dur":4,"cat":"copy","name":"c"})"
                             R"(,{"ph":"X","pid":2,"tid":1,"ts":9,"dur":2,"cat":"device copy","name":"c"})";
  const std::string access = R"(,{"ph":"X","pid":2,"tid":2,"ts":0,"dur":9,"cat":"access","name":"a"})";
  const std::string kernel =
      R"(,{"ph":"X","pid":2,"tid":2,"ts":10,"dur":9,"cat":"device kernel","name":"k"})";
  const auto overlap = [&](const std::string& events) {
    return OverlapOf(Parse(begin + events + "]").spaces.at(2));
  };
  CHECK_THAT(overlap(copies + access).copies,
             WithinAbs(4, 1e-9));  // the kernels of pointers have no device times
  CHECK_THAT(overlap(copies + access).hidden, WithinAbs(4, 1e-9));
  CHECK_THAT(overlap(copies).copies, WithinAbs(2, 1e-9));
  CHECK_THAT(overlap(copies + access + kernel).copies, WithinAbs(2, 1e-9));
  CHECK_THAT(overlap(copies + access + kernel).hidden, WithinAbs(1, 1e-9));
  const std::string same = R"(,{"ph":"X","pid":2,"tid":2,"ts":0,"dur":9,"cat":"kernel","name":"k"})" + kernel;
  CHECK(overlap(copies + access).left_out == 0);
  CHECK(overlap(copies + kernel).left_out == 0);
  CHECK(overlap(copies + same).left_out == 0);
  CHECK(overlap(copies + access + same).left_out == 1);
  CHECK_THAT(DataOf(Parse(begin + copies + access + same + "]"), "t"),
             ContainsSubstring(R"("left_out":1,"clock":"the device's clock")"));
}

TEST_CASE("A report explains the peak of memory by labels") {
  const Trace trace = Parse(kSmall);
  const Peak peak = PeakOf(trace.spaces.at(2));
  CHECK_THAT(peak.bytes, WithinAbs(400, 0));
  CHECK_THAT(peak.at, WithinAbs(2, 0));
  REQUIRE(peak.labels.size() == 2);
  for (const auto& [label, bytes] : peak.labels)
    CHECK_THAT(bytes, WithinAbs(trace.texts[label] == "a" ? 100 : 300, 0));

  std::string events = R"([{"ph":"M","pid":1,"tid":0,"name":"ferry_trace"})";
  for (const char* const event : {R"("allocate","label":"c","bytes":8)", R"("evict","label":"c","bytes":8)",
                                  R"("allocate","label":"d","bytes":9)"})
    events.append(R"(,{"ph":"i","pid":2,"cat":"memory","name":"n","args":{"what":)").append(event) += "}}";
  const Trace later = Parse(events + "]");
  const Peak without_c = PeakOf(later.spaces.at(2));
  REQUIRE(without_c.labels.size() == 1);
  CHECK(later.texts[without_c.labels.begin()->first] == "d");
}

TEST_CASE("A trace that ends anywhere is read as far as it goes") {
  const std::string whole = kSmall;
  const std::size_t end = whole.find_last_of(']'), first = whole.find("}}") + 2;
  for (std::size_t bytes = 0; bytes <= whole.size(); ++bytes) {
    const std::string text = whole.substr(0, bytes);
    CAPTURE(bytes);
    if (bytes == 0) {
      CHECK(FlawOf(text).starts_with("is empty"));
    } else if (bytes < first) {
      CHECK(FlawOf(text) == "ends before its first event");
    } else {
      const Trace trace = Parse(text);
      CHECK(trace.truncated == (bytes <= end));
      CHECK_FALSE(PageOf(trace, "t.json").empty());
    }
  }
}

TEST_CASE("A trace with one byte changed is read or refused") {
  const std::string whole = kSmall;
  for (std::size_t at = 0; at < whole.size(); at += testing::kSanitized ? 11 : 1)
    for (const char c : {'\0', '"', '{', ']', '9', '\\', '\xFF'}) {
      std::string text = whole;
      text[at] = c;
      try {
        const Trace trace = Parse(text);
        CHECK_FALSE(DataOf(trace, "t.json").empty());
      } catch (const BadTrace& flaw) {
        CHECK_FALSE(std::string(flaw.what()).empty());
      }
    }
}

TEST_CASE("What is no trace is refused in words") {
  CHECK(FlawOf("").starts_with("is empty; of a program that dies"));
  CHECK(FlawOf("[]") == "is no trace of Ferry's");
  CHECK(FlawOf(R"([{"ph":"X","name":"somebody's"}])") == "is no trace of Ferry's");
  CHECK_THAT(FlawOf("hello"), ContainsSubstring("is no trace of Ferry's: at byte 0 a [ is missing"));
  CHECK_THAT(FlawOf(R"({"traceEvents":[]})"), ContainsSubstring("is no trace of Ferry's"));
  const auto of_version = [](const char* version) {
    return FlawOf(std::string(R"([{"name":"ferry_trace","args":{"version":)") + version + "}}]");
  };
  for (const char* const other : {"2", "0", R"("1")"})
    CHECK_THAT(of_version(other), ContainsSubstring("is a trace of another version than 1"));
  CHECK(of_version("1").empty());
  const std::string ours = R"([{"name":"ferry_trace"},)";
  CHECK_THAT(FlawOf(ours + "{]"), ContainsSubstring("is damaged: at byte 25"));
  CHECK_THAT(FlawOf(ours + "+1]"), ContainsSubstring("is damaged"));
  CHECK_THAT(FlawOf(ours + "01]"), ContainsSubstring("is damaged"));
  CHECK_THAT(FlawOf(ours + R"("\ud800"])"), ContainsSubstring("is damaged"));
  CHECK_THAT(FlawOf(ours + "1] 2"), ContainsSubstring("something follows"));
  CHECK_THAT(FlawOf(ours + "1e999]"), ContainsSubstring("out of range"));
  CHECK_THAT(FlawOf(ours + std::string(100'000, '[')), ContainsSubstring("nested too deeply"));
}

TEST_CASE("No text of a trace ends the page's script, or is a tag in it") {
  std::string text = kSmall;
  const std::string evil = "</script><img src=x onerror=alert(1)>";
  for (auto at = text.find("copy a"); at != std::string::npos; at = text.find("copy a"))
    text.replace(at, 6, evil);
  const Trace trace = Parse(text);
  CHECK(DataOf(trace, evil).find('<') == std::string::npos);
  const std::string page = PageOf(trace, evil);
  CHECK(page.find(evil) == std::string::npos);
  CHECK(page.find("<img") == std::string::npos);
  CHECK_THAT(page, ContainsSubstring("\\u003c/script\\u003e\\u003cimg"));
}

TEST_CASE("A report of a long trace leaves out the shortest slices, and says how many") {
  std::string text = R"([{"ph":"M","pid":1,"tid":0,"name":"ferry_trace"})";
  constexpr std::size_t kSlices = 2 * kFew + 10;
  for (std::size_t i = 0; i < kSlices; ++i)
    text += R"(,{"ph":"X","pid":2,"tid":1,"ts":)" + std::to_string(i) +
            (i == 5 ? R"(,"dur":9,)" : R"(,"dur":1,)") + R"("cat":"copy","name":"c","args":{"bytes":2}})";
  const Trace trace = Parse(text + "]");
  CHECK(trace.slices.size() == kFew);
  CHECK(trace.left_out == kSlices - kFew);
  CHECK_THAT(trace.pairs.begin()->second.bytes, WithinAbs(2.0 * static_cast<double>(kSlices), 0));
  CHECK_THAT(DataOf(trace, "t"), ContainsSubstring("\"copied\":[" + std::to_string(2 * kSlices) + ',' +
                                                   std::to_string(kSlices) + ']'));
  double longest = 0;
  for (const Slice& slice : trace.slices) longest = std::max(longest, slice.length);
  CHECK_THAT(longest, WithinAbs(9, 0));
}

TEST_CASE("A report has 100,000 slices, and as many flows, unless it is told otherwise") {
  CHECK(Trace::kMostSlices == 100'000);
  constexpr std::size_t kFlows = testing::kSanitized ? 1000 : Trace::kMostSlices + 1;
  std::string text = R"([{"ph":"M","pid":1,"tid":0,"name":"ferry_trace"})";
  for (std::size_t i = 0; i <= Trace::kMostSlices; ++i) {
    text += R"(,{"ph":"X","cat":"copy"})";
    if (i >= kFlows) continue;
    text += R"(,{"ph":"s","id":)" + std::to_string(i) + R"(},{"ph":"f","id":)";
    text += std::to_string(i) + '}';
  }
  std::istringstream in(text + "]");
  const Trace trace = ReadTrace(in);
  CHECK(trace.slices.size() == Trace::kMostSlices);
  CHECK(trace.flows.size() == std::min(kFlows, Trace::kMostSlices));
}

TEST_CASE("A slice of a page finds its texts by their numbers there") {
  std::istringstream in('[' + DataOf(Parse(kSmall), "t") + ']');
  const Json data = ArrayReader(in).Next().value();
  const auto& texts = data.Find("texts")->items;
  std::vector<std::string> names, details;
  for (const Json& slice : data.Find("slices")->items) {
    names.push_back(texts.at(static_cast<std::size_t>(slice.items.at(4).number)).text);
    details.push_back(texts.at(static_cast<std::size_t>(slice.items.at(5).number)).text);
  }
  CHECK(names ==
        std::vector<std::string>{"evict a", "copy a", "G (g.cpp:2)", "H (h.cpp:3)", "copy \u00e9\U0001F600"});
  REQUIRE(details.size() == 5);
  CHECK_THAT(details[1], ContainsSubstring("stale_by\tF (f.cpp:1)"));
  CHECK_THAT(details[2], ContainsSubstring("operands\tread \"a\""));
}

TEST_CASE("A label with a line feed and a tab is one line of a slice's details") {
  const std::string text =
      R"([{"ph":"M","pid":1,"tid":0,"name":"ferry_trace"},)"
      R"({"ph":"X","pid":2,"tid":1,"cat":"copy","name":"c","args":{"label":"w\nbytes\tabc","bytes":"2"}}])";
  const Trace trace = Parse(text);
  REQUIRE(trace.slices.size() == 1);
  CHECK(trace.texts[trace.slices[0].details] == "label\tw bytes abc\nbytes\t2\n");
}

TEST_CASE("A page has the texts of its slices alone, and the sums of all copies") {
  std::string text = R"([{"ph":"M","pid":1,"tid":0,"name":"ferry_trace"})";
  constexpr std::size_t kSlices = kFew + 1100;
  for (std::size_t i = 0; i < kSlices; ++i) {
    const std::string number = std::to_string(i);
    text.append(R"(,{"ph":"X","pid":2,"tid":1,"ts":)").append(number);
    text.append(i < 1100 ? R"(,"dur":1,"cat":"copy","name":"c)" : R"(,"dur":2,"cat":"copy","name":"c)");
    text.append(number).append(R"(","args":{"label":"l)").append(number).append(R"(","bytes":2}})");
  }
  const std::string data = DataOf(Parse(text + "]"), "t");
  CHECK_THAT(data, ContainsSubstring(R"("c1100")") && !ContainsSubstring(R"("c1099")"));
  CHECK_THAT(data, ContainsSubstring("\"copied\":[3200,1600]"));
  CHECK_THAT(data, ContainsSubstring("\"more_pairs\":600"));
}

}  // namespace
}  // namespace ferry::report
