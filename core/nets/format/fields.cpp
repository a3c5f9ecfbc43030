// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/format/fields.hpp"

#include <google/protobuf/unknown_field_set.h>

#include <map>
#include <utility>

#include "ferry/log.hpp"

namespace ferry::detail {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using Counts = std::map<std::pair<std::string, int>, std::size_t>;

void Count(const Message& message, Counts* counts) {
  const auto* const reflection = message.GetReflection();
  const auto& unknown = reflection->GetUnknownFields(message);
  for (int i = 0; i < unknown.field_count(); ++i)
    ++(*counts)[{message.GetDescriptor()->name(), unknown.field(i).number()}];
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  for (const FieldDescriptor* const field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      Count(reflection->GetMessage(message, field), counts);
      continue;
    }
    for (int i = 0; i < reflection->FieldSize(message, field); ++i)
      Count(reflection->GetRepeatedMessage(message, field, i), counts);
  }
}

}  // namespace

std::string MissingField(const Message& message) {
  if (message.IsInitialized()) return "";
  std::vector<std::string> missing;
  message.FindInitializationErrors(&missing);
  return missing.front();
}

std::vector<std::string> UnknownFields(const Message& message) {
  Counts counts;
  Count(message, &counts);
  std::vector<std::string> fields;
  for (const auto& [field, times] : counts) {
    const std::string name = field.first + " field " + std::to_string(field.second);
    fields.push_back(times == 1 ? name : name + " (" + std::to_string(times) + " times)");
  }
  return fields;
}

void WarnOfUnknownFields(const Message& message, const std::string& where, const char* what_is_done) {
  constexpr std::size_t kMostNames = 20;
  const std::vector<std::string> fields = UnknownFields(message);
  if (fields.empty()) return;
  std::string line = where + ": these fields are unknown and " + what_is_done + ": ";
  for (std::size_t i = 0; i < fields.size() && i < kMostNames; ++i) line += (i == 0 ? "" : ", ") + fields[i];
  if (fields.size() > kMostNames) line += " and " + std::to_string(fields.size() - kMostNames) + " more";
  Log(LogLevel::kWarning, line);
}

}  // namespace ferry::detail
