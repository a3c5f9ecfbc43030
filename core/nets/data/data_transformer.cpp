// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/data/data_transformer.hpp"

#include <cstddef>
#include <utility>

#include "core/nets/data/random_items.hpp"
#include "ferry/detail/instruction_set.hpp"
#include "ferry/nets/error.hpp"
#include "ferry/proto.hpp"

namespace ferry::detail {
namespace {

std::string Dims(std::int64_t channels, std::int64_t height, std::int64_t width) {
  return std::to_string(channels) + " x " + std::to_string(height) + " x " + std::to_string(width);
}

/// Rows of channels x height, and where they come from and go.
template <class T, class In>
struct Rows {
  const In* from;  ///< the first element that is written
  std::int64_t channels, height, width;
  std::int64_t channel_step, row_step, column_step;
  const T* mean;  ///< of the same element
  std::int64_t mean_channel_step, mean_row_step;
  T scale;
  T* to;
};

/// to[w] = (from[w] - mean[w]) * scale, from left to right or from right to left. kStep is the column step,
/// or 0 where only the rows know it; where they have a step of 0, kMeanRow is false and the mean one of a
/// channel.
template <std::int64_t kStep, bool kMirror, bool kMeanRow, class T, class In>
struct WriteRows {
  static constexpr InstructionSet kWidest = InstructionSet::kAvx2;
  Rows<T, In> rows;

