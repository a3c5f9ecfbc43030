// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/nets/data/image.hpp"
#include "ferry/blob.hpp"
#include "ferry/data.pb.h"
#include "ferry/net_state.pb.h"
#include "ferry/nets/random.hpp"

namespace ferry::detail {

/// Which item is transformed: for its random numbers, and for errors.
struct Item {
  RandomKey key;         ///< the layer's
  std::uint64_t number;  ///< counted from the first one of training on
  std::string name;      ///< its file or its database's key
};

/// Items of channels x height x width: minus a mean, times a scale, of which a part, perhaps mirrored.
/// Caffe's DataTransformer, where the random numbers are functions of the item. A crop is random in training
/// and in the middle in tests; a mirror is random in both. Throws NetError. For one thread at a time.
template <class T>
class DataTransformer {
 public:
  DataTransformer(const TransformationParameter& param, Phase phase);

  /// The image of a datum that is encoded, in the colours that the parameter asks for.
  Image Decode(const Datum& datum, const std::string& name) const;
  /// Of a batch of one: 1 x channels x height x width of what Transform writes for such an item. A datum that
  /// is encoded has to be decoded first.
  Shape ShapeOf(const Datum& datum, const std::string& name) const;
  Shape ShapeOf(const Image& image, const std::string& name) const;
  /// `to` has room for ShapeOf, which must be `shape` apart from its first dim.
  void Transform(const Datum& datum, const Item& item, const Shape& shape, T* to) const;
  void Transform(const Image& image, const Item& item, const Shape& shape, T* to) const;

 private:
  template <class In>
  struct Elements;

  Shape Cropped(std::int64_t channels, std::int64_t height, std::int64_t width,
                const std::string& name) const;
  void RequireMean(std::int64_t channels, std::int64_t height, std::int64_t width,
                   const std::string& name) const;
  template <class In>
  void Write(const Elements<In>& from, const Item& item, const Shape& shape, T* to) const;

  const TransformationParameter param_;
  const Phase phase_;
  std::int64_t mean_channels_ = 0, mean_height_ = 0, mean_width_ = 0;
  std::vector<T> mean_;         ///< of mean_file; or none
  std::vector<T> mean_values_;  ///< one, one for each channel, or none
};

extern template class DataTransformer<float>;
extern template class DataTransformer<double>;

}  // namespace ferry::detail
