// SPDX-License-Identifier: BSD-2-Clause
#include "tools/report/page.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "tools/report/json.hpp"
#include "tools/report/page_files.hpp"

namespace ferry::report {
namespace {

constexpr std::size_t kMostPoints = 4000;  ///< of memory over time, in a space
constexpr std::size_t kMostRows = 1000;    ///< of a table

/// Values that are appended, with commas between them.
class Writer {
 public:
  Writer& Begin(char bracket) {
    Comma();
    text_ += bracket;
    return *this;
  }
  Writer& End(char bracket) {
    text_ += bracket;
    return *this;
  }
  Writer& Name(std::string_view name) {
    Comma();
    AppendText(text_, name);
    text_ += ':';
    return *this;
  }
  Writer& Add(std::string_view text) {
    Comma();
    AppendText(text_, text);
    return *this;
  }
  /// Of a page's size: 1 ns, or a byte, is the least.
  Writer& Add(double number) {
    Comma();
    std::array<char, 40> digits{};
    const int length = std::snprintf(digits.data(), digits.size(), "%.3f", number);
    std::string_view text(digits.data(), static_cast<std::size_t>(length));
    while (text.back() == '0') text.remove_suffix(1);
    if (text.back() == '.') text.remove_suffix(1);
    text_ += text;
    return *this;
  }
  std::string Done() { return std::move(text_); }