  void operator()(std::int64_t first, std::int64_t last) const {
    for (std::int64_t row = first; row < last; ++row) {
      const std::int64_t c = row / rows.height;
      const std::int64_t h = row % rows.height;
      Write(rows.from + c * rows.channel_step + h * rows.row_step,
            rows.mean + c * rows.mean_channel_step + h * rows.mean_row_step, rows.to + row * rows.width);
    }
  }
  void Write(const In* from, const T* mean, T* to) const {
    constexpr std::int64_t kRun = 16;  // a count known to the compiler is vectorised at -O2 too
    const std::int64_t step = kStep != 0 ? kStep : rows.column_step;
    std::int64_t w = 0;
    for (; w + kRun <= rows.width; w += kRun)
      WriteRun<kRun>(from + w * step, kMeanRow ? mean + w : mean, to + (kMirror ? rows.width - kRun - w : w));
    for (; w < rows.width; ++w)
      WriteRun<1>(from + w * step, kMeanRow ? mean + w : mean, to + (kMirror ? rows.width - 1 - w : w));
  }
  template <std::int64_t kCount>
  void WriteRun(const In* __restrict from, const T* __restrict mean, T* __restrict to) const {
    const std::int64_t step = kStep != 0 ? kStep : rows.column_step;
    const T scale = rows.scale;
    const T one = *mean;
    for (std::int64_t w = 0; w < kCount; ++w)
      to[kMirror ? kCount - 1 - w : w] =
          (static_cast<T>(from[w * step]) - (kMeanRow ? mean[w] : one)) * scale;
  }
};

template <std::int64_t kStep, class T, class In>
void WriteAll(const Rows<T, In>& rows, bool mirror) {
  const std::int64_t count = rows.channels * rows.height;
  if (mirror && rows.mean_row_step != 0)
    Run(WriteRows<kStep, true, true, T, In>{rows}, 0, count);
  else if (mirror)
    Run(WriteRows<kStep, true, false, T, In>{rows}, 0, count);
  else if (rows.mean_row_step != 0)
    Run(WriteRows<kStep, false, true, T, In>{rows}, 0, count);
  else
    Run(WriteRows<kStep, false, false, T, In>{rows}, 0, count);
}

}  // namespace

/// Where the element of a channel, row and column is.
template <class T>
template <class In>
struct DataTransformer<T>::Elements {
  const In* data;
  std::int64_t channels, height, width;
  std::int64_t channel_step, row_step, column_step;
};

template <class T>
DataTransformer<T>::DataTransformer(const TransformationParameter& param, Phase phase)
    : param_(param), phase_(phase), mean_values_(param.mean_value().begin(), param.mean_value().end()) {
  if (!param.has_mean_file()) return;
  if (!mean_values_.empty())
    throw NetError("transform_param has both mean_file '" + param.mean_file() +
                   "' and mean_value; say one of them");
  Blob<T> mean(GetDevice("host"));
  try {
    mean.FromProto(ReadBlobProto(param.mean_file()));
  } catch (const Error& error) {
    throw NetError(std::string("transform_param's mean_file: ") + error.what());
  }
  if (mean.num_axes() > 4)
    throw NetError("mean_file " + param.mean_file() + " has shape " + mean.shape_string() +
                   "; a mean has the shape 1 x channels x height x width");
  mean_channels_ = mean.channels();
  mean_height_ = mean.height();
  mean_width_ = mean.width();
  mean_.assign(mean.cpu_data(), mean.cpu_data() + mean_channels_ * mean_height_ * mean_width_);
}

template <class T>
Image DataTransformer<T>::Decode(const Datum& datum, const std::string& name) const {
  if (param_.force_color() && param_.force_gray())
    throw NetError("transform_param has both force_color and force_gray; say one of them");
  ImageColor color = ImageColor::kAsStored;
  if (param_.force_color()) color = ImageColor::kColor;
  if (param_.force_gray()) color = ImageColor::kGray;
  return DecodeImage(datum.data(), color, name);
}

template <class T>
Shape DataTransformer<T>::Cropped(std::int64_t channels, std::int64_t height, std::int64_t width,
                                  const std::string& name) const {
  const std::int64_t crop = param_.crop_size();
  if (channels <= 0 || height <= 0 || width <= 0)
    throw NetError(name + ": is " + Dims(channels, height, width) +
                   "; channels, height and width are 1 or more");
  if (crop > height || crop > width)
    throw NetError(name + ": is " + Dims(channels, height, width) +
                   ", too small for transform_param's crop_size of " + std::to_string(crop));
  return {1, channels, crop == 0 ? height : crop, crop == 0 ? width : crop};
}

template <class T>
Shape DataTransformer<T>::ShapeOf(const Datum& datum, const std::string& name) const {
  return Cropped(datum.channels(), datum.height(), datum.width(), name);
}

template <class T>
Shape DataTransformer<T>::ShapeOf(const Image& image, const std::string& name) const {
  return Cropped(image.channels, image.height, image.width, name);
}

template <class T>
void DataTransformer<T>::RequireMean(std::int64_t channels, std::int64_t height, std::int64_t width,
                                     const std::string& name) const {
  if (!mean_.empty() && (channels != mean_channels_ || height != mean_height_ || width != mean_width_))
    throw NetError(name + ": is " + Dims(channels, height, width) + ", but the mean of " +
                   param_.mean_file() + " is " + Dims(mean_channels_, mean_height_, mean_width_) +
                   "; they must be equal");
  if (mean_values_.size() > 1 && std::cmp_not_equal(mean_values_.size(), channels))
    throw NetError(name + ": has " + std::to_string(channels) + " channels, and transform_param has " +
                   std::to_string(mean_values_.size()) + " of mean_value; say one, or one for each channel");
}

template <class T>
template <class In>
void DataTransformer<T>::Write(const Elements<In>& from, const Item& item, const Shape& shape, T* to) const {
  const Shape own = Cropped(from.channels, from.height, from.width, item.name);
  if (own.count(1, 4) != shape.count(1, shape.num_axes()) || own[1] != shape[1] || own[2] != shape[2])
    throw NetError(item.name + ": gives " + Dims(own[1], own[2], own[3]) + " in a batch of " +
                   Dims(shape[1], shape[2], shape[3]) +
                   "; the items of a batch must be alike, or cropped to one size");
  RequireMean(from.channels, from.height, from.width, item.name);
  const std::int64_t height = own[2];
  const std::int64_t width = own[3];
  std::int64_t top = (from.height - height) / 2;
  std::int64_t left = (from.width - width) / 2;
  const auto draw = [&item](ItemDraw what, std::int64_t n) {
    return static_cast<std::int64_t>(DrawForItem(item.key, item.number, what, static_cast<std::uint64_t>(n)));
  };
  if (phase_ == TRAIN && param_.crop_size() != 0) {
    top = draw(ItemDraw::kCropRow, from.height - height + 1);
    left = draw(ItemDraw::kCropColumn, from.width - width + 1);
  }
  const bool mirror = param_.mirror() && draw(ItemDraw::kMirror, 2) == 1;
  const T scale = static_cast<T>(param_.scale());
  const T none = 0;
  Rows<T, In> rows{from.data + top * from.row_step + left * from.column_step,
                   own[1],
                   height,
                   width,
                   from.channel_step,
                   from.row_step,
                   from.column_step,
                   &none,
                   0,
                   0,
                   scale,
                   to};
  if (!mean_.empty()) {
    rows.mean = mean_.data() + top * from.width + left;
    rows.mean_channel_step = from.height * from.width;
    rows.mean_row_step = from.width;
  } else if (!mean_values_.empty()) {
    rows.mean = mean_values_.data();
    rows.mean_channel_step = mean_values_.size() == 1 ? 0 : 1;
  }
  from.column_step == 1 ? WriteAll<1>(rows, mirror) : WriteAll<0>(rows, mirror);
}

template <class T>
void DataTransformer<T>::Transform(const Datum& datum, const Item& item, const Shape& shape, T* to) const {
  const std::int64_t channels = datum.channels();
  const std::int64_t height = datum.height();
  const std::int64_t width = datum.width();
  const bool bytes = !datum.data().empty();
  const std::size_t count = bytes ? datum.data().size() : static_cast<std::size_t>(datum.float_data_size());
  Cropped(channels, height, width, item.name);
  if (std::cmp_not_equal(count, Shape{channels, height, width}.count()))
    throw NetError(item.name + ": is " + Dims(channels, height, width) + ", and has " +
                   std::to_string(count) + (bytes ? " bytes" : " numbers") +
                   "; it must have one for each element");
  if (bytes) {
    const auto* const data = reinterpret_cast<const std::uint8_t*>(datum.data().data());
    Write<std::uint8_t>({data, channels, height, width, height * width, width, 1}, item, shape, to);
  } else {
    Write<float>({datum.float_data().data(), channels, height, width, height * width, width, 1}, item, shape,
                 to);
  }
}

template <class T>
void DataTransformer<T>::Transform(const Image& image, const Item& item, const Shape& shape, T* to) const {
  Write<std::uint8_t>({image.pixels, image.channels, image.height, image.width, 1,
                       static_cast<std::int64_t>(image.row_bytes), image.channels},
                      item, shape, to);
}

template class DataTransformer<float>;
template class DataTransformer<double>;

}  // namespace ferry::detail
