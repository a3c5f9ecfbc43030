// SPDX-License-Identifier: BSD-2-Clause
#include <catch2/catch_template_test_macros.hpp>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>

#include "core/nets/data/data_transformer.hpp"
#include "core/nets/data/random_items.hpp"
#include "ferry/proto.hpp"
#include "tests/nets/data_folder.hpp"

namespace ferry::nets_test {
namespace {

using detail::DataTransformer;
using detail::DrawForItem;
using detail::Image;
using detail::Item;
using detail::ItemDraw;

TransformationParameter TransformOf(const std::string& text) {
  TransformationParameter param;
  REQUIRE(google::protobuf::TextFormat::ParseFromString(text, &param));
  return param;
}

const RandomKey kKey{11, 5, 0};

/// The interleaved bytes of a datum, with unused bytes behind each row.
struct Interleaved {
  explicit Interleaved(const Datum& datum)
      : row(static_cast<std::size_t>(datum.channels() * datum.width()) + 3),
        bytes(row * static_cast<std::size_t>(datum.height()), 99),
        image{datum.channels(), datum.height(), datum.width(), row, bytes.data(), {}} {
    for (int c = 0, i = 0; c < datum.channels(); ++c)
      for (int h = 0; h < datum.height(); ++h)
        for (int w = 0; w < datum.width(); ++w, ++i)
          bytes[static_cast<std::size_t>(h) * row + static_cast<std::size_t>(w * datum.channels() + c)] =
              static_cast<std::uint8_t>(datum.data()[static_cast<std::size_t>(i)]);
  }
  std::size_t row;
  std::vector<std::uint8_t> bytes;
  Image image;
};

/// What Caffe computes, element by element. `mean` has all elements of the datum, or none.
template <class T>
std::vector<T> Plainly(const Datum& datum, const TransformationParameter& param, Phase phase,
                       std::uint64_t number, const std::vector<T>& mean) {
  const int crop = static_cast<int>(param.crop_size());
  const int height = crop == 0 ? datum.height() : crop;
  const int width = crop == 0 ? datum.width() : crop;
  int top = (datum.height() - height) / 2;
  int left = (datum.width() - width) / 2;
  const auto draw = [&](ItemDraw what, int n) {
    return static_cast<int>(DrawForItem(kKey, number, what, static_cast<std::uint64_t>(n)));
  };
  if (phase == TRAIN) {
    top = draw(ItemDraw::kCropRow, datum.height() - height + 1);
    left = draw(ItemDraw::kCropColumn, datum.width() - width + 1);
  }
  const bool mirror = param.mirror() && draw(ItemDraw::kMirror, 2) == 1;
  std::vector<T> out(static_cast<std::size_t>(datum.channels() * height * width));
  for (int c = 0; c < datum.channels(); ++c)
    for (int h = 0; h < height; ++h)
      for (int w = 0; w < width; ++w) {
        const int element = (c * datum.height() + top + h) * datum.width() + left + w;
        const int to = (c * height + h) * width + (mirror ? width - 1 - w : w);
        const auto from = static_cast<std::size_t>(element);
        T value = datum.float_data_size() != 0
                      ? static_cast<T>(datum.float_data(element))
                      : static_cast<T>(static_cast<std::uint8_t>(datum.data()[from]));
        if (!mean.empty()) value -= mean[from];
        if (param.mean_value_size() != 0)
          value -= static_cast<T>(param.mean_value(param.mean_value_size() == 1 ? 0 : c));
        out[static_cast<std::size_t>(to)] = value * static_cast<T>(param.scale());
      }
  return out;
}

template <class T, class From>
std::vector<T> Transformed(const From& from, const TransformationParameter& param, Phase phase,
                           std::uint64_t number) {
  const DataTransformer<T> transformer(param, phase);
  const Shape shape = transformer.ShapeOf(from, "item");
  std::vector<T> out(static_cast<std::size_t>(shape.count()));
  transformer.Transform(from, {kKey, number, "item"}, shape, out.data());
  return out;
}

TEMPLATE_TEST_CASE("A transformation is Caffe's, element by element", "", float, double) {
  const Folder folder;
  Blob<TestType> mean({1, 3, 7, 9}, GetDevice("host"));
  for (int i = 0; i < 189; ++i) mean.mutable_cpu_data()[i] = TestType(0.7) * static_cast<TestType>(i % 50);
  BlobProto message;
  mean.ToProto(&message);
  WriteBlobProto(folder / "mean", message);
  const std::vector<TestType> means(mean.cpu_data(), mean.cpu_data() + 189);
  const Datum bytes = DatumOf(4, 3, 7, 9);
  Datum floats = bytes;
  for (const char byte : floats.data()) floats.add_float_data(static_cast<float>(byte) / 3);
  floats.clear_data();
  for (const std::string base : {"", "scale: 0.00390625", "scale: 0.1 mirror: true", "crop_size: 4",
                                 "crop_size: 7", "crop_size: 3 mirror: true scale: 3"})
    for (const std::string& which : {std::string(), std::string("mean_value: 104.3"),
                                     std::string("mean_value: 1 mean_value: 2.5 mean_value: -3"),
                                     "mean_file: '" + (folder / "mean").string() + "'"}) {
      TransformationParameter param = TransformOf(base);
      param.MergeFrom(TransformOf(which));
      const auto& with = param.has_mean_file() ? means : std::vector<TestType>{};
      for (const Phase phase : {TRAIN, TEST})
        for (std::uint64_t number = 0; number < 12; ++number) {
          INFO(param.ShortDebugString() << ", phase " << phase << ", item " << number);
          const auto expected = Plainly<TestType>(bytes, param, phase, number, with);
          CHECK(Transformed<TestType>(bytes, param, phase, number) == expected);
          CHECK(Transformed<TestType>(Interleaved(bytes).image, param, phase, number) == expected);
          CHECK(Transformed<TestType>(floats, param, phase, number) ==
                Plainly<TestType>(floats, param, phase, number, with));
        }
    }
}

TEST_CASE("Crops and mirrors of a thousand items take every value about as often") {
  std::vector<int> mirrors(2), rows(5), columns(3);
  std::set<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>> together;
  for (std::uint64_t item = 0; item < 3000; ++item) {
    const auto mirror = DrawForItem(kKey, item, ItemDraw::kMirror, 2);
    const auto row = DrawForItem(kKey, item, ItemDraw::kCropRow, 5);
    const auto column = DrawForItem(kKey, item, ItemDraw::kCropColumn, 3);
    ++mirrors.at(mirror);
    ++rows.at(row);
    ++columns.at(column);
    together.emplace(mirror, row, column);
  }
  CHECK(together.size() == 30);
  for (const int times : mirrors) CHECK(std::abs(times - 1500) < 150);
  for (const int times : rows) CHECK(std::abs(times - 600) < 110);
  for (const int times : columns) CHECK(std::abs(times - 1000) < 130);
}

TEST_CASE("A shuffle makes each order as often as any other") {
  std::map<std::vector<std::int64_t>, int> times;
  std::vector<std::int64_t> order(3);
  for (std::uint64_t epoch = 0; epoch < 6000; ++epoch) {
    detail::Shuffle({7, 1, 0}, epoch, 0, order);
    ++times[order];
  }
  CHECK(times.size() == 6);
  for (const auto& [items, count] : times) CHECK(std::abs(count - 1000) < 150);  // five standard deviations
}

TEST_CASE("A shuffled order has each item once, and is another one for each epoch, part, seed and layer") {
  std::set<std::vector<std::int64_t>> orders;
  for (const RandomKey& key : {RandomKey{1, 1, 0}, RandomKey{1, 2, 0}, RandomKey{2, 1, 0}})
    for (const std::uint64_t epoch : {0U, 1U})
      for (const std::uint64_t part : {0U, 1U}) {
        std::vector<std::int64_t> order(50);
        detail::Shuffle(key, epoch, part, order);
        CHECK(std::set<std::int64_t>(order.begin(), order.end()).size() == 50);
        CHECK(*std::max_element(order.begin(), order.end()) == 49);
        std::vector<std::int64_t> again(50, 7);
        detail::Shuffle({key.seed, key.layer, 99}, epoch, part, again);
        CHECK(again == order);
        orders.insert(order);
      }
  CHECK(orders.size() == 12);
}

TEST_CASE("A transformation that cannot be is an error that says what there is and what is allowed") {
  const Folder folder;
  const auto fails = [](const Datum& datum, const std::string& text, const std::vector<std::string>& parts) {
    CheckFails([&] { Transformed<float>(datum, TransformOf(text), TRAIN, 0); }, parts);
  };
  const Datum datum = DatumOf(0, 2, 4, 5);
  fails(datum, "crop_size: 5", {"item", "2 x 4 x 5", "crop_size of 5"});
  fails(datum, "mean_value: 1 mean_value: 2 mean_value: 3", {"2 channels", "3 of mean_value", "say one"});
  fails(datum, "mean_value: 1 mean_file: 'm'", {"mean_file 'm' and mean_value", "one of them"});
  fails(datum, "mean_file: '" + (folder / "none").string() + "'", {"mean_file", folder / "none"});
  fails(datum, "mean_file: '" + folder.Write("bad", "no blob") + "'", {"mean_file", folder / "bad"});
  Blob<float> mean({1, 2, 5, 4}, GetDevice("host"));
  BlobProto message;
  mean.ToProto(&message);
  WriteBlobProto(folder / "mean", message);
  fails(datum, "mean_file: '" + (folder / "mean").string() + "'",
        {"2 x 4 x 5", "2 x 5 x 4", folder / "mean"});
  mean.Reshape({1, 1, 2, 5, 4});
  mean.ToProto(&message);
  WriteBlobProto(folder / "mean5", message);
  fails(datum, "mean_file: '" + (folder / "mean5").string() + "'",
        {"1 1 2 5 4", "1 x channels x height x width"});

  Datum wrong = datum;
  wrong.mutable_data()->pop_back();
  fails(wrong, "", {"2 x 4 x 5", "39 bytes"});
  wrong.clear_data();
  fails(wrong, "", {"2 x 4 x 5", "0 numbers"});
  wrong.set_channels(0);
  fails(wrong, "", {"0 x 4 x 5", "1 or more"});
  wrong.set_channels(-2);
  fails(wrong, "", {"-2 x 4 x 5"});
  Datum encoded = datum;
  encoded.set_encoded(true);
  CheckFails(
      [&] {
        DataTransformer<float>(TransformOf("force_color: true force_gray: true"), TRAIN)
            .Decode(encoded, "item");
      },
      {"force_color and force_gray"});
#ifdef FERRY_HAS_OPENCV
  const std::string why = "no image";
#else
  const std::string why = "FERRY_OPENCV=ON";
#endif
  CheckFails([&] { DataTransformer<float>(TransformOf(""), TRAIN).Decode(encoded, "item"); }, {"item", why});
}

}  // namespace
}  // namespace ferry::nets_test