 private:
  void Comma() {
    if (!text_.empty() && std::string_view("[{:").find(text_.back()) == std::string_view::npos) text_ += ',';
  }
  std::string text_;
};

/// The texts of the slices are numbered anew: those that were left out had texts, too.
void AddTimeline(Writer& to, const Trace& trace) {
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::vector<std::uint32_t> numbers(trace.texts.all().size(), kNone);
  std::uint32_t count = 0;
  to.Name("tracks").Begin('[');
  for (const Track& track : trace.tracks) {
    const auto space = trace.spaces.find(track.pid);
    to.Begin('[').Add(space != trace.spaces.end() ? space->second.name : "").Add(track.name).End(']');
  }
  to.End(']').Name("texts").Begin('[');
  for (const Slice& slice : trace.slices)
    for (const std::uint32_t text : {slice.name, slice.details})
      if (numbers[text] == kNone) numbers[text] = count++, to.Add(trace.texts[text]);
  to.End(']').Name("slices").Begin('[');
  for (const Slice& slice : trace.slices) {
    to.Begin('[').Add(slice.track).Add(slice.begin).Add(slice.length);
    to.Add(static_cast<double>(slice.kind)).Add(numbers[slice.name]).Add(numbers[slice.details]).End(']');
  }
  to.End(']').Name("flows").Begin('[');
  for (const Flow& flow : trace.flows)
    to.Begin('[').Add(flow.from).Add(flow.begin).Add(flow.to).Add(flow.end).End(']');
  to.End(']');
}

void AddPairs(Writer& to, const Trace& trace) {
  std::vector<std::pair<Trace::PairKey, Pair>> rows(trace.pairs.begin(), trace.pairs.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  Pair all;
  for (const auto& [key, pair] : rows) all.count += pair.count, all.bytes += pair.bytes;
  to.Name("copied").Begin('[').Add(all.bytes).Add(static_cast<double>(all.count)).End(']');
  to.Name("pairs").Begin('[');
  for (std::size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) {
    const auto& [key, pair] = rows[i];
    to.Begin('[').Add(pair.bytes).Add(static_cast<double>(pair.count)).Add(pair.time);
    for (const std::uint32_t text : key) to.Add(trace.texts[text]);
    to.End(']');
  }
  to.End(']').Name("more_pairs").Add(static_cast<double>(rows.size() - std::min(rows.size(), kMostRows)));
}

/// The live bytes after each change; of many changes, the most and the last of each few.
void AddPoints(Writer& to, const Space& space) {
  const std::size_t group = space.changes.size() / (kMostPoints / 2) + 1;
  double live = 0;
  to.Name("points").Begin('[');
  for (std::size_t i = 0; i < space.changes.size();) {
    const std::size_t end = std::min(i + group, space.changes.size());
    double most = live, most_at = space.changes[i].at;
    for (; i < end; ++i) {
      live += space.changes[i].bytes;
      if (live > most) most = live, most_at = space.changes[i].at;
    }
    if (most > live) to.Begin('[').Add(most_at).Add(most).End(']');
    to.Begin('[').Add(space.changes[end - 1].at).Add(live).End(']');
  }
  to.End(']');
}

void AddSpace(Writer& to, const Trace& trace, const Space& space) {
  const Overlap overlap = OverlapOf(space);
  const Peak peak = PeakOf(space);
  std::vector<std::pair<std::uint32_t, double>> labels(peak.labels.begin(), peak.labels.end());
  std::stable_sort(labels.begin(), labels.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  to.Begin('{').Name("name").Add(space.name);
  to.Name("copies").Add(overlap.copies).Name("hidden").Add(overlap.hidden);
  to.Name("left_out").Add(static_cast<double>(overlap.left_out));
  to.Name("clock").Add(space.best_clock() == ClockOf::kDevice ? "the device's clock" : "the host's times");
  AddPoints(to, space);
  to.Name("peak_at").Add(peak.at).Name("peak").Add(peak.bytes).Name("labels").Begin('[');
  for (std::size_t i = 0; i < std::min(labels.size(), kMostRows); ++i)
    to.Begin('[').Add(trace.texts[labels[i].first]).Add(labels[i].second).End(']');
  to.End(']').End('}');
}

void AppendHtml(std::string& html, std::string_view text) {
  for (const char c : text)
    if (c == '<' || c == '>' || c == '&' || c == '"')
      ((html += "&#") += std::to_string(static_cast<int>(c))) += ';';
    else
      html += c;
}

}  // namespace

Overlap OverlapOf(const Space& space) {
  const Busy& by = space.busy.at(static_cast<std::size_t>(space.best_clock()));
  std::vector<Interval> kernels = by.kernels;
  const auto by_begin = [](const Interval& a, const Interval& b) { return a.begin < b.begin; };
  std::sort(kernels.begin(), kernels.end(), by_begin);
  std::vector<Interval> busy;  // disjoint
  for (const Interval& kernel : kernels)
    if (busy.empty() || kernel.begin > busy.back().end)
      busy.push_back(kernel);
    else
      busy.back().end = std::max(busy.back().end, kernel.end);
  Overlap overlap;
  // Each has the host's time, and kernels that Ferry queues the device's, too.
  const std::size_t all = space.busy[0].kernels.size();
  if (all > kernels.size()) overlap.left_out = all - kernels.size();
  for (const auto& [begin, end] : by.copies) {
    overlap.copies += end - begin;
    auto at = std::lower_bound(busy.begin(), busy.end(), begin,
                               [](const Interval& one, double time) { return one.end < time; });
    for (; at != busy.end() && at->begin < end; ++at)
      overlap.hidden += std::min(at->end, end) - std::max(at->begin, begin);
  }
  return overlap;
}

Peak PeakOf(const Space& space) {
  Peak peak;
  double live = 0;
  std::size_t changes = 0;  // up to the peak
  for (std::size_t i = 0; i < space.changes.size(); ++i) {
    live += space.changes[i].bytes;
    if (live > peak.bytes) peak.bytes = live, peak.at = space.changes[i].at, changes = i + 1;
  }
  for (std::size_t i = 0; i < changes; ++i) peak.labels[space.changes[i].label] += space.changes[i].bytes;
  std::erase_if(peak.labels, [](const auto& label) { return label.second <= 0; });
  return peak;
}

std::string DataOf(const Trace& trace, std::string_view file) {
  Writer data;
  data.Begin('{').Name("file").Add(file).Name("length").Add(trace.length);
  data.Name("truncated").Add(trace.truncated ? 1 : 0);
  data.Name("left_out").Add(static_cast<double>(trace.left_out));
  AddTimeline(data, trace);
  AddPairs(data, trace);
  data.Name("spaces").Begin('[');
  for (const auto& [pid, space] : trace.spaces) AddSpace(data, trace, space);
  return data.End(']').End('}').Done();
}

std::string PageOf(const Trace& trace, std::string_view file) {
  std::string title;
  AppendHtml(title, file);
  std::string html;
  const auto fill = [&](std::string_view with) { html += with; };
  std::string_view rest = kPageHtml;
  const auto upto = [&](std::string_view mark) {
    const std::size_t at = rest.find(mark);
    fill(rest.substr(0, at));
    rest.remove_prefix(at + mark.size());
  };
  upto("<!--title-->"), fill(title);
  upto("/*style*/"), fill(kPageCss);
  upto("<!--data-->"), fill(DataOf(trace, file));
  upto("/*script*/"), fill(kPageJs), fill(kTimelineJs);
  fill(rest);
  return html;
}

}  // namespace ferry::report
