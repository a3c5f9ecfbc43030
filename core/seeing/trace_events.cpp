// SPDX-License-Identifier: BSD-2-Clause
// The events of a trace, as they are written.
#include <algorithm>

#include "core/seeing/trace.hpp"
#include "core/seeing/trace_text.hpp"
#include "core/seeing/words.hpp"

namespace ferry {

void Trace::Events::Name(const char* what, Lane lane, const std::string& name) {
  std::string& event = Begin('M', lane, 0);
  event += std::string(R"("name":")") + what + R"(","args":{"name":)";
  detail::AppendJson(event, name);
  event += "}}";
}

/// Of an event, up to what is its own. Processes are counted from 1.
std::string& Trace::Events::Begin(char phase, Lane lane, Nanoseconds at) {
  std::string& event = file_.Next();
  event += R"({"ph":")";
  event += phase;
  event += R"(","pid":)";
  detail::AppendNumber(event, lane.space + 1);
  event += R"(,"tid":)";
  detail::AppendNumber(event, lane.number);
  event += R"(,"ts":)";
  detail::AppendMicroseconds(event, at);
  event += ',';
  return event;
}

void Trace::Events::Add(Lane lane, Nanoseconds begin, Nanoseconds end, std::string_view text) {
  std::string& event = Begin('X', lane, begin);
  event += R"("dur":)";
  detail::AppendMicroseconds(event, std::max<Nanoseconds>(end - begin, 0));
  (event += ',') += text;
  event += '}';
}

void Trace::Events::Flow(Lane from, Nanoseconds at, Lane to, Nanoseconds until) {
  ++flows_;
  const auto add = [&](char phase, Lane lane, Nanoseconds when) {
    std::string& event = Begin(phase, lane, when);
    event += R"("cat":"wait","name":"waited for","bp":"e","id":)";
    detail::AppendNumber(event, flows_);
    event += '}';
  };
  add('s', from, at);
  add('f', to, until);
}

void Trace::Events::Count(std::size_t space, const LifeRecord& life, const std::string& label) {
  const Nanoseconds now = Now();
  (Begin('i', {space, 0}, now) += R"("s":"p",)") += detail::TextOf(life, label) + '}';
  std::string& event = Begin('C', {space, 0}, now);
  event += R"("name":"live bytes","args":{"bytes":)";
  detail::AppendNumber(event, live_[space]);
  event += "}}";
}

}  // namespace ferry
