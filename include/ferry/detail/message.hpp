// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "ferry/shape.hpp"

namespace ferry {

/// A BlobShape of any package: ferry's, or what protoc makes of Caffe's caffe.proto.
template <class M>
concept ShapeMessage = requires(const M& message) {
                         { message.dim().data() } -> std::same_as<const std::int64_t*>;
                       };

/// A BlobProto of any package, with Caffe's fields.
template <class M>
concept BlobMessage =
    requires(const M& message, M& result) {
      { *result.mutable_shape() } -> ShapeMessage;
      std::array<std::int64_t, 4>{message.num(), message.channels(), message.height(), message.width()};
      message.has_num() && message.has_channels() && message.has_height() && message.has_width();
      { message.data().data() } -> std::same_as<const float*>;
      { message.diff().data() } -> std::same_as<const float*>;
      { message.double_data().data() } -> std::same_as<const double*>;
      { message.double_diff().data() } -> std::same_as<const double*>;
    };

namespace detail {

/// What a Blob takes from a message, which must stay as it is meanwhile.
struct BlobContents {
  /// Dims of files from before there was a shape: num, channels, height and width. Where one of them is
  /// present, they count and the shape does not.
  bool legacy;
  std::array<std::int64_t, 4> legacy_dims;
  std::span<const std::int64_t> shape_dims;
  std::span<const float> data, diff;
  std::span<const double> double_data, double_diff;

  std::span<const std::int64_t> dims() const noexcept {
    return legacy ? std::span<const std::int64_t>(legacy_dims) : shape_dims;
  }
};

template <BlobMessage M>
BlobContents ContentsOf(const M& message) {
  const auto all = [](const auto& field) {
    return std::span(field.data(), static_cast<std::size_t>(field.size()));
  };
  return {message.has_num() || message.has_channels() || message.has_height() || message.has_width(),
          {message.num(), message.channels(), message.height(), message.width()},
          all(message.shape().dim()),
          all(message.data()),
          all(message.diff()),
          all(message.double_data()),
          all(message.double_diff())};
}

/// Caffe filled legacy dims up with ones at the front: a bias of 5 is 1 x 1 x 1 x 5.
bool ShapeEquals(const Shape& shape, const BlobContents& contents);

/// The message then has this shape, `data`, and `diff` unless it is null, and nothing else: floats as data,
/// doubles as double_data. `shape` has at most 2^31 - 1 elements. One that throws has changed nothing.
template <class T, BlobMessage M>
void Write(const Shape& shape, const T* data, const T* diff, M& message) {
  constexpr auto field_of = []([[maybe_unused]] auto* floats, [[maybe_unused]] auto* doubles) {
    if constexpr (std::same_as<T, float>)
      return floats;
    else
      return doubles;
  };
  auto* const data_field = field_of(message.mutable_data(), message.mutable_double_data());
  auto* const diff_field = field_of(message.mutable_diff(), message.mutable_double_diff());
  // First all that allocates: a message for which there was no memory half-way would be broken.
  auto dims = std::make_unique<std::remove_cvref_t<decltype(message.shape())>>();
  dims->mutable_dim()->Add(shape.begin(), shape.end());
  data_field->Reserve(static_cast<int>(shape.count()));
  if (diff != nullptr) diff_field->Reserve(static_cast<int>(shape.count()));

  message.Clear();
  if (!shape.empty()) message.set_allocated_shape(dims.release());
  data_field->Add(data, data + shape.count());
  if (diff != nullptr) diff_field->Add(diff, diff + shape.count());
}

}  // namespace detail
}  // namespace ferry
