// SPDX-License-Identifier: BSD-2-Clause
#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
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

constexpr std::pair<std::string_view, V1LayerParameter::LayerType> kTypes[] = {
    {"accuracy", V1LayerParameter::ACCURACY},
    {"bnll", V1LayerParameter::BNLL},
    {"concat", V1LayerParameter::CONCAT},
    {"conv", V1LayerParameter::CONVOLUTION},
    {"data", V1LayerParameter::DATA},
    {"dropout", V1LayerParameter::DROPOUT},
    {"euclidean_loss", V1LayerParameter::EUCLIDEAN_LOSS},
    {"flatten", V1LayerParameter::FLATTEN},
    {"hdf5_data", V1LayerParameter::HDF5_DATA},
    {"hdf5_output", V1LayerParameter::HDF5_OUTPUT},
    {"im2col", V1LayerParameter::IM2COL},
    {"images", V1LayerParameter::IMAGE_DATA},
    {"infogain_loss", V1LayerParameter::INFOGAIN_LOSS},
    {"innerproduct", V1LayerParameter::INNER_PRODUCT},
    {"lrn", V1LayerParameter::LRN},
    {"multinomial_logistic_loss", V1LayerParameter::MULTINOMIAL_LOGISTIC_LOSS},
    {"pool", V1LayerParameter::POOLING},
    {"relu", V1LayerParameter::RELU},
    {"sigmoid", V1LayerParameter::SIGMOID},
    {"softmax", V1LayerParameter::SOFTMAX},
    {"softmax_loss", V1LayerParameter::SOFTMAX_LOSS},
    {"split", V1LayerParameter::SPLIT},
    {"tanh", V1LayerParameter::TANH},
    {"window_data", V1LayerParameter::WINDOW_DATA},
};

/// Where a V0 layer's field goes.
struct Move {
  const char* field;
  std::string_view type;  ///< of the layer; "" for any
  const char* param;      ///< the V1 layer's field
  const char* name;       ///< and the one in it; "" for the whole
};
constexpr Move kMoves[] = {
    {"num_output", "conv", "convolution_param", "num_output"},
    {"num_output", "innerproduct", "inner_product_param", "num_output"},
    {"biasterm", "conv", "convolution_param", "bias_term"},
    {"biasterm", "innerproduct", "inner_product_param", "bias_term"},
    {"weight_filler", "conv", "convolution_param", "weight_filler"},
    {"weight_filler", "innerproduct", "inner_product_param", "weight_filler"},
    {"bias_filler", "conv", "convolution_param", "bias_filler"},
    {"bias_filler", "innerproduct", "inner_product_param", "bias_filler"},
    {"pad", "conv", "convolution_param", "pad"},
    {"pad", "pool", "pooling_param", "pad"},
    {"kernelsize", "conv", "convolution_param", "kernel_size"},
    {"kernelsize", "pool", "pooling_param", "kernel_size"},
    {"group", "conv", "convolution_param", "group"},
    {"stride", "conv", "convolution_param", "stride"},
    {"stride", "pool", "pooling_param", "stride"},
    {"pool", "pool", "pooling_param", "pool"},
    {"dropout_ratio", "dropout", "dropout_param", "dropout_ratio"},
    {"local_size", "lrn", "lrn_param", "local_size"},
    {"alpha", "lrn", "lrn_param", "alpha"},
    {"beta", "lrn", "lrn_param", "beta"},
    {"k", "lrn", "lrn_param", "k"},
    {"source", "data", "data_param", "source"},
    {"source", "hdf5_data", "hdf5_data_param", "source"},
    {"source", "images", "image_data_param", "source"},
    {"source", "window_data", "window_data_param", "source"},
    {"source", "infogain_loss", "infogain_loss_param", "source"},
    {"batchsize", "data", "data_param", "batch_size"},
    {"batchsize", "hdf5_data", "hdf5_data_param", "batch_size"},
    {"batchsize", "images", "image_data_param", "batch_size"},
    {"batchsize", "window_data", "window_data_param", "batch_size"},
    {"scale", "", "transform_param", "scale"},
    {"meanfile", "", "transform_param", "mean_file"},
    {"cropsize", "", "transform_param", "crop_size"},
    {"mirror", "", "transform_param", "mirror"},
    {"rand_skip", "data", "data_param", "rand_skip"},
    {"rand_skip", "images", "image_data_param", "rand_skip"},
    {"shuffle_images", "images", "image_data_param", "shuffle"},
    {"new_height", "images", "image_data_param", "new_height"},
    {"new_width", "images", "image_data_param", "new_width"},
    {"concat_dim", "concat", "concat_param", "concat_dim"},
    {"det_fg_threshold", "window_data", "window_data_param", "fg_threshold"},
    {"det_bg_threshold", "window_data", "window_data_param", "bg_threshold"},
    {"det_fg_fraction", "window_data", "window_data_param", "fg_fraction"},
    {"det_context_pad", "window_data", "window_data_param", "context_pad"},
    {"det_crop_mode", "window_data", "window_data_param", "crop_mode"},
    {"hdf5_output_param", "hdf5_output", "hdf5_output_param", ""},
};

void Set(Message* message, const FieldDescriptor& field, std::uint32_t value) {
  const auto* const reflection = message->GetReflection();
  field.is_repeated() ? reflection->AddUInt32(message, &field, value)
                      : reflection->SetUInt32(message, &field, value);
}

