// SPDX-License-Identifier: BSD-2-Clause
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/nets/data/data_transformer.hpp"
#include "core/nets/data/prefetching_layer.hpp"
#include "core/nets/data/random_items.hpp"
#include "core/nets/data/record_reader.hpp"
#include "core/nets/layers/layers.hpp"
#include "ferry/log.hpp"
#include "ferry/nets/error.hpp"

namespace ferry::detail {
namespace {

template <class T>
class DatabaseSource final : public BatchSource<T> {
 public:
  DatabaseSource(const LayerParameter& param, Phase phase, std::size_t tops)
      : param_(param.data_param()),
        labels_(tops == 2),
        transformer_(param.transform_param(), phase),
        colors_(param.transform_param().force_color() || param.transform_param().force_gray()),
        records_(param_.backend(), param_.source()) {
    if (param_.batch_size() == 0) throw NetError("data_param's batch_size is 0 or not there; say 1 or more");
  }

  std::vector<Shape> Shapes(const RandomKey& key) override {
    Read(key, FirstOf(key));
    if (colors_ && !datum_.encoded())
      Log(LogLevel::kWarning, item_.name +
                                  ": is not encoded, and so its colours stay as they are, whatever "
                                  "transform_param's force_color and force_gray say");
    std::vector<Shape> shapes{BatchShape()};
    if (labels_) shapes.push_back({shapes[0][0]});
    return shapes;
  }

  void Fill(const RandomKey& key, std::vector<Blob<T>>& batch, const std::atomic<bool>& abandoned) override {
    const std::uint64_t first = FirstOf(key);
    Read(key, first);
    const Shape shape = BatchShape();
    batch[0].Reshape(shape);
    T* data = batch[0].overwrite_cpu_data();
    T* const labels = labels_ ? batch[1].overwrite_cpu_data() : nullptr;
    for (std::uint32_t i = 0; i < param_.batch_size() && !abandoned; ++i, data += shape.count(1, 4)) {
      if (i != 0) Read(key, first + i);
      if (datum_.encoded())
        transformer_.Transform(image_, item_, shape, data);
      else
        transformer_.Transform(datum_, item_, shape, data);
      if (labels_) labels[i] = Label();
    }
  }

 private:
  std::uint64_t FirstOf(const RandomKey& key) const {
    return key.iteration * param_.batch_size() + DrawSkip(key, param_.rand_skip());
  }

  void Read(const RandomKey& key, std::uint64_t number) {
    records_.Seek(number);
    item_.key = key;
    item_.number = number;
    item_.name.assign(param_.source()).append(", key '").append(records_.key()).append("'");
    const std::string_view value = records_.value();
    if (!datum_.ParseFromArray(value.data(), static_cast<int>(value.size())))
      throw NetError(item_.name + ": its " + std::to_string(value.size()) + " bytes are no Datum");
    if (datum_.encoded()) image_ = transformer_.Decode(datum_, item_.name);
  }

  /// By the datum that was read last.
  Shape BatchShape() const {
    const Shape one = datum_.encoded() ? transformer_.ShapeOf(image_, item_.name)
                                       : transformer_.ShapeOf(datum_, item_.name);
    return {param_.batch_size(), one[1], one[2], one[3]};
  }

  T Label() const {
    if (!datum_.has_label())
      throw NetError(item_.name + ": has no label, and the layer has a top for labels; leave that top out");
    return static_cast<T>(datum_.label());
  }

  const DataParameter param_;
  const bool labels_;
  const DataTransformer<T> transformer_;
  const bool colors_;
  RecordReader records_;
  Item item_{};
  Datum datum_;
  Image image_{};
};

/// Top 0 is a batch of a database's records in the order of their keys, transformed; after the last record
/// comes the first. Top 1 are their labels. A damaged record is an error with LEVELDB. LMDB has no checksums,
/// and a page whose inner structure is damaged may end the program.
///
/// Parameters: data_param { source, backend: LEVELDB, batch_size, rand_skip: 0, prefetch: 4 },
/// transform_param { scale: 1, mirror: false, crop_size: 0, mean_file, mean_value, force_color: false,
/// force_gray: false }.
/// Tops: 1 or 2: batch_size x channels x height x width, and batch_size. Each batch has
/// the shape of its first record.
/// Caffe: ignores rand_skip, gives 0 for a label that is not there, and draws
/// crops and mirrors from a generator, where here they are functions of seed, layer and record.
template <class T>
class DataLayer final : public PrefetchingLayer<T> {
 public:
  using PrefetchingLayer<T>::PrefetchingLayer;

  const char* type() const override { return "Data"; }
  int MinTopBlobs() const override { return 1; }
  int MaxTopBlobs() const override { return 2; }

 protected:
  std::unique_ptr<BatchSource<T>> MakeSource(std::size_t tops) override {
    return std::make_unique<DatabaseSource<T>>(this->layer_param(), this->phase_, tops);
  }
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Data);

}  // namespace ferry::detail
