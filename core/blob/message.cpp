// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/detail/message.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>

#include "core/blob/reshaping.hpp"
#include "ferry/blob.hpp"
#include "ferry/error.hpp"

namespace ferry {
namespace {

using detail::Reshaping;

/// One part of a blob, in the precision that the message has it in.
struct Elements {
  std::span<const double> doubles;
  std::span<const float> floats;

  std::size_t size() const { return doubles.empty() ? floats.size() : doubles.size(); }
  template <class T>
  void CopyTo(T* out) const {
    doubles.empty() ? std::copy_n(floats.data(), floats.size(), out)
                    : std::copy_n(doubles.data(), doubles.size(), out);
  }
  void Require(const Shape& shape, const char* part) const {
    if (size() != static_cast<std::size_t>(shape.count()))
      throw ShapeError("Blob::FromProto: the message has " + std::to_string(size()) + " elements of " + part +
                       " for shape " + shape.ToString() + "; it must have " + std::to_string(shape.count()));
  }
};

/// protobuf counts elements in int.
void RequireCountable(const Shape& shape) {
  constexpr int kMost = std::numeric_limits<int>::max();
  if (shape.count() > kMost)
    throw ShapeError("Blob::ToProto: shape " + shape.ToString() + " has more than " + std::to_string(kMost) +
                     " elements, the most that a message can have");
}

}  // namespace

bool detail::ShapeEquals(const Shape& shape, const BlobContents& contents) {
  if (!contents.legacy) return shape == contents.dims();
  if (shape.num_axes() > 4) return false;
  const std::array filled_up{shape.Legacy(-4), shape.Legacy(-3), shape.Legacy(-2), shape.Legacy(-1)};
  return filled_up == contents.legacy_dims;
}

template <class T>
void Blob<T>::Take(const detail::BlobContents& contents, bool reshape, const Site& site) {
  const Shape message_shape(contents.dims(), "Blob::FromProto");
  if (!reshape && (!HasShape() || !detail::ShapeEquals(shape_, contents)))
    throw ShapeError("Blob::FromProto: the message has shape " + message_shape.ToString() +
                     ", this blob has " + Described() + "; they must be equal unless `reshape` is true");
  const Shape& shape = reshape ? message_shape : shape_;
  const Elements data{contents.double_data, contents.data}, diff{contents.double_diff, contents.diff};
  data.Require(shape, "data");
  if (diff.size() != 0) diff.Require(shape, "diff");

  Reshaping reshaping = Change(Bytes(shape, "Blob::FromProto"), site);
  if (shape.count() != 0) {
    constexpr std::array kParts{BlobPart::kData, BlobPart::kDiff};
    std::array<void*, 2> out{};
    reshaping.Write(std::span(kParts).first(diff.size() != 0 ? 2 : 1), out, site);
    data.CopyTo(static_cast<T*>(out[0]));
    if (diff.size() != 0) diff.CopyTo(static_cast<T*>(out[1]));
  }
  Commit(shape, reshaping);
}

template <class T>
void Blob<T>::RequireWritable(const void* message) const {
  if (message == nullptr)
    throw std::invalid_argument("Blob::ToProto: the pointer is null; give one to a message");
  if (!HasShape()) FailShapeless("Blob::ToProto");
  RequireCountable(shape_);
}

#define FERRY_INSTANTIATE(T)                                                   \
  template void Blob<T>::Take(const detail::BlobContents&, bool, const Site&); \
  template void Blob<T>::RequireWritable(const void*) const
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry
