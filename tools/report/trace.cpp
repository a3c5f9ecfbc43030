// SPDX-License-Identifier: BSD-2-Clause
#include "tools/report/trace.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "tools/report/json.hpp"

namespace ferry::report {
namespace {

constexpr double kMostNumber = 1e15;  ///< of times and bytes: what a script counts exactly

double Within(double number) { return std::clamp(std::isnan(number) ? 0 : number, 0.0, kMostNumber); }

std::optional<Kind> KindOf(std::string_view category) {
  constexpr std::array<std::pair<std::string_view, Kind>, 6> kKinds = {{{"copy", Kind::kCopy},
                                                                        {"kernel", Kind::kKernel},
                                                                        {"access", Kind::kAccess},
                                                                        {"call", Kind::kCall},
                                                                        {"wait", Kind::kWait},
                                                                        {"prefetch", Kind::kMark}}};
  for (const auto& [name, kind] : kKinds)
    if (name == category) return kind;
  return std::nullopt;
}

/// Makes a Trace of events.
class Builder {
 public:
  explicit Builder(std::size_t most_slices) : most_slices_(most_slices) {}

  void Add(const Json& event);
  Trace Done();

 private:
  std::uint32_t TrackOf(const Json& event);
  void AddName(const Json& event);
  void AddSlice(const Json& event, Kind kind, ClockOf clock);
  void AddPair(const Json& args, double length);
  void AddChange(const Json& event);
  void AddFlow(const Json& event);
  void Thin();

