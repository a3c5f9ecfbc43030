// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <google/protobuf/text_format.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/nets/data/database.hpp"
#include "ferry/nets/layer_registry.hpp"
#include "tests/folder.hpp"
#include "tests/unit/kernels_world.hpp"

/// What tests of data layers share: files that they make, and layers that read them.
namespace ferry::nets_test {

using ferry::testing::Folder;
using ferry::testing::World;

/// Where layers run.
inline std::vector<std::string> DataPlaces() {
  return {"host cpu", "host stream", "sim cpu", "sim main", "sim stream"};
}
/// The databases of this build.
inline std::vector<DataParameter::DB> Backends() {
  return {
#ifdef FERRY_HAS_LMDB
      DataParameter::LMDB,
#endif
#ifdef FERRY_HAS_LEVELDB
      DataParameter::LEVELDB,
#endif
  };
}

/// Element i of item n is 7 n + 3 i modulo 251; the label is n.
inline Datum DatumOf(int n, int channels, int height, int width) {
  Datum datum;
  datum.set_channels(channels);
  datum.set_height(height);
  datum.set_width(width);
  for (int i = 0; i < channels * height * width; ++i)
    datum.mutable_data()->push_back(static_cast<char>((7 * n + 3 * i) % 251));
  datum.set_label(n);
  return datum;
}
inline std::vector<Datum> Datums(int count, int channels, int height, int width) {
  std::vector<Datum> datums;
  for (int n = 0; n < count; ++n) datums.push_back(DatumOf(n, channels, height, width));
  return datums;
}
inline double ElementOf(const Datum& datum, std::int64_t i) {
  return static_cast<std::uint8_t>(datum.data()[static_cast<std::size_t>(i)]);
}

/// A database whose keys are in the order of the values.
inline std::string WriteDatabase(const std::string& path, DataParameter::DB backend,
                                 const std::vector<std::string>& values) {
  const auto database = detail::OpenDatabase(backend, path, detail::DatabaseMode::kNew);
  const auto transaction = database->NewTransaction();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string digits = std::to_string(i);
    transaction->Put(std::string(8 - digits.size(), '0') + digits, values[i]);
  }
  transaction->Commit();
  return path;
}
inline std::string WriteDatabase(const std::string& path, DataParameter::DB backend,
                                 const std::vector<Datum>& datums) {
  std::vector<std::string> values;
  for (const Datum& datum : datums) values.push_back(datum.SerializeAsString());
  return WriteDatabase(path, backend, values);
}

inline LayerParameter ParamOf(const std::string& text, Phase phase = TRAIN) {
  LayerParameter param;
  if (!google::protobuf::TextFormat::ParseFromString(text, &param)) throw std::invalid_argument(text);
  param.set_phase(phase);
  return param;
}

/// A layer without bottoms, and its tops.
template <class T>
class DataLayerRun {
 public:
  DataLayerRun(const LayerParameter& param, const Place& place, std::size_t tops,
               const RandomKey& key = {7, 3, 0})
      : place_(place), layer_(LayerRegistry<T>::CreateLayer(param, place)) {
    layer_->set_random_key(key);
    for (std::size_t i = 0; i < tops; ++i) owned_.push_back(std::make_unique<Blob<T>>(place.device()));
    for (const auto& top : owned_) tops_.push_back(top.get());
    SetUp();
  }

  void SetUp() { layer_->SetUp({}, tops_); }
  void Forward() { layer_->Forward({}, tops_); }
  /// The elements of all tops, read at the layer's place first, as a layer behind it would.
  std::vector<T> Pass() {
    Forward();
    return Values();
  }
  std::vector<T> Values() const {
    std::vector<T> values;
    for (const Blob<T>* const top : tops_) {
      place_.Read(*top);
      values.insert(values.end(), top->cpu_data(), top->cpu_data() + top->count());
    }
    return values;
  }

  Layer<T>& layer() { return *layer_; }
  Blob<T>& top(std::size_t i) { return *tops_[i]; }

 private:
  const Place place_;
  std::shared_ptr<Layer<T>> layer_;
  std::vector<std::unique_ptr<Blob<T>>> owned_;
  std::vector<Blob<T>*> tops_;
};

/// That the call throws a NetError whose text has each of these parts.
template <class Call>
void CheckFails(Call call, const std::vector<std::string>& parts) {
  std::string text;
  try {
    call();
  } catch (const NetError& error) {
    text = error.what();
  }
  INFO("the error is: " << text);
  CHECK(!text.empty());
  for (const std::string& part : parts) {
    INFO("it should have: " << part);
    CHECK(text.find(part) != std::string::npos);
  }
}

}  // namespace ferry::nets_test
