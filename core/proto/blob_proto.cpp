// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>

#include "core/blob/reshaping.hpp"
#include "ferry/blob.hpp"
#include "ferry/error.hpp"
#include "ferry/proto.hpp"

namespace ferry {
namespace {

using detail::Reshaping;
using google::protobuf::RepeatedField;

bool HasLegacyDims(const BlobProto& proto) {
  return proto.has_num() || proto.has_channels() || proto.has_height() || proto.has_width();
}

Shape ShapeOf(const BlobProto& proto, const char* call) {
  if (HasLegacyDims(proto))
    return Shape({proto.num(), proto.channels(), proto.height(), proto.width()}, call);
  return Shape(proto.shape().dim(), call);
}

/// One part of a blob, in the precision that the message has it in.
struct Elements {
  const RepeatedField<double>& doubles;
  const RepeatedField<float>& floats;

  int size() const { return doubles.empty() ? floats.size() : doubles.size(); }
  template <class T>
  void CopyTo(T* out) const {  // by pointer, as the fields' iterators keep std::copy from being a memcpy
    doubles.empty() ? std::copy_n(floats.data(), floats.size(), out)
                    : std::copy_n(doubles.data(), doubles.size(), out);
  }
  void Require(std::int64_t count, const Shape& shape, const char* part) const {
    if (size() != count)
      throw ShapeError("Blob::FromProto: shape " + shape.ToString() + " and " + std::to_string(size()) +
                       " elements of " + part);
  }
};

/// Where a message has the elements of a Blob of T.
template <class T>
auto& FieldOf(RepeatedField<float>& floats, RepeatedField<double>& doubles) {
  if constexpr (std::same_as<T, float>)
    return floats;
  else
    return doubles;
}

}  // namespace

bool detail::ShapeEquals(const Shape& shape, const BlobProto& proto) {
  if (!HasLegacyDims(proto)) return shape == proto.shape().dim();
  // Caffe filled legacy dims up with ones at the front: a bias of 5 is 1 x 1 x 1 x 5.
  return shape.num_axes() <= 4 && shape.Legacy(-4) == proto.num() && shape.Legacy(-3) == proto.channels() &&
         shape.Legacy(-2) == proto.height() && shape.Legacy(-1) == proto.width();
}

template <class T>
void Blob<T>::FromProto(const BlobProto& proto, bool reshape)
  requires Real<T>
{
  const char* const call = "Blob::FromProto";
  const Shape proto_shape = ShapeOf(proto, call);
  if (!reshape && (data_ == nullptr || !ShapeEquals(proto)))
    throw ShapeError(std::string(call) + ": a message of shape " + proto_shape.ToString() + " for shape " +
                     shape_string());
  const Elements data{proto.double_data(), proto.data()}, diff{proto.double_diff(), proto.diff()};
  const Shape& shape = reshape ? proto_shape : shape_;
  data.Require(shape.count(), shape, "data");
  if (diff.size() != 0) diff.Require(shape.count(), shape, "diff");

  Reshaping reshaping(data_, diff_, bytes(), Bytes(shape, call), device());
  if (shape.count() != 0) {
    // Of the two accesses, the first must lose nothing if the second fails.
    const bool both = diff.size() != 0;
    void* const data_out =
        reshaping.Write(Reshaping::Part::kData, both ? Access::kReadWrite : Access::kOverwrite);
    if (both) diff.CopyTo(static_cast<T*>(reshaping.Write(Reshaping::Part::kDiff, Access::kOverwrite)));
    data.CopyTo(static_cast<T*>(data_out));
  }
  Commit(shape, reshaping);
}

template <class T>
void Blob<T>::ToProto(BlobProto* proto, bool write_diff) const
  requires Real<T>
{
  if (proto == nullptr) FailShape("a null pointer", "Blob::ToProto");
  if (data_ == nullptr || count_ > std::numeric_limits<int>::max())
    throw ShapeError("Blob::ToProto: a message cannot have shape " + shape_string());
  const T* const data = cpu_data();
  const T* const diff = write_diff ? cpu_diff() : nullptr;
  auto& data_field = FieldOf<T>(*proto->mutable_data(), *proto->mutable_double_data());
  auto& diff_field = FieldOf<T>(*proto->mutable_diff(), *proto->mutable_double_diff());
  // First all that allocates: a message for which there was no memory half-way would be broken.
  auto shape = std::make_unique<BlobShape>();
  shape->mutable_dim()->Add(shape_.begin(), shape_.end());
  data_field.Reserve(static_cast<int>(count_));
  if (write_diff) diff_field.Reserve(static_cast<int>(count_));

  proto->Clear();
  if (!shape_.empty()) proto->set_allocated_shape(shape.release());
  data_field.Add(data, data + count_);
  if (write_diff) diff_field.Add(diff, diff + count_);
}

template void Blob<float>::FromProto(const BlobProto&, bool);
template void Blob<float>::ToProto(BlobProto*, bool) const;
template void Blob<double>::FromProto(const BlobProto&, bool);
template void Blob<double>::ToProto(BlobProto*, bool) const;

}  // namespace ferry
