// SPDX-License-Identifier: BSD-2-Clause
#include "core/proto/flaw.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <cstdint>

#include "core/proto/kind.hpp"
#include "ferry/error.hpp"

namespace ferry::detail {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;

/// protobuf's parser does not say where it stopped, so this walks the same fields once more.
class Scan {
 public:
  Scan(std::string_view bytes, const std::string& where)
      : in_(reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size())),
        where_(where) {}

  void Message(const Descriptor& type, int end) {
    if (++depth_ > kDeepest)
      Fail(in_.CurrentPosition(),
           "this " + type.name() + " is in more than " + std::to_string(kDeepest) + " messages");
    while (in_.CurrentPosition() < end) {
      const int begin = in_.CurrentPosition();
      std::uint32_t tag = 0;
      if (!in_.ReadVarint32(&tag) || WireFormatLite::GetTagFieldNumber(tag) == 0)
        Fail(begin, "no field of a " + type.name() + " begins here");
      Field(type, tag, begin, end);
    }
    --depth_;
  }

 private:
  void Field(const Descriptor& type, std::uint32_t tag, int begin, int end) {
    const int number = WireFormatLite::GetTagFieldNumber(tag);
    const FieldDescriptor* const field = type.FindFieldByNumber(number);
    const std::string name =
        type.name() + (field != nullptr ? "." + field->name() : " field " + std::to_string(number));
    if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      const bool is_group = WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_START_GROUP;
      if (!WireFormatLite::SkipField(&in_, tag))
        Fail(begin, name + (is_group ? " is a group without an end, or with too many groups in groups"
                                     : " is cut short, or no field at all"));
      return;
    }
    std::uint64_t length = 0;
    if (!in_.ReadVarint64(&length)) Fail(begin, name + " has a length that does not end");
    const int left = end - in_.CurrentPosition();
    if (left < 0 || length > static_cast<std::uint64_t>(left))
      Fail(begin,
           name + " says " + std::to_string(length) + " bytes, and " + std::to_string(left) + " are left");
    const int field_end = in_.CurrentPosition() + static_cast<int>(length);
    if (field != nullptr && field->message_type() != nullptr)
      Message(*field->message_type(), field_end);
    else if (field != nullptr && field->is_packable())
      Packed(*field, name, begin, field_end);
    else
      in_.Skip(static_cast<int>(length));
  }

  void Packed(const FieldDescriptor& field, const std::string& name, int begin, int end) {
    const int size = field.type() == FieldDescriptor::TYPE_DOUBLE  ? 8
                     : field.type() == FieldDescriptor::TYPE_FLOAT ? 4
                                                                   : 0;
    const int length = end - in_.CurrentPosition();
    if (size != 0) {
      if (length % size != 0)
        Fail(begin, name + " has " + std::to_string(length) + " bytes, and part of a number");
      in_.Skip(length);
      return;
    }
    std::uint64_t number = 0;
    while (in_.CurrentPosition() < end)
      if (!in_.ReadVarint64(&number) || in_.CurrentPosition() > end)
        Fail(begin, name + " has a number that does not end");
  }

  [[noreturn]] void Fail(int at, const std::string& what) const {
    throw FormatError(where_, static_cast<std::uint64_t>(at), what);
  }

  static constexpr int kDeepest = 100;  // as for the parser

  google::protobuf::io::CodedInputStream in_;
  int depth_ = -1;  ///< how many messages this one is in
  const std::string& where_;
};

}  // namespace

void ThrowFlaw(std::string_view bytes, const Descriptor& type, const std::string& where) {
  RequireKind(bytes, type, where);
  Scan(bytes, where).Message(type, static_cast<int>(bytes.size()));
  throw FormatError(where, bytes.size(), "this is not a " + type.name());
}

}  // namespace ferry::detail
