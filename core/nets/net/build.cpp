// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <set>
#include <utility>

#include "core/nets/net/graph.hpp"
#include "core/nets/net/naming_layer.hpp"
#include "ferry/nets/layer_registry.hpp"

namespace ferry::detail {
namespace {

/// A net while it is built, layer by layer.
template <class T>
class Builder {
 public:
  Builder(const NetParameter& param, NetGraph<T>& graph, RandomSeed seed)
      : param_(param), graph_(graph), seed_(seed) {}

  void Add(int index) {
    LayerParameter layer = param_.layer(index);
    if (!layer.has_phase()) layer.set_phase(graph_.phase);
    const int weights = layer.propagate_down_size();
    if (weights != 0 && weights != layer.bottom_size())
      throw NetError("layer '" + layer.name() + "' (" + layer.type() + "): " + std::to_string(weights) +
                     " propagate_down for " + std::to_string(layer.bottom_size()) +
                     " bottom blobs; say one for each, or none");
    NamingLayer(layer, [&] { AddLayer(layer, index); });
    AddParams(graph_, index, layer);
    NoteNeeds(index);
  }

  void Finish() {
    for (const std::string& name : unread_) {
      graph_.output_ids.push_back(ids_.at(name));
      graph_.outputs.push_back(graph_.blobs[Index(ids_.at(name))].get());
    }
    for (int i = 0; i < SizeOf(graph_.blob_names); ++i) graph_.blob_index[graph_.blob_names[Index(i)]] = i;
    for (int i = 0; i < SizeOf(graph_.layer_names); ++i) graph_.layer_index[graph_.layer_names[Index(i)]] = i;
  }

 private:
  void AddLayer(const LayerParameter& layer, int index) {
    graph_.layers.push_back(LayerRegistry<T>::CreateLayer(layer, graph_.place));
    graph_.layer_names.push_back(layer.name());
    graph_.layer_need_backward.push_back(false);
    graph_.nodes.emplace_back();
    graph_.bottom_vecs.emplace_back();
    graph_.top_vecs.emplace_back();
    graph_.bottom_need_backward.emplace_back();
    Layer<T>& made = *graph_.layers.back();
    made.set_random_key({seed_.value, static_cast<std::uint64_t>(index), 0});

    for (int i = 0; i < layer.bottom_size(); ++i) AddBottom(layer, i);
    for (int i = 0; i < layer.top_size(); ++i) AddTop(layer, i);
    if (layer.type() == "Input")
      for (const int id : graph_.nodes.back().top_ids) {
        graph_.input_ids.push_back(id);
        graph_.inputs.push_back(graph_.blobs[Index(id)].get());
      }
    if (made.AutoTopBlobs())
      for (int i = layer.top_size(); i < std::max(made.MinTopBlobs(), made.ExactNumTopBlobs()); ++i)
        Read(graph_.top_vecs, graph_.nodes.back().top_ids, NewBlob("(automatic)"));
    made.SetUp(graph_.bottom_vecs.back(), graph_.top_vecs.back());
  }

  void AddBottom(const LayerParameter& layer, int i) {
    const std::string& name = layer.bottom(i);
    if (unread_.erase(name) == 0)
      throw NetError("Unknown bottom blob '" + name + "' (layer '" + layer.name() + "', bottom index " +
                     std::to_string(i) + ")");
    const int id = ids_.at(name);
    Read(graph_.bottom_vecs, graph_.nodes.back().bottom_ids, id);
    graph_.bottom_need_backward.back().push_back(
        layer.propagate_down_size() != 0 ? layer.propagate_down(i) : graph_.blob_need_backward[Index(id)]);
  }

  void AddTop(const LayerParameter& layer, int i) {
    const std::string& name = layer.top(i);
    const bool in_place = i < layer.bottom_size() && layer.bottom(i) == name;
    if (!in_place) {
      if (ids_.contains(name))
        throw NetError("Top blob '" + name + "' produced by multiple sources (layer '" + layer.name() +
                       "', top index " + std::to_string(i) + ")");
      ids_[name] = NewBlob(name);
    }
    Read(graph_.top_vecs, graph_.nodes.back().top_ids, ids_.at(name));
    unread_.insert(name);
  }

  /// The layer at hand reads, or makes, that blob.
  void Read(std::vector<std::vector<Blob<T>*>>& blobs, std::vector<int>& ids, int id) {
    ids.push_back(id);
    blobs.back().push_back(graph_.blobs[Index(id)].get());
  }

  int NewBlob(const std::string& name) {
    graph_.blobs.push_back(std::make_shared<Blob<T>>(graph_.place.device()));
    graph_.blobs.back()->set_name(name);
    graph_.blob_names.push_back(name);
    graph_.blob_need_backward.push_back(false);
    graph_.blob_loss_weights.push_back(T(0));
    return SizeOf(graph_.blobs) - 1;
  }

  /// A layer needs a gradient if a bottom of its does, or a parameter; then its tops do, too.
  void NoteNeeds(int index) {
    const Layer<T>& layer = *graph_.layers.back();
    const NetNode& node = graph_.nodes.back();
    bool need = false;
    for (const int id : node.bottom_ids) need = need || graph_.blob_need_backward[Index(id)];
    for (int i = 0; i < SizeOf(layer.blobs()); ++i) need = need || layer.param_propagate_down(i);
    graph_.layer_need_backward[Index(index)] = need;
    for (int i = 0; i < SizeOf(node.top_ids); ++i) {
      const std::size_t id = Index(node.top_ids[Index(i)]);
      graph_.blob_loss_weights[id] = layer.loss(i);
      if (need) graph_.blob_need_backward[id] = true;
    }
  }

  const NetParameter& param_;
  NetGraph<T>& graph_;
  const RandomSeed seed_;
  std::map<std::string, int> ids_;
  std::set<std::string> unread_;
};

}  // namespace

template <class T>
std::unique_ptr<NetGraph<T>> BuildNet(const NetParameter& param, const Place& place, RandomSeed seed) {
  auto graph = std::make_unique<NetGraph<T>>(place);
  graph->name = param.name();
  graph->phase = param.state().phase();
  graph->debug_info = param.debug_info();
  Builder<T> builder(param, *graph, seed);
  for (int i = 0; i < param.layer_size(); ++i) builder.Add(i);
  DropNeedlessBackward(*graph);
  if (param.force_backward()) ForceBackward(*graph);
  builder.Finish();
  ShareParams(*graph);
  graph->fitted_to = InputShapes(*graph);
  return graph;
}

template std::unique_ptr<NetGraph<float>> BuildNet(const NetParameter&, const Place&, RandomSeed);
template std::unique_ptr<NetGraph<double>> BuildNet(const NetParameter&, const Place&, RandomSeed);

}  // namespace ferry::detail
