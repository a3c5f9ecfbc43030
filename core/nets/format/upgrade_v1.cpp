// SPDX-License-Identifier: BSD-2-Clause
#include <google/protobuf/descriptor.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "core/nets/format/upgrade.hpp"
#include "ferry/log.hpp"
#include "ferry/nets/error.hpp"
#include "ferry/nets/upgrade.hpp"

namespace ferry {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::UnknownField;

constexpr std::pair<V1LayerParameter::LayerType, const char*> kTypeNames[] = {
    {V1LayerParameter::NONE, ""},
    {V1LayerParameter::ABSVAL, "AbsVal"},
    {V1LayerParameter::ACCURACY, "Accuracy"},
    {V1LayerParameter::ARGMAX, "ArgMax"},
    {V1LayerParameter::BNLL, "BNLL"},
    {V1LayerParameter::CONCAT, "Concat"},
    {V1LayerParameter::CONTRASTIVE_LOSS, "ContrastiveLoss"},
    {V1LayerParameter::CONVOLUTION, "Convolution"},
    {V1LayerParameter::DATA, "Data"},
    {V1LayerParameter::DECONVOLUTION, "Deconvolution"},
    {V1LayerParameter::DROPOUT, "Dropout"},
    {V1LayerParameter::DUMMY_DATA, "DummyData"},
    {V1LayerParameter::ELTWISE, "Eltwise"},
    {V1LayerParameter::EUCLIDEAN_LOSS, "EuclideanLoss"},
    {V1LayerParameter::EXP, "Exp"},
    {V1LayerParameter::FLATTEN, "Flatten"},
    {V1LayerParameter::HDF5_DATA, "HDF5Data"},
    {V1LayerParameter::HDF5_OUTPUT, "HDF5Output"},
    {V1LayerParameter::HINGE_LOSS, "HingeLoss"},
    {V1LayerParameter::IM2COL, "Im2col"},
    {V1LayerParameter::IMAGE_DATA, "ImageData"},
    {V1LayerParameter::INFOGAIN_LOSS, "InfogainLoss"},
    {V1LayerParameter::INNER_PRODUCT, "InnerProduct"},
    {V1LayerParameter::LRN, "LRN"},
    {V1LayerParameter::MEMORY_DATA, "MemoryData"},
    {V1LayerParameter::MULTINOMIAL_LOGISTIC_LOSS, "MultinomialLogisticLoss"},
    {V1LayerParameter::MVN, "MVN"},
    {V1LayerParameter::POOLING, "Pooling"},
    {V1LayerParameter::POWER, "Power"},
    {V1LayerParameter::RELU, "ReLU"},
    {V1LayerParameter::SIGMOID, "Sigmoid"},
    {V1LayerParameter::SIGMOID_CROSS_ENTROPY_LOSS, "SigmoidCrossEntropyLoss"},
    {V1LayerParameter::SILENCE, "Silence"},
    {V1LayerParameter::SLICE, "Slice"},
    {V1LayerParameter::SOFTMAX, "Softmax"},
    {V1LayerParameter::SOFTMAX_LOSS, "SoftmaxWithLoss"},
    {V1LayerParameter::SPLIT, "Split"},
    {V1LayerParameter::TANH, "TanH"},
    {V1LayerParameter::THRESHOLD, "Threshold"},
    {V1LayerParameter::WINDOW_DATA, "WindowData"},
};

[[noreturn]] void FailType(std::int64_t number) {
  throw NetError("V1 layer type " + std::to_string(number) + " is none; there are 0 to 39");
}

ParamSpec* ParamAt(LayerParameter* layer, int index) {
  while (layer->param_size() <= index) layer->add_param();
  return layer->mutable_param(index);
}

/// What V1 has in four lists, one entry for each blob.
void MoveParams(const V1LayerParameter& v1, LayerParameter* v2) {
  for (int i = 0; i < v1.param_size(); ++i) ParamAt(v2, i)->set_name(v1.param(i));
  for (int i = 0; i < v1.blob_share_mode_size(); ++i) {
    const bool is_strict = v1.blob_share_mode(i) == V1LayerParameter::STRICT;
    ParamAt(v2, i)->set_share_mode(is_strict ? ParamSpec::STRICT : ParamSpec::PERMISSIVE);
  }
  for (int i = 0; i < v1.blobs_lr_size(); ++i) ParamAt(v2, i)->set_lr_mult(v1.blobs_lr(i));
  for (int i = 0; i < v1.weight_decay_size(); ++i) ParamAt(v2, i)->set_decay_mult(v1.weight_decay(i));
}

/// convolution_param and its like have the same names and messages in both forms.
void MoveMessages(V1LayerParameter* v1, LayerParameter* v2) {
  std::vector<const FieldDescriptor*> fields;
  V1LayerParameter::GetReflection()->ListFields(*v1, &fields);
  for (const FieldDescriptor* const field : fields) {
    if (field->is_repeated() || field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE ||
        field->number() == V1LayerParameter::kLayerFieldNumber)
      continue;
    const FieldDescriptor* const into = LayerParameter::GetDescriptor()->FindFieldByName(field->name());
    Message* const from = V1LayerParameter::GetReflection()->MutableMessage(v1, field);
    from->GetReflection()->Swap(from, LayerParameter::GetReflection()->MutableMessage(v2, into));
  }
}

/// A type that the form does not have is among the unknown fields.
void RequireType(const V1LayerParameter& v1) {
  UpgradeV1LayerType(v1.type());
  const auto& unknown = v1.unknown_fields();
  for (int i = 0; i < unknown.field_count(); ++i)
    if (unknown.field(i).number() == V1LayerParameter::kTypeFieldNumber &&
        unknown.field(i).type() == UnknownField::TYPE_VARINT)
      FailType(static_cast<std::int64_t>(unknown.field(i).varint()));
}

bool MoveLayer(V1LayerParameter* v1, LayerParameter* v2) {
  v2->mutable_bottom()->Swap(v1->mutable_bottom());
  v2->mutable_top()->Swap(v1->mutable_top());
  if (v1->has_name()) v2->set_name(v1->name());
  if (v1->has_type()) v2->set_type(UpgradeV1LayerType(v1->type()));
  v2->mutable_include()->Swap(v1->mutable_include());
  v2->mutable_exclude()->Swap(v1->mutable_exclude());
  v2->mutable_blobs()->Swap(v1->mutable_blobs());
  v2->mutable_loss_weight()->Swap(v1->mutable_loss_weight());
  MoveParams(*v1, v2);
  MoveMessages(v1, v2);
  const bool all = detail::MoveUnknownFields(v1->name(), v1, v2);
  if (v1->has_layer())
    Log(LogLevel::kWarning, "layer '" + v1->name() + "': the V0 layer within this V1 layer is dropped");
  return all && !v1->has_layer();
}

}  // namespace

