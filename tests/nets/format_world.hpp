// SPDX-License-Identifier: BSD-2-Clause
// Messages by their text, and files for them.
#pragma once

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "ferry/error.hpp"
#include "ferry/net.pb.h"
#include "ferry/nets/error.hpp"
#include "ferry/nets/proto_io.hpp"
#include "ferry/nets/upgrade.hpp"
#include "tests/log_lines.hpp"
#include "tests/unit/proto_world.hpp"

namespace ferry::testing {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;
using Catch::Matchers::Message;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;

/// By protobuf's own parser, not ours.
template <class M = NetParameter>
M Make(const std::string& text) {
  M message;
  REQUIRE(google::protobuf::TextFormat::ParseFromString(text, &message));
  return message;
}

/// The empty string where the two are the same message, and else what differs.
inline std::string Difference(const google::protobuf::Message& want, const google::protobuf::Message& got) {
  std::string report;
  google::protobuf::util::MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&report);
  return differencer.Compare(want, got) ? "" : report;
}

/// The error of an upgrade, which must leave the net as it was.
inline std::string UpgradeError(const std::string& text) {
  NetParameter net = Make(text);
  std::string what;
  try {
    UpgradeNetAsNeeded("a/net", &net);
  } catch (const NetError& error) {
    what = error.what();
  }
  CHECK(Difference(Make(text), net) == "");
  CHECK(what.starts_with("a/net: "));
  return what.substr(std::min<std::size_t>(what.size(), 7));
}

/// A file of Caffe's, or the test is skipped.
inline std::filesystem::path CaffeFile(const std::string& name) {
  std::filesystem::path file = std::filesystem::path(FERRY_CAFFE_DATA) / name;
  if (!std::filesystem::exists(file)) SKIP("there is no " << file << "; -DFERRY_CAFFE_DATA names the folder");
  return file;
}

}  // namespace ferry::testing
