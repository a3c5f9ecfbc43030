// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/net/weights.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>

#include "core/device/name.hpp"
#include "core/nets/hdf5/hdf5_file.hpp"
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
  if (const std::string flaw = detail::CountFlaw(source, target); !flaw.empty())
    throw NetError("Cannot copy param " + std::to_string(i) + " weights from layer '" + layer + "': " + flaw);
}

}  // namespace

template <class T>
void detail::AddWeights(const NetGraph<T>& graph, const NetParameter& param, BlobWrites<T>& writes) {
  for (const LayerParameter& source : param.layer()) {
    const Layer<T>* const target = FindLayer(graph, source.name());
    if (target == nullptr && Ignore(source.name(), source.blobs_size() != 0)) continue;
    if (SizeOf(target->blobs()) != source.blobs_size())
      FailParamCount(source.name(), Index(source.blobs_size()), target->blobs().size());
    for (int i = 0; i < source.blobs_size(); ++i) {
      Blob<T>& blob = *target->blobs()[Index(i)];
      RequireFit(source.name(), i, source.blobs(i), blob);
      writes.Add(blob, source.blobs(i));
    }
  }
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const auto is_it = [&](const LayerParameter& source) { return source.name() == graph.layer_names[i]; };
    if (!graph.layers[i]->blobs().empty() && std::none_of(param.layer().begin(), param.layer().end(), is_it))
      KeepOwn(graph.layer_names[i]);
  }
}

template <class T>
void detail::AddWeightsOfBinaryProto(const NetGraph<T>& graph, const std::filesystem::path& file,
                                     NetParameter& param, BlobWrites<T>& writes) {
  ReadNetParamsFromBinaryFileOrDie(file, &param);
  try {
    AddWeights(graph, param, writes);
  } catch (const NetError& error) {
    throw NetError(file.string() + ": " + error.what());
  }
}

template <class T>
void detail::AddWeights(const NetGraph<T>& graph, const std::filesystem::path& file, NetParameter& param,
                        BlobWrites<T>& writes) {
  IsHdf5(file) ? AddWeightsOfHdf5(graph, file, writes) : AddWeightsOfBinaryProto(graph, file, param, writes);
}

template <class T>
void Net<T>::CopyTrainedLayersFrom(const NetParameter& param, const Site& site) {
  detail::BlobWrites<T> writes;
  detail::AddWeights(*graph_, param, writes);
  writes.Make(graph_->place.device(), site);
}

template <class T>
void Net<T>::CopyTrainedLayersFromBinaryProto(const std::filesystem::path& file, const Site& site) {
  NetParameter param;
  detail::BlobWrites<T> writes;
  detail::AddWeightsOfBinaryProto(*graph_, file, param, writes);
  writes.Make(graph_->place.device(), site);
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
  template void detail::AddWeights(const NetGraph<T>&, const std::filesystem::path&, NetParameter&,  \
                                   BlobWrites<T>&);                                                  \
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