namespace detail {

void RequireV1(const NetParameter& net) {
  if (net.layers_size() > 0 && net.layer_size() > 0)
    throw NetError(
        "the net has `layers { type: RELU }` and `layer { type: \"ReLU\" }`; write all layers in one form");
  for (const V1LayerParameter& layer : net.layers()) RequireType(layer);
}

bool UpgradeV1(NetParameter* net) {
  bool all = true;
  for (V1LayerParameter& layer : *net->mutable_layers()) all &= MoveLayer(&layer, net->add_layer());
  net->clear_layers();
  return all;
}

}  // namespace detail

const char* UpgradeV1LayerType(V1LayerParameter::LayerType type) {
  const auto* const found = std::find_if(std::begin(kTypeNames), std::end(kTypeNames),
                                         [&](const auto& candidate) { return candidate.first == type; });
  if (found == std::end(kTypeNames)) FailType(type);
  return found->second;
}

bool NetNeedsV1ToV2Upgrade(const NetParameter& param) { return param.layers_size() > 0; }

bool UpgradeV1Net(const NetParameter& v1, NetParameter* v2) {
  detail::RequireV1(v1);
  NetParameter net(v1);
  const bool all = detail::UpgradeV1(&net);
  *v2 = std::move(net);
  return all;
}

bool UpgradeV1LayerParameter(const V1LayerParameter& v1, LayerParameter* v2) {
  RequireType(v1);
  V1LayerParameter from(v1);
  LayerParameter to;
  const bool all = MoveLayer(&from, &to);
  *v2 = std::move(to);
  return all;
}

}  // namespace ferry