  const std::size_t most_slices_;
  Trace trace_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> tracks_;
  std::map<double, Flow> flows_;  ///< begun, by id
};

std::uint32_t Number(const Json& event, std::string_view name) {
  return static_cast<std::uint32_t>(std::min(Within(event.Number(name)), 4e9));
}

std::uint32_t Builder::TrackOf(const Json& event) {
  const std::uint32_t pid = Number(event, "pid"), tid = Number(event, "tid");
  const auto [track, fresh] =
      tracks_.try_emplace({pid, tid}, static_cast<std::uint32_t>(trace_.tracks.size()));
  if (fresh) trace_.tracks.push_back({pid, tid, {}});
  return track->second;
}

void Builder::AddName(const Json& event) {
  const Json* const args = event.Find("args");
  if (args == nullptr) return;
  const std::string name(args->Text("name"));
  if (event.Text("name") == "process_name") trace_.spaces[Number(event, "pid")].name = name;
  if (event.Text("name") == "thread_name") trace_.tracks[TrackOf(event)].name = name;
}

/// The arguments are shown as lines, "name\tvalue", whatever a label has in it.
std::string Lines(const Json& args) {
  std::string lines;
  for (const auto& [name, value] : args.members) {
    lines += name + '\t';
    for (const char c : value.text) lines += c == '\n' || c == '\t' ? ' ' : c;
    lines += '\n';
  }
  return lines;
}

void Builder::AddSlice(const Json& event, Kind kind, ClockOf clock) {
  const double begin = Within(event.Number("ts")), length = Within(event.Number("dur"));
  const Json* const args = event.Find("args");
  trace_.slices.push_back({begin, length, TrackOf(event), trace_.texts.NumberOf(event.Text("name")),
                           trace_.texts.NumberOf(args != nullptr ? Lines(*args) : ""), kind});
  trace_.length = std::max(trace_.length, begin + length);
  Busy& busy = trace_.spaces[Number(event, "pid")].busy.at(static_cast<std::size_t>(clock));
  if (kind == Kind::kKernel || kind == Kind::kAccess) busy.kernels.push_back({begin, begin + length});
  if (kind == Kind::kCopy) busy.copies.push_back({begin, begin + length});
  if (kind == Kind::kCopy && clock == ClockOf::kHost && args != nullptr) AddPair(*args, length);
  if (trace_.slices.size() == 2 * most_slices_) Thin();
}

void Builder::AddPair(const Json& args, double length) {
  constexpr std::array<std::string_view, 7> kNames = {"label",    "from",     "to",      "stale_by",
                                                      "stale_as", "asked_by", "asked_as"};
  Trace::PairKey key{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = trace_.texts.NumberOf(args.Text(kNames[i]));
  Pair& pair = trace_.pairs[key];
  ++pair.count;
  pair.bytes += Within(args.Number("bytes"));
  pair.time += length;
}

void Builder::AddChange(const Json& event) {
  const Json* const args = event.Find("args");
  if (args == nullptr) return;
  const double at = Within(event.Number("ts")), bytes = Within(args->Number("bytes"));
  trace_.length = std::max(trace_.length, at);
  trace_.spaces[Number(event, "pid")].changes.push_back(
      {at, args->Text("what") == "allocate" ? bytes : -bytes, trace_.texts.NumberOf(args->Text("label"))});
  if (args->Text("what") == "evict") AddSlice(event, Kind::kMark, ClockOf::kHost);
}

void Builder::AddFlow(const Json& event) {
  const double id = event.Number("id"), at = Within(event.Number("ts"));
  if (event.Text("ph") == "s") {
    flows_[id] = {at, at, TrackOf(event), 0};
  } else if (const auto begun = flows_.find(id); begun != flows_.end()) {
    const Flow flow{begun->second.begin, at, begun->second.from, TrackOf(event)};
    if (trace_.flows.size() < most_slices_) trace_.flows.push_back(flow);
    flows_.erase(begun);
  }
}

/// Leaves the longest slices: a page has room for no more, and the shortest are not seen.
void Builder::Thin() {
  auto& slices = trace_.slices;
  if (slices.size() <= most_slices_) return;
  const auto last = slices.begin() + static_cast<std::ptrdiff_t>(most_slices_);
  std::nth_element(slices.begin(), last, slices.end(),
                   [](const Slice& a, const Slice& b) { return a.length > b.length; });
  trace_.left_out += static_cast<std::uint64_t>(slices.end() - last);
  slices.erase(last, slices.end());
}

void Builder::Add(const Json& event) {
  constexpr std::string_view kByDevice = "device ";
  const std::string_view phase = event.Text("ph");
  std::string_view category = event.Text("cat");
  if (phase == "M") return AddName(event);
  if (phase == "s" || phase == "f") return AddFlow(event);
  if (phase == "i" && category == "memory") return AddChange(event);
  if (phase != "X" && phase != "i") return;
  const auto clock = category.starts_with(kByDevice) ? ClockOf::kDevice : ClockOf::kHost;
  if (clock == ClockOf::kDevice) category.remove_prefix(kByDevice.size());
  if (const auto kind = KindOf(category)) AddSlice(event, *kind, clock);
}

Trace Builder::Done() {
  Thin();
  std::sort(trace_.slices.begin(), trace_.slices.end(), [](const Slice& a, const Slice& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.length > b.length;
  });
  return std::move(trace_);
}

/// Of the trace's first event.
void RequireVersion(const Json& event) {
  constexpr double kVersion = 1;
  const Json* const args = event.Find("args");
  if (args == nullptr || args->Find("version") == nullptr || args->Number("version") == kVersion) return;
  throw BadTrace(
      "is a trace of another version than 1, which this ferry-report reads; take the one that was installed "
      "with the traced program's Ferry");
}

}  // namespace

std::uint32_t Texts::NumberOf(std::string_view text) {
  const auto [found, fresh] =
      numbers_.try_emplace(std::string(text), static_cast<std::uint32_t>(all_.size()));
  if (fresh) all_.push_back(&found->first);
  return found->second;
}

Trace ReadTrace(std::istream& in, std::size_t most_slices) {
  if (in.peek() == std::char_traits<char>::eof())
    throw BadTrace("is empty; of a program that dies, what it has not written by then is lost");
  ArrayReader reader(in);
  Builder builder(most_slices);
  bool ours = false, truncated = false;
  try {
    for (auto event = reader.Next(); event; event = reader.Next()) {
      if (!ours && event->Text("name") != "ferry_trace") break;
      if (!ours) RequireVersion(*event);
      ours = true;
      builder.Add(*event);
    }
  } catch (const Truncated&) {
    truncated = true;
  } catch (const Malformed& flaw) {
    throw BadTrace(std::string(ours ? "is damaged: " : "is no trace of Ferry's: ") + flaw.what());
  }
  if (!ours) throw BadTrace(truncated ? "ends before its first event" : "is no trace of Ferry's");
  Trace trace = builder.Done();
  trace.truncated = truncated;
  return trace;
}

}  // namespace ferry::report
