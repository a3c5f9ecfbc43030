// SPDX-License-Identifier: BSD-2-Clause
#include "core/proto/kind.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "ferry/error.hpp"

namespace ferry::detail {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;
using Wire = WireFormatLite::WireType;

constexpr Wire kNumber = WireFormatLite::WIRETYPE_VARINT;
constexpr Wire kBytes = WireFormatLite::WIRETYPE_LENGTH_DELIMITED;

/// The fields of a message itself, not of those in it, up to where it ends or can't be read on.
class Outline {
 public:
  explicit Outline(std::string_view bytes) {
    google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                              static_cast<int>(bytes.size()));
    for (int begin = 0;; begin = in.CurrentPosition()) {
      const std::uint32_t tag = in.ReadTag();
      if (tag == 0) break;
      first_.try_emplace({WireFormatLite::GetTagFieldNumber(tag), WireFormatLite::GetTagWireType(tag)},
                         begin);
      if (!WireFormatLite::SkipField(&in, tag)) break;
    }
  }

  bool Has(int number, Wire wire) const { return first_.contains({number, wire}); }
  /// Whether it has fields, and none of a number over this.
  bool HasNoneOver(int number) const { return !first_.empty() && first_.rbegin()->first.first <= number; }
  bool HasNoneBetween(int low, int high) const {
    return std::none_of(first_.begin(), first_.end(), [=](const auto& field) {
      return field.first.first > low && field.first.first < high;
    });
  }
  /// By number and wire type: the first byte of the first such field.
  const std::map<std::pair<int, Wire>, int>& fields() const { return first_; }

 private:
  std::map<std::pair<int, Wire>, int> first_;
};

struct Kind {
  std::string_view type;
  const char* name;
  const char* reader;
  bool (*is)(const Outline&);
};

constexpr Kind kKinds[] = {
    // Its layers, or those of the form before, which a solver's state has a file's name in place of.
    {"NetParameter", "a NetParameter (a .caffemodel)",
     "by Caffe's messages, and give its blobs to Blob::FromProto",
     [](const Outline& o) { return o.Has(100, kBytes) || (o.Has(2, kBytes) && !o.Has(1, kNumber)); }},
    {"SolverState", "a SolverState (a .solverstate)",
     "by Caffe's messages, and give its history to Blob::FromProto",
     [](const Outline& o) {
       return o.HasNoneBetween(4, 1000) && o.HasNoneOver(1001) &&  // Ferry's own are 1000 and 1001
              o.Has(1, kNumber) && (o.Has(2, kBytes) || o.Has(3, kBytes));
     }},
    {"BlobProtoVector", "a BlobProtoVector", "by ReadBlobProtoVector",
     [](const Outline& o) { return o.HasNoneOver(1) && o.Has(1, kBytes); }},
    {"BlobProto", "a BlobProto", "by ReadBlobProto",
     [](const Outline& o) { return !o.Has(1, kBytes) && (o.Has(5, kBytes) || o.Has(7, kBytes)); }},
};

bool Fits(const FieldDescriptor& field, Wire wire) {
  const auto type = static_cast<WireFormatLite::FieldType>(field.type());
  return wire == WireFormatLite::WireTypeForFieldType(type) || (wire == kBytes && field.is_packable());
}

/// Whether the type has each field: then this is one of its messages, even if another kind is like it so far.
bool HasAll(const Descriptor& type, const Outline& outline) {
  return std::all_of(outline.fields().begin(), outline.fields().end(), [&](const auto& field) {
    const FieldDescriptor* const known = type.FindFieldByNumber(field.first.first);
    return known != nullptr && Fits(*known, field.first.second);
  });
}

/// A field of the type's number must be what the number stands for, and there must be one.
void RequireFields(const Outline& outline, const Descriptor& type, const std::string& where) {
  const std::string other = ": this is a message of another kind";
  bool any = false;
  for (const auto& [field, begin] : outline.fields()) {
    const FieldDescriptor* const known = type.FindFieldByNumber(field.first);
    if (known != nullptr && !Fits(*known, field.second))
      throw FormatError(
          where, static_cast<std::uint64_t>(begin),
          "field " + std::to_string(field.first) + " is not " + type.name() + "." + known->name() + other);
    any |= known != nullptr;
  }
  if (!any && !outline.fields().empty())
    throw FormatError(where, 0, "no field of a " + type.name() + " is here" + other);
}

[[noreturn]] void FailKind(const std::string& name, const Descriptor& type, const std::string& reader,
                           const std::string& where) {
  throw FormatError(where, 0, "this is " + name + ", and not a " + type.name() + "; read it " + reader);
}

}  // namespace

void RequireKind(std::string_view bytes, const Descriptor& type, const std::string& where) {
  if (bytes.starts_with("\x89HDF\r\n\x1a\n")) FailKind("an HDF5 file", type, "by HDF5's own library", where);
  const Outline outline(bytes);
  const Kind* const kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                        [&](const Kind& candidate) { return candidate.is(outline); });
  if (kind != std::end(kKinds) && kind->type != type.name() && !HasAll(type, outline))
    FailKind(kind->name, type, kind->reader, where);
  RequireFields(outline, type, where);
}

}  // namespace ferry::detail
