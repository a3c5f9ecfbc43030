// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ferry::report {

struct JsonMember;

/// A value of JSON. true, false and null are texts, as they are written.
struct Json {
  enum class Kind : std::uint8_t { kText, kNumber, kWord, kArray, kObject };
  Kind kind = Kind::kWord;
  std::string text;  ///< of a text; of a word; of a number, as it is written
  double number = 0;
  std::vector<Json> items;          ///< of an array
  std::vector<JsonMember> members;  ///< of an object

  /// Null where there is none.
  const Json* Find(std::string_view name) const noexcept;
  /// Of a member that is a text; else empty.
  std::string_view Text(std::string_view name) const noexcept;
  /// Of a member that is a number; else 0.
  double Number(std::string_view name) const noexcept;
};

struct JsonMember {
  std::string name;
  Json value;
};

/// The bytes end within a value.
struct Truncated : std::runtime_error {
  Truncated() : std::runtime_error("the file ends within a value") {}
};
/// The bytes are no JSON; says where.
struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Reads an array item by item, strictly, in one pass. An item has at most 1 MiB.
class ArrayReader {
 public:
  explicit ArrayReader(std::istream& in) : in_(*in.rdbuf()) {}

  /// nullopt at the array's end. Throws Truncated and Malformed.
  std::optional<Json> Next();

 private:
  int Peek();
  int Take();
  int Visible();
  void Expect(char c);
  [[noreturn]] void Refuse(const std::string& what) const;
  Json Value(int depth);
  std::string Text();
  void Escape(std::string& text);
  unsigned Unit();
  Json Number();
  Json Word();
  Json Array(int depth);
  Json Object(int depth);

  std::streambuf& in_;
  static constexpr std::uint64_t kLongest = std::uint64_t{1} << 20;
  std::uint64_t at_ = 0;    ///< of the next byte
  std::uint64_t item_ = 0;  ///< where the item began
  bool begun_ = false;
};

/// Appends the text as JSON that may stand within HTML's <script>.
void AppendText(std::string& json, std::string_view text);

}  // namespace ferry::report
