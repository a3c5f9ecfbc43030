// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/net/weights.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>

#include "core/device/name.hpp"
#include "core/nets/hdf5/hdf5_file.hpp"
#include "core/nets/net/graph.hpp"
#include "ferry/detail/message.hpp"
#include "ferry/log.hpp"
#include "ferry/nets/proto_io.hpp"

namespace ferry {
namespace detail {

void FailParamCount(const std::string& layer, std::size_t source, std::size_t target,
                    const std::string& file) {
  throw NetError(file + (file.empty() ? "" : ": ") + "Incompatible number of blobs for layer '" + layer +
                 "': the source has " + std::to_string(source) + ", this net " + std::to_string(target) +
                 "; to learn the layer from scratch, rename it");
}

void FailParamShape(const std::string& layer, int param, const std::string& source, const std::string& target,
                    const std::string& file) {
  throw NetError(file + (file.empty() ? "" : ": ") + "Cannot copy param " + std::to_string(param) +
                 " weights from layer '" + layer + "'; shape mismatch. Source param shape is " + source +
                 "; target param shape is " + target +
                 ". To learn this layer's parameters from scratch, rename the layer");
}

bool Ignore(const std::string& layer, bool has_weights) {
  Log(has_weights ? LogLevel::kWarning : LogLevel::kInfo, "Ignoring source layer " + layer);
  return true;
}

void KeepOwn(const std::string& layer) {
  Log(LogLevel::kWarning, "The source has no layer '" + layer + "': its weights stay as they are");
}

template <class T>
std::vector<T*> OverwriteAll(Device& device, std::span<const Operand<T>> operands, const Site& site) {
  std::vector<Request> requests(operands.size());
  std::transform(operands.begin(), operands.end(), requests.begin(),
                 [](const Operand<T>& operand) { return operand.request(); });
  std::vector<void*> ptrs(operands.size());
  TakeAt({Place::Cpu(device), site}, requests, ptrs);
  std::vector<T*> elements(operands.size());
  std::transform(ptrs.begin(), ptrs.end(), elements.begin(), [](void* ptr) { return static_cast<T*>(ptr); });
  return elements;
}
template std::vector<float*> OverwriteAll(Device&, std::span<const Operand<float>>, const Site&);
template std::vector<double*> OverwriteAll(Device&, std::span<const Operand<double>>, const Site&);

}  // namespace detail

namespace {

using detail::Index;
using detail::SizeOf;

/// The first layer of that name, or null.
template <class T>
Layer<T>* FindLayer(const detail::NetGraph<T>& graph, const std::string& name) {
  const auto found = std::find(graph.layer_names.begin(), graph.layer_names.end(), name);
  if (found == graph.layer_names.end()) return nullptr;
  return graph.layers[static_cast<std::size_t>(found - graph.layer_names.begin())].get();
}

/// Even where the dims are none that a blob can have.
std::string Describe(std::span<const std::int64_t> dims) {
  std::string text;
  for (const std::int64_t dim : dims) text += std::to_string(dim) + ' ';
  return text.empty() ? "that of one number" : text.substr(0, text.size() - 1);
}

template <class T>
void RequireFit(const std::string& layer, int i, const BlobProto& source, const Blob<T>& target) {
  if (!target.ShapeEquals(source))
    detail::FailParamShape(layer, i, Describe(detail::ContentsOf(source).dims()), target.shape_string());
  const std::int64_t count = target.count();
  const int data = source.double_data_size() != 0 ? source.double_data_size() : source.data_size();
  const int diff = source.double_diff_size() != 0 ? source.double_diff_size() : source.diff_size();
  if (data != count || (diff != 0 && diff != count))
    throw NetError("Cannot copy param " + std::to_string(i) + " weights from layer '" + layer +
                   "': the source has " + std::to_string(data) + " elements and " + std::to_string(diff) +
                   " gradients for shape " + target.shape_string());
}

}  // namespace

template <class T>
void Net<T>::CopyTrainedLayersFrom(const NetParameter& param, const Site& site) {
  std::vector<std::pair<Blob<T>*, const BlobProto*>> copies;
  std::vector<Operand<T>> written;
  for (const LayerParameter& source : param.layer()) {
    const Layer<T>* const target = FindLayer(*graph_, source.name());
    if (target == nullptr && detail::Ignore(source.name(), source.blobs_size() != 0)) continue;
    if (SizeOf(target->blobs()) != source.blobs_size())
      detail::FailParamCount(source.name(), Index(source.blobs_size()), target->blobs().size());
    for (int i = 0; i < source.blobs_size(); ++i) {
      Blob<T>& blob = *target->blobs()[Index(i)];
      RequireFit(source.name(), i, source.blobs(i), blob);
      copies.emplace_back(&blob, &source.blobs(i));
      written.push_back(Overwrite(blob));
      if (source.blobs(i).diff_size() != 0 || source.blobs(i).double_diff_size() != 0)
        written.push_back(Overwrite(Diff(blob)));
    }
  }
  for (std::size_t i = 0; i < graph_->layers.size(); ++i) {
    const auto is_it = [&](const LayerParameter& source) { return source.name() == graph_->layer_names[i]; };
    if (!graph_->layers[i]->blobs().empty() &&
        std::none_of(param.layer().begin(), param.layer().end(), is_it))
      detail::KeepOwn(graph_->layer_names[i]);
  }
  detail::OverwriteAll<T>(graph_->place.device(), written, site);
  for (const auto& [blob, source] : copies) blob->FromProto(*source, WithReshape::kNo, site);
}

template <class T>
void Net<T>::CopyTrainedLayersFromBinaryProto(const std::filesystem::path& file, const Site& site) {
  NetParameter param;
  ReadNetParamsFromBinaryFileOrDie(file, &param);
  try {
    CopyTrainedLayersFrom(param, site);
  } catch (const NetError& error) {
    throw NetError(file.string() + ": " + error.what());
  }
}

template <class T>
void Net<T>::CopyTrainedLayersFrom(const std::filesystem::path& file, const Site& site) {
  detail::IsHdf5(file) ? CopyTrainedLayersFromHDF5(file, site) : CopyTrainedLayersFromBinaryProto(file, site);
}

template <class T>
void Net<T>::ShareWeights() {
  detail::ShareParams(*graph_);
}

template <class T>
void Net<T>::ShareTrainedLayersWith(const Net* other) {
  if (other == nullptr) throw std::invalid_argument("Net::ShareTrainedLayersWith: the pointer is null");
  Device& device = graph_->place.device();
  if (&device != &other->place().device())
    throw NetError("Net::ShareTrainedLayersWith: the other net is on the device " +
                   Name(other->place().device()) + ", this one on " + Name(device) +
                   "; copy by ToProto and CopyTrainedLayersFrom");
  std::vector<std::pair<Blob<T>*, const Blob<T>*>> shares;
  for (const auto& source : other->layers()) {
    const std::string& name = source->layer_param().name();
    const Layer<T>* const target = FindLayer(*graph_, name);
    if (target == nullptr && detail::Ignore(name, false)) continue;
    if (target->blobs().size() != source->blobs().size())
      detail::FailParamCount(name, source->blobs().size(), target->blobs().size());
    for (int i = 0; i < SizeOf(source->blobs()); ++i) {
      const Blob<T>& from = *source->blobs()[Index(i)];
      Blob<T>& to = *target->blobs()[Index(i)];
      // Counts, too: no shape differs from that of one number.
      if (from.shape() != to.shape() || from.count() != to.count())
        detail::FailParamShape(name, i, from.shape_string(), to.shape_string());
      shares.emplace_back(&to, &from);
    }
  }
  for (const auto& [to, from] : shares) to->ShareData(*from);
}

template <class T>
void Net<T>::ToProto(NetParameter* param, bool write_diff) const {
  if (param == nullptr) throw std::invalid_argument("Net::ToProto: the pointer is null");
  NetParameter written;
  written.set_name(graph_->name);
  for (const auto& layer : graph_->layers) layer->ToProto(written.add_layer(), write_diff);
  param->Swap(&written);
}

#define FERRY_INSTANTIATE(T)                                                                         \
  template void Net<T>::CopyTrainedLayersFrom(const NetParameter&, const Site&);                     \
  template void Net<T>::CopyTrainedLayersFromBinaryProto(const std::filesystem::path&, const Site&); \
  template void Net<T>::CopyTrainedLayersFrom(const std::filesystem::path&, const Site&);            \
  template void Net<T>::ShareWeights();                                                              \
  template void Net<T>::ShareTrainedLayersWith(const Net*);                                          \
  template void Net<T>::ToProto(NetParameter*, bool) const
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry
