// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cstddef>
#include <fstream>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "core/nets/data/prefetching_layer.hpp"
#include "core/nets/data/random_items.hpp"
#include "core/nets/hdf5/hdf5_file.hpp"
#include "core/nets/layers/layers.hpp"
#include "ferry/nets/error.hpp"

namespace ferry::detail {
namespace {

std::vector<std::string> ReadFileList(const std::string& source) {
  std::ifstream in(source);
  if (!in)
    throw NetError("hdf5_data_param's source '" + source + "': cannot be opened; it is a list of HDF5 files");
  if (IsHdf5(source))
    throw NetError(
        "hdf5_data_param's source '" + source +
        "': is an HDF5 file itself; it is a text file, with the path of an HDF5 file on each line");
  std::vector<std::string> files;
  for (std::string file; in >> file;) files.push_back(file);
  if (files.empty()) throw NetError("hdf5_data_param's source '" + source + "': lists no file");
  return files;
}

/// Rows of all files as an endless sequence of epochs.
template <class T>
class Hdf5Source final : public BatchSource<T> {
 public:
  explicit Hdf5Source(const LayerParameter& param)
      : param_(param.hdf5_data_param()), names_(param.top().begin(), param.top().end()) {
    if (param.has_transform_param()) throw NetError("it does not transform data; leave transform_param out");
    if (param_.batch_size() == 0)
      throw NetError("hdf5_data_param's batch_size is 0 or not there; say 1 or more");
    files_ = ReadFileList(param_.source());
    for (const std::string& file : files_) rows_.push_back(RowsOf(file));
    all_rows_ = std::accumulate(rows_.begin(), rows_.end(), std::uint64_t{0});
    file_order_.resize(files_.size());
    std::iota(file_order_.begin(), file_order_.end(), 0);
  }

  std::vector<Shape> Shapes(const RandomKey& /*key*/) override {
    std::vector<Shape> shapes;
    for (const Shape& shape : shapes_) {
      std::vector<std::int64_t> dims = shape;
      dims[0] = param_.batch_size();
      shapes.emplace_back(dims);
    }
    return shapes;
  }

