// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/nets/upgrade.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <string>

#include "core/nets/format/upgrade.hpp"
#include "ferry/log.hpp"
#include "ferry/nets/error.hpp"

namespace ferry {
namespace {

using google::protobuf::Message;

template <class P>
bool HasTransformation(const P& data) {
  return data.has_scale() || data.has_mean_file() || data.has_crop_size() || data.has_mirror();
}

bool HasTransformation(const V1LayerParameter& layer) {
  switch (layer.type()) {
    case V1LayerParameter::DATA:
      return HasTransformation(layer.data_param());
    case V1LayerParameter::IMAGE_DATA:
      return HasTransformation(layer.image_data_param());
    case V1LayerParameter::WINDOW_DATA:
      return HasTransformation(layer.window_data_param());
    default:
      return false;
  }
}

template <class P>
void MoveTransformation(P* data, TransformationParameter* transformation) {
  if (data->has_scale()) transformation->set_scale(data->scale());
  if (data->has_mean_file()) transformation->set_mean_file(data->mean_file());
  if (data->has_crop_size()) transformation->set_crop_size(data->crop_size());
  if (data->has_mirror()) transformation->set_mirror(data->mirror());
  data->clear_scale();
  data->clear_mean_file();
  data->clear_crop_size();
  data->clear_mirror();
}

bool NeedsUpgrade(const LayerParameter& layer) {
  constexpr int kStatistics = 3;  // mean, variance and the scale of both
  return layer.type() == "BatchNorm" && layer.param_size() == kStatistics;
}

BlobShape InputShape(const NetParameter& net, int input) {
  if (net.input_shape_size() > 0) return net.input_shape(input);
  BlobShape shape;
  constexpr int kDims = 4;
  for (int i = 0; i < kDims; ++i) shape.add_dim(net.input_dim(kDims * input + i));
  return shape;
}

}  // namespace

bool detail::MoveUnknownFields(const std::string& layer, Message* from, Message* to) {
  auto* const unknown = from->GetReflection()->MutableUnknownFields(from);
  bool all = true;
  for (int i = 0; i < unknown->field_count(); ++i) {
    const int number = unknown->field(i).number();
    if (to != nullptr && to->GetDescriptor()->FindFieldByNumber(number) == nullptr) {
      to->GetReflection()->MutableUnknownFields(to)->AddField(unknown->field(i));
      continue;
    }
    all = false;
    Log(LogLevel::kWarning, "layer '" + layer + "': field " + std::to_string(number) +
                                ", which is unknown, is dropped: the newer form has no place for it");
  }
  unknown->Clear();
  return all;
}

void detail::RequireInputs(const NetParameter& net, InputShapes given) {
  const int inputs = net.input_size();
  const int shapes = given == InputShapes::kNone ? 0 : net.input_shape_size();
  const int dims = net.input_dim_size();
  if (inputs == 0 || (shapes == 0 && dims == 0)) return;
  if (shapes > 0 ? shapes < inputs : dims / 4 < inputs)
    throw NetError("the net has " + std::to_string(inputs) + " input, " + std::to_string(shapes) +
                   " input_shape and " + std::to_string(dims) +
                   " input_dim; give one input_shape, or four input_dim, for each input");
}

bool NetNeedsDataUpgrade(const NetParameter& param) {
  return std::any_of(param.layers().begin(), param.layers().end(),
                     [](const V1LayerParameter& layer) { return HasTransformation(layer); });
}

void UpgradeNetDataTransformation(NetParameter* param) {
  for (V1LayerParameter& layer : *param->mutable_layers()) {
    if (layer.type() == V1LayerParameter::DATA)
      MoveTransformation(layer.mutable_data_param(), layer.mutable_transform_param());
    else if (layer.type() == V1LayerParameter::IMAGE_DATA)
      MoveTransformation(layer.mutable_image_data_param(), layer.mutable_transform_param());
    else if (layer.type() == V1LayerParameter::WINDOW_DATA)
      MoveTransformation(layer.mutable_window_data_param(), layer.mutable_transform_param());
  }
}

bool NetNeedsInputUpgrade(const NetParameter& param) { return param.input_size() > 0; }

void UpgradeNetInput(NetParameter* param) {
  detail::RequireInputs(*param, detail::InputShapes::kAsGiven);
  if (param->input_size() > 0 && (param->input_shape_size() > 0 || param->input_dim_size() > 0)) {
    LayerParameter* const layer = param->add_layer();
    layer->set_name("input");
    layer->set_type("Input");
    *layer->mutable_top() = param->input();
    for (int i = 0; i < param->input_size(); ++i)
      *layer->mutable_input_param()->add_shape() = InputShape(*param, i);
    for (int i = param->layer_size() - 1; i > 0; --i) param->mutable_layer()->SwapElements(i - 1, i);
  }
  param->clear_input();
  param->clear_input_shape();
  param->clear_input_dim();
}

bool NetNeedsBatchNormUpgrade(const NetParameter& param) {
  return std::any_of(param.layer().begin(), param.layer().end(), NeedsUpgrade);
}

void UpgradeNetBatchNorm(NetParameter* param) {
  for (LayerParameter& layer : *param->mutable_layer()) {
    if (!NeedsUpgrade(layer)) continue;
    for (ParamSpec& spec : *layer.mutable_param()) {
      spec.set_lr_mult(0);
      spec.set_decay_mult(0);
    }
  }
}

bool NetNeedsUpgrade(const NetParameter& param) {
  return NetNeedsV0ToV1Upgrade(param) || NetNeedsV1ToV2Upgrade(param) || NetNeedsDataUpgrade(param) ||
         NetNeedsInputUpgrade(param) || NetNeedsBatchNormUpgrade(param);
}

bool UpgradeNetAsNeeded(const std::string& file, NetParameter* param) {
  const bool is_v0 = NetNeedsV0ToV1Upgrade(*param);
  try {
    is_v0 ? detail::RequireV0(*param) : detail::RequireV1(*param);
    detail::RequireInputs(*param, is_v0 ? detail::InputShapes::kNone : detail::InputShapes::kAsGiven);
  } catch (const NetError& error) {
    throw NetError(file + ": " + error.what());
  }
  bool all = true;
  const auto step = [&](bool needed, const char* what, const auto& upgrade) {
    if (!needed) return;
    Log(LogLevel::kInfo, file + ": " + what + " of an old form are upgraded");
    upgrade();
  };
  step(is_v0, "V0 layers", [&] { all &= detail::UpgradeV0(param); });
  step(NetNeedsDataUpgrade(*param), "data transformations", [&] { UpgradeNetDataTransformation(param); });
  step(NetNeedsV1ToV2Upgrade(*param), "V1 layers", [&] { all &= detail::UpgradeV1(param); });
  step(NetNeedsInputUpgrade(*param), "input fields", [&] { UpgradeNetInput(param); });
  step(NetNeedsBatchNormUpgrade(*param), "rates of BatchNorm layers", [&] { UpgradeNetBatchNorm(param); });
  if (!all) Log(LogLevel::kWarning, file + ": not all could be upgraded; the warnings before say what");
  return all;
}

}  // namespace ferry
