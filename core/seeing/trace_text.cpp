// SPDX-License-Identifier: BSD-2-Clause
#include "core/seeing/trace_text.hpp"

#include <array>
#include <charconv>
#include <optional>

#include "core/seeing/words.hpp"
#include "ferry/synced_memory.hpp"

namespace ferry::detail {
namespace {

/// `"cat":…,"name":…,"args":{…}`, grown by one argument at a time.
class EventText {
 public:
  EventText(std::string_view category, std::string_view name) {
    text_.reserve(320);
    text_ += R"("cat":)";
    AppendJson(text_, category);
    text_ += R"(,"name":)";
    AppendJson(text_, name);
    text_ += R"(,"args":{)";
  }
  EventText& Say(const char* name, std::string_view value) {
    AppendJson(Named(name), value);
    return *this;
  }
  EventText& Say(const char* name, std::size_t value) {
    AppendNumber(Named(name), value);
    return *this;
  }
  EventText& Say(const char* name) {
    Named(name) += "true";
    return *this;
  }
  /// The sites by which a report sums.
  EventText& Say(const std::optional<ferry::Write>& written) {
    if (!written) return *this;
    return Say("stale_by", NameOf(written->site)).Say("stale_as", AskedAs(written->access));
  }
  EventText& Asked(const Site& site, std::string_view as) {
    return Say("asked_by", NameOf(site)).Say("asked_as", as);
  }
  std::string Done() { return std::move(text_ += '}'); }

 private:
  std::string& Named(const char* name) {
    if (text_.back() != '{') text_ += ',';
    ((text_ += '"') += name) += "\":";
    return text_;
  }
  std::string text_;
};

/// As much of it as leaves the event short enough for a reader: whole characters, and dots for the rest.
std::string Shortened(const std::string& label) {
  constexpr std::size_t kMost = 1000, kLongestCharacter = 4;
  if (label.size() <= kMost) return label;
  const auto within = [&](std::size_t at) { return (static_cast<unsigned char>(label[at]) & 0xC0U) == 0x80; };
  std::size_t end = kMost;
  while (within(end) && end > kMost - kLongestCharacter) --end;
  return label.substr(0, end) + "...";
}

std::string WithLabel(const char* what, const std::string& label) {
  return label.empty() ? what : what + (' ' + Shortened(label));
}

const char* NameOfChange(const LifeRecord& life) {
  return life.begins ? "allocate" : life.evicted ? "evict" : "free";
}

}  // namespace

std::string TextOf(const CopyRecord& copy) {
  EventText text("copy", WithLabel("copy", copy.memory->label()));
  text.Say("label", Shortened(copy.memory->label()))
      .Say("bytes", copy.range.bytes)
      .Say("first_byte", copy.range.first)
      .Say("from", NameOfSpace(copy.from))
      .Say("to", NameOfSpace(copy.to))
      .Say(copy.written)
      .Asked(copy.site, AskedAs(copy.purpose, copy.access));
  if (copy.pageable) text.Say("pageable");
  return text.Done();
}

std::string TextOf(const AccessRecord& access, std::string_view operands) {
  const bool prefetch = access.purpose == Purpose::kPrefetch;
  EventText text = prefetch ? EventText("prefetch", WithLabel("prefetch", access.memory->label()))
                            : EventText("access", NameOf(access.site));
  if (prefetch)
    text.Say("label", Shortened(access.memory->label())).Say("bytes", access.bytes);
  else
    text.Say("operands", operands);
  text.Asked(access.site, AskedAs(access.purpose, access.access));
  return text.Done();
}

std::string TextOf(const WaitRecord& wait) {
  return EventText("wait", WithLabel("wait for", wait.memory->label()))
      .Say("label", Shortened(wait.memory->label()))
      .Say("bytes", wait.range.bytes)
      .Say(wait.written)
      .Asked(wait.site, AskedAs(wait.access))
      .Done();
}

std::string TextOf(const SyncRecord& sync) {
  return EventText("wait", "wait for " + NameOfSpace(sync.device)).Say("asked_by", NameOf(sync.site)).Done();
}

std::string TextOf(const LifeRecord& life, const std::string& label) {
  const char* const what = NameOfChange(life);
  EventText text("memory", WithLabel(what, label));
  text.Say("label", Shortened(label)).Say("what", what).Say("bytes", life.bytes);
  if (life.site) text.Say("asked_by", NameOf(*life.site));
  return text.Done();
}

std::string TextOfWait(const LifeRecord& life) {
  EventText text("wait", WithLabel("wait for", life.memory->label()));
  text.Say("label", Shortened(life.memory->label())).Say("what", NameOfChange(life)).Say("bytes", life.bytes);
  if (life.site) text.Say("asked_by", NameOf(*life.site));
  return text.Done();
}

std::string TextOf(const CallRecord& call, std::string_view category) {
  constexpr std::size_t kMost = 16;
  std::string operands;
  std::size_t bytes = 0, count = 0;
  for (const auto& [memory, range, access] : call.operands) {
    bytes += range.bytes;
    if (++count > kMost) continue;
    operands += (operands.empty() ? "" : ", ") + OperandOf(*memory, access);
  }
  if (count > kMost) operands += " and " + std::to_string(count - kMost) + " more";
  return EventText(category, NameOf(call.site)).Say("operands", operands).Say("bytes", bytes).Done();
}

std::string TextOfWait(const CallRecord& call) {
  return EventText("wait", "wait for the result").Say("asked_by", NameOf(call.site)).Done();
}

std::string OperandOf(const SyncedMemory& memory, Access access) {
  std::string text = AskedAs(access);
  if (memory.label().empty()) return text += " a memory without a label";
  AppendJson(text += ' ', Shortened(memory.label()));
  return text;
}

void AppendNumber(std::string& json, std::uint64_t number) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  json.append(digits.data(), end);
}

void AppendMicroseconds(std::string& json, std::int64_t ns) {
  AppendNumber(json, static_cast<std::uint64_t>(ns / 1000));
  const auto rest = static_cast<unsigned>(ns % 1000);
  if (rest == 0) return;
  const auto digit = [](unsigned value) { return static_cast<char>('0' + value % 10); };
  for (const char c : {'.', digit(rest / 100), digit(rest / 10), digit(rest)}) json += c;
}

}  // namespace ferry::detail
