// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/format/text.hpp"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>
#include <vector>

#include "core/nets/format/fields.hpp"
#include "ferry/nets/error.hpp"

namespace ferry::detail {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::TextFormat;

constexpr int kDeepest = 100;  // messages in messages; protobuf's own limit for binary ones

/// The first error, with its line and column as protobuf counts them: from 0.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
#if GOOGLE_PROTOBUF_VERSION >= 4022000
  void RecordError(int line, int column, absl::string_view what) override {
    Keep(line, column, std::string(what));
  }
#else
  void AddError(int line, int column, const std::string& what) override { Keep(line, column, what); }
#endif

  int line() const { return line_; }
  int column() const { return column_; }
  const std::string& what() const { return what_; }

 private:
  void Keep(int line, int column, const std::string& what) {
    if (!what_.empty()) return;
    line_ = line;
    column_ = column;
    what_ = what;
  }

  int line_ = 0;
  int column_ = 0;
  std::string what_;
};

/// Turns protobuf's lines and columns into places in the text, and those into what an editor shows.
class Places {
 public:
  explicit Places(std::string_view text) : text_(text) {}

  std::size_t At(int line, int column) const {
    std::size_t at = 0;
    for (; line > 0 && at < text_.size(); ++at)
      if (text_[at] == '\n') --line;
    constexpr int kTab = 8;  // which protobuf counts a tab as
    for (int passed = 0; passed < column && at < text_.size() && text_[at] != '\n'; ++at)
      passed = text_[at] == '\t' ? (passed / kTab + 1) * kTab : passed + 1;
    return at;
  }
  std::string Name(std::size_t at) const {
    const std::string_view before = text_.substr(0, at);
    const auto lines = std::count(before.begin(), before.end(), '\n');
    const std::size_t begin = before.rfind('\n') + 1;  // 0 where there is none
    return std::to_string(lines + 1) + ':' + std::to_string(at - begin + 1);
  }
  /// Where the word stands last before `end`.
  std::optional<std::size_t> Before(std::size_t end, const std::string& word) const {
    const auto of_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    if (word.empty()) return std::nullopt;
    const std::string_view before = text_.substr(0, end);
    for (std::size_t at = before.rfind(word); at != std::string_view::npos;
         at = at == 0 ? std::string_view::npos : before.rfind(word, at - 1)) {
      const std::size_t after = at + word.size();
      if ((at == 0 || !of_word(text_[at - 1])) && (after == text_.size() || !of_word(text_[after])))
        return at;
    }
    return std::nullopt;
  }

 private:
  std::string_view text_;
};

std::vector<std::string> Quoted(const std::string& what) {
  std::vector<std::string> words;
  for (std::size_t at = what.find('"'); at != std::string::npos;) {
    const std::size_t end = what.find('"', at + 1);
    if (end == std::string::npos) break;
    words.push_back(what.substr(at + 1, end - at - 1));
    at = what.find('"', end + 1);
  }
  return words;
}

/// protobuf sees a wrong name when it has read past it, and gives the place of what follows: on the next
/// line, perhaps. The name is in its text.
std::size_t PlaceOf(const FirstError& error, const Places& places) {
  const std::size_t reported = places.At(error.line(), error.column());
  const std::string& what = error.what();
  const bool is_late = what.find("has no field named") != std::string::npos ||
                       what.find("nknown enumeration value") != std::string::npos ||
                       what.find("Invalid value for boolean") != std::string::npos ||
                       what.find("is specified multiple times") != std::string::npos;
  std::optional<std::size_t> nearest;
  if (is_late)
    for (const std::string& word : Quoted(what)) nearest = std::max(nearest, places.Before(reported, word));
  return nearest.value_or(reported);
}

/// Caffe's names, without the namespace that they have here.
std::string WithoutNamespace(std::string what) {
  constexpr std::string_view kNamespace = "\"ferry.";
  for (std::size_t at = what.find(kNamespace); at != std::string::npos; at = what.find(kNamespace, at))
    what.erase(at + 1, kNamespace.size() - 1);
  return what;
}

bool Parse(std::string_view text, TextFormat::Parser* parser, Message* message) {
  google::protobuf::io::ArrayInputStream in(text.data(), static_cast<int>(text.size()));
  parser->SetRecursionLimit(kDeepest);
  parser->AllowPartialMessage(true);
  return parser->Parse(&in, message);
}

/// Where the message begins that lacks a required field.
TextFormat::ParseLocation Lacking(const Message& message, const TextFormat::ParseInfoTree& tree,
                                  TextFormat::ParseLocation begin) {
  const auto* const reflection = message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  for (const FieldDescriptor* const field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    const int size = field->is_repeated() ? reflection->FieldSize(message, field) : 1;
    for (int i = 0; i < size; ++i) {
      const int index = field->is_repeated() ? i : -1;
      const Message& inner = field->is_repeated() ? reflection->GetRepeatedMessage(message, field, i)
                                                  : reflection->GetMessage(message, field);
      const TextFormat::ParseInfoTree* const nested = tree.GetTreeForNested(field, index);
      if (!inner.IsInitialized() && nested != nullptr)
        return Lacking(inner, *nested, tree.GetLocation(field, index));
    }
  }
  return begin;
}

[[noreturn]] void ThrowMissing(std::string_view text, const std::string& name, const std::string& missing,
                               const Message& message) {
  // Read once more: the places of a long text's numbers would cost more than the numbers.
  const std::unique_ptr<Message> again(message.New());
  TextFormat::ParseInfoTree tree;
  TextFormat::Parser parser;
  parser.WriteLocationsTo(&tree);
  Parse(text, &parser, again.get());
  const TextFormat::ParseLocation begin = Lacking(*again, tree, {0, 0});
  const Places places(text);
  throw NetError(name + ':' + places.Name(places.At(begin.line, begin.column)) + ": the required field " +
                 missing + " is missing");
}

}  // namespace

void ParseText(std::string_view text, const std::string& name, Message* message) {
  const std::unique_ptr<Message> read(message->New());
  FirstError error;
  TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (!Parse(text, &parser, read.get())) {
    if (text.substr(0, 512).find('\0') != std::string_view::npos)
      throw NetError(name + ": this is binary, and not the text of a " + message->GetDescriptor()->name() +
                     "; read it by the function for binary files");
    const Places places(text);
    throw NetError(name + ':' + places.Name(PlaceOf(error, places)) + ": " + WithoutNamespace(error.what()));
  }
  const std::string missing = MissingField(*read);
  if (!missing.empty()) ThrowMissing(text, name, missing, *read);
  message->GetReflection()->Swap(message, read.get());
}

}  // namespace ferry::detail
