// SPDX-License-Identifier: BSD-2-Clause
#include "tools/report/json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace ferry::report {
namespace {

constexpr int kEnd = std::char_traits<char>::eof();
constexpr int kDeepest = 16;

bool IsDigit(int c) noexcept { return c >= '0' && c <= '9'; }

void AppendUtf8(std::string& text, unsigned code) {
  const auto add = [&](unsigned byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      add(0xE0 | code >> 12);
    } else {
      add(0xF0 | code >> 18);
      add(0x80 | (code >> 12 & 0x3F));
    }
    add(0x80 | (code >> 6 & 0x3F));
  }
  add(0x80 | (code & 0x3F));
}

}  // namespace

const Json* Json::Find(std::string_view name) const noexcept {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const JsonMember& member) { return member.name == name; });
  return found == members.end() ? nullptr : &found->value;
}
std::string_view Json::Text(std::string_view name) const noexcept {
  const Json* const found = Find(name);
  return found != nullptr && found->kind == Kind::kText ? std::string_view(found->text) : "";
}
double Json::Number(std::string_view name) const noexcept {
  const Json* const found = Find(name);
  return found != nullptr && found->kind == Kind::kNumber ? found->number : 0;
}

std::optional<Json> ArrayReader::Next() {
  const bool first = !std::exchange(begun_, true);
  if (first) Expect('[');
  if (Visible() == ']') {
    Take();
    if (Visible() != kEnd) Refuse("something follows the array");
    return std::nullopt;
  }
  if (!first) Expect(',');
  item_ = at_;
  return Value(0);
}

int ArrayReader::Peek() { return in_.sgetc(); }
int ArrayReader::Take() {
  const int c = in_.sbumpc();
  if (c == kEnd) throw Truncated();
  if (++at_ - item_ > kLongest) Refuse("a value is longer than 1 MiB");
  return c;
}
int ArrayReader::Visible() {
  for (;; Take())
    if (const int c = Peek(); c != ' ' && c != '\n' && c != '\r' && c != '\t') return c;
}
void ArrayReader::Expect(char c) {
  Visible();
  if (const int is = Take(); is != static_cast<unsigned char>(c)) {
    --at_;
    Refuse(std::string("a ") + c + " is missing");
  }
}
void ArrayReader::Refuse(const std::string& what) const {
  throw Malformed("at byte " + std::to_string(at_) + " " + what);
}

Json ArrayReader::Value(int depth) {
  if (depth > kDeepest) Refuse("values are nested too deeply");
  const int c = Visible();
  if (c == kEnd) throw Truncated();
  if (c == '{') return Object(depth);
  if (c == '[') return Array(depth);
  if (c == '"') return {.kind = Json::Kind::kText, .text = Text(), .items = {}, .members = {}};
  return c == '-' || IsDigit(c) ? Number() : Word();
}

Json ArrayReader::Object(int depth) {
  Json object{.kind = Json::Kind::kObject, .text = {}, .items = {}, .members = {}};
  Take();
  if (Visible() == '}') return Take(), object;
  for (;;) {
    if (const int c = Visible(); c != '"' && c != kEnd) Refuse("a name is missing");
    std::string name = Text();
    Expect(':');
    object.members.push_back({std::move(name), Value(depth + 1)});
    if (Visible() == '}') return Take(), object;
    Expect(',');
  }
}

Json ArrayReader::Array(int depth) {
  Json array{.kind = Json::Kind::kArray, .text = {}, .items = {}, .members = {}};
  Take();
  if (Visible() == ']') return Take(), array;
  for (;;) {
    array.items.push_back(Value(depth + 1));
    if (Visible() == ']') return Take(), array;
    Expect(',');
  }
}

std::string ArrayReader::Text() {
  std::string text;
  Take();
  for (;;) {
    const int c = Take();
    if (c == '"') return text;
    if (c < 0x20) Refuse("a text has a character that must be escaped");
    if (c == '\\')
      Escape(text);
    else
      text += static_cast<char>(c);
  }
}

void ArrayReader::Escape(std::string& text) {
  constexpr std::string_view kNames = "\"\\/bfnrt", kValues = "\"\\/\b\f\n\r\t";
  const int c = Take();
  if (const auto known = kNames.find(static_cast<char>(c)); known != std::string_view::npos) {
    text += kValues[known];
    return;
  }
  if (c != 'u') Refuse("there is an unknown escape");
  unsigned code = Unit();
  if (code >= 0xD800 && code < 0xDC00) {
    const bool second = Take() == '\\' && Take() == 'u';
    const unsigned low = second ? Unit() : 0;
    if (low < 0xDC00 || low > 0xDFFF) Refuse("there is half of a pair of UTF-16");
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  } else if (code >= 0xDC00 && code < 0xE000) {
    Refuse("there is half of a pair of UTF-16");
  }
  AppendUtf8(text, code);
}

unsigned ArrayReader::Unit() {
  unsigned code = 0;
  for (int i = 0; i < 4; ++i) {
    const int c = Take();
    const int letter = c | 0x20;
    if (!IsDigit(c) && (letter < 'a' || letter > 'f')) Refuse("\\u wants four hexadecimal digits");
    code = code * 16 + static_cast<unsigned>(IsDigit(c) ? c - '0' : letter - 'a' + 10);
  }
  return code;
}

Json ArrayReader::Number() {
  Json number{.kind = Json::Kind::kNumber, .text = {}, .items = {}, .members = {}};
  const auto digits = [&] {
    if (Peek() == kEnd) throw Truncated();
    if (!IsDigit(Peek())) Refuse("a number wants a digit");
    while (IsDigit(Peek())) number.text += static_cast<char>(Take());
  };
  if (Peek() == '-') number.text += static_cast<char>(Take());
  if (Peek() == '0')
    number.text += static_cast<char>(Take());
  else
    digits();
  if (Peek() == '.') {
    number.text += static_cast<char>(Take());
    digits();
  }
  if (Peek() == 'e' || Peek() == 'E') {
    number.text += static_cast<char>(Take());
    if (Peek() == '-' || Peek() == '+') number.text += static_cast<char>(Take());
    digits();
  }
  if (Peek() == kEnd) throw Truncated();                      // more digits may have followed
  number.number = std::strtod(number.text.c_str(), nullptr);  // the program leaves the locale "C" as it is
  if (!std::isfinite(number.number)) Refuse("a number is out of range");
  return number;
}

Json ArrayReader::Word() {
  Json word;
  while (Peek() >= 'a' && Peek() <= 'z' && word.text.size() < 5) word.text += static_cast<char>(Take());
  if (Peek() == kEnd) throw Truncated();
  if (word.text != "true" && word.text != "false" && word.text != "null") Refuse("there is no value");
  return word;
}

void AppendText(std::string& json, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  json += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || c == '<' || c == '>' || c == '&') {
      ((json += "\\u00") += kHex[byte >> 4]) += kHex[byte & 15];
      continue;
    }
    if (c == '"' || c == '\\') json += '\\';
    json += c;
  }
  json += '"';
}

}  // namespace ferry::report