/// Numbers stay what they are in another type: -1 becomes Caffe's 4294967295.
void CopyValue(const Message& from, const FieldDescriptor& field, Message* to, const FieldDescriptor& into) {
  const auto* const in = from.GetReflection();
  const auto* const out = to->GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return Set(to, into, static_cast<std::uint32_t>(in->GetInt32(from, &field)));
    case FieldDescriptor::CPPTYPE_UINT32:
      return Set(to, into, in->GetUInt32(from, &field));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return out->SetFloat(to, &into, in->GetFloat(from, &field));
    case FieldDescriptor::CPPTYPE_BOOL:
      return out->SetBool(to, &into, in->GetBool(from, &field));
    case FieldDescriptor::CPPTYPE_ENUM:
      return out->SetEnumValue(to, &into, in->GetEnumValue(from, &field));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return out->MutableMessage(to, &into)->CopyFrom(in->GetMessage(from, &field));
    default:
      return out->SetString(to, &into, in->GetString(from, &field));
  }
}

/// False where layers of this type have no such parameter.
bool MoveField(const V0LayerParameter& v0, const FieldDescriptor& field, V1LayerParameter* v1) {
  const Move* const move = std::find_if(std::begin(kMoves), std::end(kMoves), [&](const Move& candidate) {
    return field.name() == candidate.field && (candidate.type.empty() || candidate.type == v0.type());
  });
  if (move == std::end(kMoves)) return false;
  const FieldDescriptor& param = *V1LayerParameter::GetDescriptor()->FindFieldByName(move->param);
  if (*move->name == '\0') {
    CopyValue(v0, field, v1, param);
    return true;
  }
  Message* const message = V1LayerParameter::GetReflection()->MutableMessage(v1, &param);
  CopyValue(v0, field, message, *message->GetDescriptor()->FindFieldByName(move->name));
  return true;
}

/// What every type has, and what Caffe drops without a word.
bool IsOfAnyType(int field) {
  using V0 = V0LayerParameter;
  constexpr int kFields[] = {V0::kNameFieldNumber,       V0::kTypeFieldNumber,        V0::kBlobsFieldNumber,
                             V0::kBlobsLrFieldNumber,    V0::kWeightDecayFieldNumber, V0::kNewNumFieldNumber,
                             V0::kNewChannelsFieldNumber};
  return std::find(std::begin(kFields), std::end(kFields), field) != std::end(kFields);
}

/// Fields beside a V0 layer, which has all in it.
void WarnOfV1Fields(const V1LayerParameter& connection) {
  std::vector<const FieldDescriptor*> fields;
  V1LayerParameter::GetReflection()->ListFields(connection, &fields);
  for (const FieldDescriptor* const field : fields)
    if (field->number() != V1LayerParameter::kLayerFieldNumber)
      Log(LogLevel::kWarning, "layer '" + connection.layer().name() + "': " + std::string(field->name()) +
                                  " is dropped: a V0 layer has it within its `layer { }`, or not at all");
}

}  // namespace

namespace detail {

bool UpgradeV0Layer(V1LayerParameter* connection) {
  V1LayerParameter v1;
  v1.mutable_bottom()->Swap(connection->mutable_bottom());
  v1.mutable_top()->Swap(connection->mutable_top());
  WarnOfV1Fields(*connection);
  bool all = MoveUnknownFields(connection->layer().name(), connection, &v1);
  if (connection->has_layer()) {
    V0LayerParameter& v0 = *connection->mutable_layer();
    all &= MoveUnknownFields(v0.name(), &v0, &v1);
    if (v0.has_name()) v1.set_name(v0.name());
    if (v0.has_type()) v1.set_type(UpgradeV0LayerType(v0.type()));
    v1.mutable_blobs()->Swap(v0.mutable_blobs());
    v1.mutable_blobs_lr()->Swap(v0.mutable_blobs_lr());
    v1.mutable_weight_decay()->Swap(v0.mutable_weight_decay());
    std::vector<const FieldDescriptor*> fields;
    V0LayerParameter::GetReflection()->ListFields(v0, &fields);
    for (const FieldDescriptor* const field : fields) {
      if (IsOfAnyType(field->number()) || MoveField(v0, *field, &v1)) continue;
      all = false;
      Log(LogLevel::kWarning, "layer '" + v0.name() + "': " + std::string(field->name()) +
                                  " is dropped: V0 layers of type '" + v0.type() + "' have none");
    }
  }
  connection->Swap(&v1);
  return all;
}

}  // namespace detail

V1LayerParameter::LayerType UpgradeV0LayerType(const std::string& type) {
  const auto* const found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                         [&](const auto& candidate) { return candidate.first == type; });
  if (found == std::end(kTypes)) {
    std::string known;
    for (const auto& [name, number] : kTypes) known += (known.empty() ? "" : ", ") + std::string(name);
    throw NetError("V0 layer type '" + type + "' is unknown; there are " + known + ", padding");
  }
  return found->second;
}

bool UpgradeV0LayerParameter(const V1LayerParameter& v0, V1LayerParameter* v1) {
  V1LayerParameter layer(v0);
  const bool all = detail::UpgradeV0Layer(&layer);
  *v1 = std::move(layer);
  return all;
}

}  // namespace ferry
