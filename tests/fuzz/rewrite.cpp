// SPDX-License-Identifier: BSD-2-Clause
#include "tests/fuzz/rewrite.hpp"

#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/nets/format/binary.hpp"
#include "core/nets/format/filter_net.hpp"
#include "core/nets/format/text.hpp"
#include "ferry/log.hpp"
#include "ferry/nets/error.hpp"
#include "ferry/nets/upgrade.hpp"

namespace ferry::testing {
namespace {

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::abort();
}

std::string Text(const NetParameter& net) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetHideUnknownFields(true);
  std::string text;
  Require(printer.PrintToString(net, &text), "a net can be printed");
  return text;
}

/// Which must not throw.
void RequireSameAgain(const NetParameter& net) {
  const std::string text = Text(net);
  if (text.empty()) return;  // bytes without one field of a net are no net
  NetParameter again;
  detail::ParseText(text, "again", &again);
  Require(Text(again) == text, "a text is read as what was written");
  const std::string bytes = net.SerializeAsString();
  detail::ParseBinary(bytes, "again", &again);
  Require(again.SerializeAsString() == bytes, "bytes are read as what was written");
}

}  // namespace

void Rewrite(NetParameter net) {
  RequireSameAgain(net);
  NetParameter split;
  try {
    UpgradeNetAsNeeded("net", &net);
    Require(!NetNeedsV1ToV2Upgrade(net) && !NetNeedsInputUpgrade(net), "one upgrade is enough");
    detail::FilterNet(net, &net);
    InsertSplits(net, &split);
  } catch (const NetError&) {
    return;
  }
  RequireSameAgain(split);
  NetParameter twice;
  InsertSplits(split, &twice);
  Require(Text(twice) == Text(split), "splits are inserted once");
}

void SilenceLogs() {
  SetLogSink([](LogLevel, std::string_view) {});
  google::protobuf::SetLogHandler(nullptr);
}

}  // namespace ferry::testing