  void Fill(const RandomKey& key, std::vector<Blob<T>>& batch, const std::atomic<bool>& abandoned) override {
    const std::uint64_t first = key.iteration * param_.batch_size();
    to_.clear();
    for (Blob<T>& blob : batch) to_.push_back(blob.overwrite_cpu_data());
    for (std::uint32_t i = 0; i < param_.batch_size() && !abandoned; ++i) {
      const std::int64_t row = Locate(key, first + i);
      for (std::size_t j = 0; j < to_.size(); ++j) {
        const std::int64_t size = shapes_[j].count(1, shapes_[j].num_axes());
        to_[j] = std::copy_n(data_[j].data() + row * size, size, to_[j]);
      }
    }
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  /// Checks the file's datasets against those of the first one, whose shapes it notes.
  std::uint64_t RowsOf(const std::string& path) {
    const Hdf5File file = Hdf5File::Open(path);
    std::vector<Shape> shapes;
    for (const std::string& name : names_) {
      const Shape shape = file.ShapeOf(name);
      // NOLINTNEXTLINE(performance-inefficient-string-concatenation): a dataset at a time
      const std::string what = path + ", dataset '" + name + "': has shape " + shape.ToString();
      if (shape.empty() || shape.count() == 0)
        throw NetError(what + "; it must have an axis of rows, and elements");
      if (!shapes.empty() && shape[0] != shapes[0][0])
        throw NetError(what + ", and '" + names_[0] + "' has " + std::to_string(shapes[0][0]) +
                       " rows; they must have as many");
      if (!shapes_.empty()) RequireRowsAlike(shape, shapes_[shapes.size()], what);
      shapes.push_back(shape);
    }
    if (shapes_.empty()) shapes_ = shapes;
    return static_cast<std::uint64_t>(shapes.at(0)[0]);
  }

  void RequireRowsAlike(const Shape& shape, const Shape& first, const std::string& what) const {
    if (!std::equal(shape.begin() + 1, shape.end(), first.begin() + 1, first.end()))
      throw NetError(what + ", and in " + files_[0] + " " + first.ToString() +
                     "; all but the first dim must be equal in all files");
  }

  /// The row in data_ that is number `number`.
  std::int64_t Locate(const RandomKey& key, std::uint64_t number) {
    const bool same_key = key.seed == key_.seed && key.layer == key_.layer;
    if (!same_key || number < begin_ || number >= end_) GoTo(key, number);
    const std::uint64_t row = number - begin_;
    return param_.shuffle() ? row_order_[row] : static_cast<std::int64_t>(row);
  }

  void GoTo(const RandomKey& key, std::uint64_t number) {
    end_ = begin_ = 0;  // should anything be thrown
    const std::uint64_t epoch = number / all_rows_;
    if (param_.shuffle()) Shuffle(key, epoch, 0, file_order_);
    std::uint64_t begin = epoch * all_rows_;
    std::size_t place = 0;
    std::size_t file = FileAt(place);
    while (number >= begin + rows_[file]) {
      begin += rows_[file];
      file = FileAt(++place);
    }
    if (file != file_) Load(file);
    if (param_.shuffle()) {
      row_order_.resize(rows_[file]);
      Shuffle(key, epoch, 1 + file, row_order_);
    }
    key_ = key;
    begin_ = begin;
    end_ = begin + rows_[file];
  }
  std::size_t FileAt(std::size_t place) const { return static_cast<std::size_t>(file_order_[place]); }

  void Load(std::size_t number) {
    file_ = kNone;
    const Hdf5File file = Hdf5File::Open(files_[number]);
    data_.resize(names_.size());
    for (std::size_t j = 0; j < names_.size(); ++j) {
      const std::int64_t size = shapes_[j].count(1, shapes_[j].num_axes());
      data_[j].resize(rows_[number] * static_cast<std::size_t>(size));
      file.Read(names_[j], std::span<T>(data_[j]));
    }
    file_ = number;
  }

  const HDF5DataParameter param_;
  const std::vector<std::string> names_;
  std::vector<std::string> files_;
  std::vector<std::uint64_t> rows_;  ///< of each file
  std::uint64_t all_rows_ = 0;
  std::vector<Shape> shapes_;  ///< of the first file's datasets

  std::size_t file_ = kNone;          ///< whose data are loaded
  std::vector<std::vector<T>> data_;  ///< for each top
  RandomKey key_{};                   ///< of the orders
  std::vector<std::int64_t> file_order_, row_order_;
  std::uint64_t begin_ = 0, end_ = 0;  ///< the numbers of the rows that are loaded
  std::vector<T*> to_;
};

/// Tops are batches of rows of HDF5's datasets that have the tops' names, file by file, or shuffled: then
/// each epoch has an order of files, and an order of rows in each file. After the last row comes the first.
/// One file at a time is in memory.
///
/// Parameters: hdf5_data_param { source (a file with paths of HDF5 files), batch_size, shuffle: false },
/// data_param { prefetch: 4 }.
/// Tops: 1 or more: batch_size rows, each of the shape of a dataset's rows.
/// Caffe: does not read ahead, looks at a file's shapes only when it gets there, and shuffles by a generator,
/// where here the order is a function of seed, layer and epoch.
template <class T>
class HDF5DataLayer final : public PrefetchingLayer<T> {
 public:
  using PrefetchingLayer<T>::PrefetchingLayer;

  const char* type() const override { return "HDF5Data"; }
  int MinTopBlobs() const override { return 1; }

 protected:
  std::unique_ptr<BatchSource<T>> MakeSource(std::size_t tops) override {
    const auto named = static_cast<std::size_t>(this->layer_param().top_size());
    if (named != tops)
      throw NetError(std::to_string(tops) + " top blobs, of which the parameter names " +
                     std::to_string(named) + "; the names of the tops are those of the datasets");
    return std::make_unique<Hdf5Source<T>>(this->layer_param());
  }
};

}  // namespace

FERRY_NETS_MAKE_LAYER(HDF5Data);

}  // namespace ferry::detail
