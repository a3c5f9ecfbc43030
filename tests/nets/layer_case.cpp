// SPDX-License-Identifier: BSD-2-Clause
#include "tests/nets/layer_case.hpp"

#include <google/protobuf/text_format.h>

#include <catch2/catch_test_macros.hpp>
#include <stdexcept>

namespace ferry::nets_test {
namespace {

std::vector<std::int64_t> ShapeOf(const Json& shape) { return shape.get<std::vector<std::int64_t>>(); }

template <class T>
void Write(T* to, const std::vector<double>& values) {
  for (const double value : values) *to++ = static_cast<T>(value);
}

}  // namespace

std::vector<std::string> Places() {
  std::vector<std::string> places;
  for (const std::string& place : ferry::testing::AllPlaces())
    if (!place.ends_with(" main")) places.push_back(place);
  return places;
}

LayerParameter LayerOf(const std::string& text, Phase phase) {
  LayerParameter param;
  if (!google::protobuf::TextFormat::ParseFromString(text, &param)) throw std::invalid_argument(text);
  param.set_phase(phase);
  return param;
}

template <class T>
std::vector<double> DataOf(const Blob<T>& blob) {
  return {blob.cpu_data(), blob.cpu_data() + blob.count()};
}
template <class T>
std::vector<double> DiffOf(const Blob<T>& blob) {
  return {blob.cpu_diff(), blob.cpu_diff() + blob.count()};
}
template <class T>
void SetData(Blob<T>& blob, const std::vector<double>& values) {
  REQUIRE(static_cast<std::int64_t>(values.size()) == blob.count());
  Write(blob.overwrite_cpu_data(), values);
}
template <class T>
void SetDiff(Blob<T>& blob, const std::vector<double>& values) {
  REQUIRE(static_cast<std::int64_t>(values.size()) == blob.count());
  Write(blob.overwrite_cpu_diff(), values);
}

template <class T>
LayerRun<T>::LayerRun(const Json& layer_case, const Place& place) : case_(layer_case) {
  const bool early = case_.contains("setup_shapes");
  for (std::size_t i = 0; i < case_["bottoms"].size(); ++i) {
    const Json& shape = early ? case_["setup_shapes"][i] : case_["bottoms"][i]["shape"];
    owned_.push_back(std::make_unique<Blob<T>>(ShapeOf(shape), place.device()));
    bottom_.push_back(owned_.back().get());
  }
  for (std::size_t i = 0; i < case_["tops"].size(); ++i) {
    if (i == 0 && case_["in_place"].get<bool>()) {
      top_.push_back(bottom_[0]);
      continue;
    }
    owned_.push_back(std::make_unique<Blob<T>>(place.device()));
    top_.push_back(owned_.back().get());
  }
  FillBottoms(0);
  layer_ =
      LayerRegistry<T>::CreateLayer(LayerOf(case_["layer"], case_["phase"] == "TRAIN" ? TRAIN : TEST), place);
  layer_->SetUp(bottom_, top_);
  REQUIRE(layer_->blobs().size() == case_["params"].size());
  for (std::size_t i = 0; i < layer_->blobs().size(); ++i) {
    Blob<T>& param = *layer_->blobs()[i];
    REQUIRE(std::vector<std::int64_t>(param.shape().begin(), param.shape().end()) ==
            ShapeOf(case_["params"][i]["shape"]));
    SetData(param, Values(case_["params"][i]["fill"], param.count()));
    const bool preset = case_.contains("param_diff_fill") && !case_["param_diff_fill"][i].is_null();
    const Json zero{{"kind", "zero"}};
    SetDiff(param, Values(preset ? case_["param_diff_fill"][i] : zero, param.count()));
  }
  if (early) {
    layer_->Forward(bottom_, top_);
    for (std::size_t i = 0; i < bottom_.size(); ++i)
      bottom_[i]->Reshape(ShapeOf(case_["bottoms"][i]["shape"]));
    FillBottoms(0);
  }
}

template <class T>
void LayerRun<T>::FillBottoms(std::uint32_t shift) {
  for (std::size_t i = 0; i < bottom_.size(); ++i)
    SetData(*bottom_[i], Values(case_["bottoms"][i]["fill"], bottom_[i]->count(), shift));
}

template <class T>
T LayerRun<T>::Forward() {
  for (std::size_t i = 0; i < bottom_.size(); ++i) {
    const bool preset = case_.contains("bottom_diff_fill") && !case_["bottom_diff_fill"][i].is_null();
    const Json zero{{"kind", "zero"}};
    SetDiff(*bottom_[i], Values(preset ? case_["bottom_diff_fill"][i] : zero, bottom_[i]->count()));
  }
  T loss = layer_->Forward(bottom_, top_);
  for (std::uint32_t k = 1; k < case_["forwards"].get<std::uint32_t>(); ++k) {
    FillBottoms(1000 * k);
    loss = layer_->Forward(bottom_, top_);
  }
  return loss;
}

template <class T>
void LayerRun<T>::Backward() {
  for (std::size_t i = 0; i < top_.size(); ++i)
    if (const Json& fill = case_["tops"][i]["diff_fill"]; !fill.is_null())
      SetDiff(*top_[i], Values(fill, top_[i]->count()));
  layer_->Backward(top_, case_["propagate_down"].get<std::vector<bool>>(), bottom_);
}

template std::vector<double> DataOf(const Blob<float>&);
template std::vector<double> DataOf(const Blob<double>&);
template std::vector<double> DiffOf(const Blob<float>&);
template std::vector<double> DiffOf(const Blob<double>&);
template void SetData(Blob<float>&, const std::vector<double>&);
template void SetData(Blob<double>&, const std::vector<double>&);
template void SetDiff(Blob<float>&, const std::vector<double>&);
template void SetDiff(Blob<double>&, const std::vector<double>&);
template class LayerRun<float>;
template class LayerRun<double>;

}  // namespace ferry::nets_test
