// SPDX-License-Identifier: BSD-2-Clause
#include <charconv>
#include <cstddef>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/nets/data/data_transformer.hpp"
#include "core/nets/data/prefetching_layer.hpp"
#include "core/nets/data/random_items.hpp"
#include "core/nets/layers/layers.hpp"
#include "ferry/nets/error.hpp"

namespace ferry::detail {
namespace {

struct LabelledFile {
  std::string name;
  int label;
};

/// Lines of "<file> <label>"; a file's name may have blanks. Throws NetError with the line.
std::vector<LabelledFile> ReadImageList(const std::string& source) {
  std::ifstream in(source);
  if (!in)
    throw NetError("image_data_param's source '" + source + "': cannot be opened; it is a list of images");
  std::vector<LabelledFile> files;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (line.empty()) continue;
    const std::size_t blank = line.find_last_of(" \t");
    int label = 0;
    const char* const end = line.data() + line.size();
    const char* const begin = line.data() + (blank == std::string::npos ? 0 : blank + 1);
    const auto [after, error] = std::from_chars(begin, end, label);
    if (blank == std::string::npos || blank == 0 || error != std::errc{} || after != end)
      // NOLINTNEXTLINE(performance-inefficient-string-concatenation): once
      throw NetError(source + ":" + std::to_string(number) + ": '" + line +
                     "' does not end in a label; a line is a file, a blank and a whole number");
    line.resize(blank);
    files.push_back({line, label});
  }
  if (files.empty())
    throw NetError("image_data_param's source '" + source + "': has no line; it is a list of images");
  return files;
}

template <class T>
class ImageSource final : public BatchSource<T> {
 public:
  ImageSource(const LayerParameter& param, Phase phase)
      : param_(param.image_data_param()), transformer_(param.transform_param(), phase) {
    RequireImages("ImageData");
    const auto [height, width] = std::pair(param_.new_height(), param_.new_width());
    if ((height == 0) != (width == 0))
      throw NetError("image_data_param has new_height " + std::to_string(height) + " and new_width " +
                     std::to_string(width) + "; say both or neither");
    if (param_.batch_size() == 0) throw NetError("image_data_param's batch_size is 0; say 1 or more");
    files_ = ReadImageList(param_.source());
    order_.resize(files_.size());
  }

  std::vector<Shape> Shapes(const RandomKey& key) override {
    const std::uint64_t skip = DrawSkip(key, param_.rand_skip());
    if (skip >= files_.size())
      throw NetError("image_data_param's rand_skip is " + std::to_string(param_.rand_skip()) +
                     ", which has drawn to skip " + std::to_string(skip) + " images, and " + param_.source() +
                     " has " + std::to_string(files_.size()) + "; say at most as many");
    Read(key, FirstOf(key));
    return {BatchShape(), {param_.batch_size()}};
  }

  void Fill(const RandomKey& key, std::vector<Blob<T>>& batch, const std::atomic<bool>& abandoned) override {
    const std::uint64_t first = FirstOf(key);
    const LabelledFile* file = &Read(key, first);
    const Shape shape = BatchShape();
    batch[0].Reshape(shape);
    T* data = batch[0].overwrite_cpu_data();
    T* const labels = batch[1].overwrite_cpu_data();
    for (std::uint32_t i = 0; i < param_.batch_size() && !abandoned; ++i, data += shape.count(1, 4)) {
      if (i != 0) file = &Read(key, first + i);
      transformer_.Transform(image_, item_, shape, data);
      labels[i] = static_cast<T>(file->label);
    }
  }

 private:
  std::uint64_t FirstOf(const RandomKey& key) const {
    return key.iteration * param_.batch_size() + DrawSkip(key, param_.rand_skip());
  }

  /// Where shuffled, each epoch has an order of its own.
  const LabelledFile& FileOf(const RandomKey& key, std::uint64_t number) {
    const std::size_t place = number % files_.size();
    if (!param_.shuffle()) return files_[place];
    const std::uint64_t epoch = number / files_.size();
    if (!shuffled_ || epoch != epoch_ || key.seed != item_.key.seed || key.layer != item_.key.layer)
      Shuffle(key, epoch, 0, order_);
    shuffled_ = true;
    epoch_ = epoch;
    return files_[static_cast<std::size_t>(order_[place])];
  }

  const LabelledFile& Read(const RandomKey& key, std::uint64_t number) {
    const LabelledFile& file = FileOf(key, number);
    item_.key = key;
    item_.number = number;
    item_.name.assign(param_.root_folder()).append(file.name);
    image_ =
        ReadImage(item_.name, static_cast<int>(param_.new_height()), static_cast<int>(param_.new_width()),
                  param_.is_color() ? ImageColor::kColor : ImageColor::kGray);
    return file;
  }

  Shape BatchShape() const {
    const Shape one = transformer_.ShapeOf(image_, item_.name);
    return {param_.batch_size(), one[1], one[2], one[3]};
  }

  const ImageDataParameter param_;
  const DataTransformer<T> transformer_;
  std::vector<LabelledFile> files_;
  std::vector<std::int64_t> order_;  ///< of epoch_
  std::uint64_t epoch_ = 0;
  bool shuffled_ = false;
  Item item_{};
  Image image_{};
};

/// Top 0 is a batch of images from files, transformed, in the order of the list or shuffled anew for each
/// epoch; after the last one comes the first. Top 1 are their labels. Needs OpenCV.
///
/// Parameters: image_data_param { source (a file with lines of a path, a blank and a label), root_folder: ""
/// (goes in front of each path), batch_size: 1, shuffle: false, rand_skip: 0, new_height: 0, new_width: 0,
/// is_color: true
/// }, transform_param { scale: 1, mirror: false, crop_size: 0, mean_file, mean_value }, data_param {
/// prefetch: 4 }.
/// Tops: 2: batch_size x channels x height x width, and batch_size. Each batch has the shape
/// of its first image.
/// Caffe: takes a label that is no number for 0, and draws from a generator, where here
/// the order is a function of seed, layer and epoch.
template <class T>
class ImageDataLayer final : public PrefetchingLayer<T> {
 public:
  using PrefetchingLayer<T>::PrefetchingLayer;

  const char* type() const override { return "ImageData"; }
  int ExactNumTopBlobs() const override { return 2; }

 protected:
  std::unique_ptr<BatchSource<T>> MakeSource(std::size_t /*tops*/) override {
    return std::make_unique<ImageSource<T>>(this->layer_param(), this->phase_);
  }
};

}  // namespace

FERRY_NETS_MAKE_LAYER(ImageData);

}  // namespace ferry::detail
