// SPDX-License-Identifier: BSD-2-Clause
// What a ledger says, in words and as JSON.
#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "core/seeing/ledger.hpp"
#include "core/seeing/words.hpp"

namespace ferry::detail {
namespace {

constexpr std::array<const char*, 5> kKinds = {"copy", "fill", "allocation", "eviction", "wait"};
constexpr std::array<const char*, 5> kManyKinds = {"copies", "fills", "allocations", "evictions", "waits"};
const char* KindOf(LedgerKind kind) noexcept { return kKinds[static_cast<std::size_t>(kind)]; }

std::string Json(const std::string& text) {
  std::string quoted;
  AppendJson(quoted, text);
  return quoted;
}
std::string Called(const LedgerEntry& entry) {
  if (!entry.label.empty()) return Json(entry.label);
  return "memories without a label" + (entry.made ? ", made by " + NameOf(*entry.made) + ',' : "");
}
std::string Times(std::uint64_t count) { return count == 1 ? "once" : std::to_string(count) + " times"; }
std::string InMicroseconds(std::int64_t ns) { return std::to_string(ns / 1000) + " us"; }

std::string Written(const LedgerEntry& entry) {
  return entry.written ? NameOf(entry.written->site) + ' ' + AskedAs(entry.written->access) : "";
}
/// A wait that the program made for a device, and for no memory.
bool ForDevice(const LedgerEntry& entry) {
  return entry.kind == LedgerKind::kWait && !entry.to.empty() && entry.to != NameOfSpace(nullptr);
}
/// The others' lines did not ask for bytes.
bool Accesses(const LedgerEntry& entry) {
  return entry.kind == LedgerKind::kCopy || entry.kind == LedgerKind::kFill ||
         (entry.kind == LedgerKind::kWait && !ForDevice(entry));
}
std::string Asked(const LedgerEntry& entry) {
  if (!entry.asked) return entry.kind == LedgerKind::kWait && !entry.to.empty() ? "its end" : "";
  return NameOf(*entry.asked) +
         (Accesses(entry) ? std::string(" ") + AskedAs(entry.purpose, entry.access) : "");
}
std::string What(const LedgerEntry& entry) {
  if (entry.to.empty()) return std::string("several ") + kManyKinds[static_cast<std::size_t>(entry.kind)];
  if (entry.kind == LedgerKind::kCopy)
    return entry.from == entry.to ? "within " + entry.to : entry.from + " to " + entry.to;
  if (entry.kind == LedgerKind::kWait)
    return "wait of the host" + (ForDevice(entry) ? " for " + entry.to : "");
  return std::string(KindOf(entry.kind)) + " on " + entry.to;
}

/// Copies of bytes that were asked for mutable, and not written.
void AddUnwritten(const LedgerEntry& entry, std::vector<std::string>& advice) {
  if (entry.unwritten == 0 || !entry.written || !entry.asked) return;
  const bool all = entry.unwritten == entry.count;
  advice.push_back(Called(entry) + " copied " + Times(entry.count) + ", " + BytesInWords(entry.bytes) + ": " +
                   NameOf(entry.written->site) + " asked for it " + AskedAs(entry.written->access) +
                   ", then " + NameOf(*entry.asked) + ' ' +
                   (entry.purpose == Purpose::kPrefetch  ? "prefetched it to "
                    : entry.purpose == Purpose::kRelease ? "released it to "
                    : entry.access == Access::kRead      ? "read it on "
                                                         : "asked for it mutable on ") +
                   entry.to + "; read-only access would save " +
                   (all ? "all of them" : std::to_string(entry.unwritten) + " of them"));
}

void AddPageable(const LedgerEntry& entry, std::vector<std::string>& advice) {
  if (!entry.pageable) return;
  advice.push_back(
      Called(entry) + " copied " + Times(entry.count) + ", " + BytesInWords(entry.bytes) +
      (entry.to == NameOfSpace(nullptr) ? ", to" : ", from") +
      " bytes that the program gave, which are not pinned: a copy goes by way of a buffer of the driver's; "
      "bytes that Ferry allocates on the host for a GPU are pinned, unless FERRY_GUARD is on");
}

void AddUnread(const LedgerEntry& entry, std::vector<std::string>& advice) {
  if (entry.unread == 0 || !entry.asked) return;
  const bool release = entry.purpose == Purpose::kRelease, all = entry.unread == entry.count;
  advice.push_back(
      Called(entry) + " copied to " + entry.to + " by the " + (release ? "Release" : "Prefetch") + " in " +
      NameOf(*entry.asked) + ": " + Times(entry.unread) + " of " + std::to_string(entry.count) +
      ", nobody read it there before it was overwritten or given back, or the program ended; unless a "
      "pointer that was kept has been used, " +
      (!all      ? "what that copied was needless"
       : release ? "without that Release there is no copy, unless a later Release makes it"
                 : "that Prefetch is needless"));
}

void AddWaits(const LedgerEntry& entry, std::vector<std::string>& advice) {
  if (entry.in_time == 0 || !entry.written || !entry.asked) return;
  advice.push_back("the host waited " + Times(entry.count) + ", " + InMicroseconds(entry.took_ns) + ", for " +
                   Called(entry) + " in " + NameOf(*entry.asked) + "; a Prefetch to the host right after " +
                   NameOf(entry.written->site) + " would have been in time " + Times(entry.in_time) +
                   ", unless the bytes were written in place after that");
}

/// Two sites, each of which has the bytes brought to it since the other has written them: said of one of
/// the two directions.
void AddPingPong(const LedgerEntry& entry, std::vector<std::string>& advice) {
  if (entry.returned == 0 || entry.from > entry.to || !entry.written || !entry.asked) return;
  advice.push_back(Called(entry) + " went back and forth " + Times(entry.returned) + ": " +
                   NameOf(entry.written->site) + " on " + entry.from + " and " + NameOf(*entry.asked) +
                   " on " + entry.to +
                   " ask for it in turn, to write it; at one place they need no copy, unless other lines "
                   "write it in place");
}

std::string Json(const Site& site) {
  return R"({"file": )" + Json(std::string(site.file())) + R"(, "line": )" + std::to_string(site.line()) +
         R"(, "function": )" + Json(std::string(site.function())) + '}';
}
std::string Json(const LedgerEntry& entry) {
  std::string text =
      std::string(R"({"kind": ")") + KindOf(entry.kind) + R"(", "label": )" + Json(entry.label);
  if (entry.made) text += R"(, "made": )" + Json(*entry.made);
  if (entry.kind == LedgerKind::kCopy) text += R"(, "from": )" + Json(entry.from);
  if (entry.kind != LedgerKind::kWait || ForDevice(entry)) text += R"(, "to": )" + Json(entry.to);
  if (entry.written)
    text += R"(, "written": )" + Json(entry.written->site) + R"(, "written_as": ")" +
            AskedAs(entry.written->access) + '"';
  if (entry.asked) text += R"(, "asked": )" + Json(*entry.asked);
  if (entry.asked && Accesses(entry))
    text += std::string(R"(, "asked_as": ")") + AskedAs(entry.purpose, entry.access) + '"';
  const auto add = [&](const char* name, std::uint64_t value) {
    text += std::string(", \"") + name + R"(": )" + std::to_string(value);
  };
  add("count", entry.count), add("bytes", entry.bytes), add("unwritten", entry.unwritten),
      add("returned", entry.returned), add("unread", entry.unread), add("pending", entry.pending),
      add("in_time", entry.in_time);
  add("took_ns", static_cast<std::uint64_t>(entry.took_ns));
  return text + (entry.pageable ? ", \"pageable\": true}" : "}");
}

/// Whatever is in a label, a row of the table is one line.
std::string Cell(const LedgerEntry& entry) {
  if (entry.label.empty()) return entry.made ? "made by " + NameOf(*entry.made) : "-";
  const std::string quoted = Json(entry.label);
  return quoted.substr(1, quoted.size() - 2);
}

using Row = std::array<std::string, 7>;

/// "  a  b": columns as wide as their widest cell; the first three are numbers.
std::string Columns(const std::vector<Row>& rows) {
  std::array<std::size_t, std::tuple_size_v<Row>> width{};
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(width[i] - row[i].size(), ' ');
      line += "  " + (i < 3 ? space + row[i] : row[i] + space);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

}  // namespace

std::vector<std::string> AdviceOn(const std::vector<LedgerEntry>& entries) {
  std::vector<std::string> advice;
  for (const LedgerEntry& entry : entries) {
    AddUnwritten(entry, advice);
    AddPingPong(entry, advice);
    AddPageable(entry, advice);
    AddUnread(entry, advice);
    AddWaits(entry, advice);
  }
  return advice;
}

std::string TableOf(const std::vector<LedgerEntry>& entries, std::size_t most) {
  std::vector<Row> rows{{"bytes", "times", "took", "what", "memory", "made stale by", "asked for by"}};
  std::array<std::size_t, kKinds.size()> shown{};
  for (const LedgerEntry& entry : entries)
    if (shown[static_cast<std::size_t>(entry.kind)]++ < most)
      rows.push_back({BytesInWords(entry.bytes), std::to_string(entry.count), InMicroseconds(entry.took_ns),
                      What(entry), Cell(entry), Written(entry), Asked(entry)});
  const std::size_t left = entries.size() + 1 - rows.size();
  std::string text = Columns(rows);
  if (left != 0) text += "  and " + std::to_string(left) + " more\n";
  for (const std::string& advice : AdviceOn(entries)) text += "* " + advice + '\n';
  return text;
}

std::string JsonOf(const std::vector<LedgerEntry>& entries) {
  std::string text = "{\"entries\": [";
  const char* comma = "\n";
  for (const LedgerEntry& entry : entries) text += std::exchange(comma, ",\n") + Json(entry);
  text += "],\n\"advice\": [";
  comma = "\n";
  for (const std::string& advice : AdviceOn(entries)) text += std::exchange(comma, ",\n") + Json(advice);
  return text + "]}\n";
}

}  // namespace ferry::detail
