// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>
#include <sstream>

#include "core/nets/net/graph.hpp"

namespace ferry::detail {
namespace {

template <class X>
std::string TextOf(const X& x) {
  std::ostringstream text;
  text << x;
  return text.str();
}

/// A multiplier that both may give must be one.
void Agree(bool given, float value, bool& owner_given, float& owner_value, const std::string& which) {
  if (!given) return;
  if (owner_given && owner_value != value)
    throw NetError(which + ' ' + TextOf(value) + ", and its owner " + TextOf(owner_value) +
                   "; let both say the same, or one of them nothing");
  owner_given = true;
  owner_value = value;
}

/// Makes parameter number `id` of the net one that shares the storage of number `owner`.
template <class T>
void Share(NetGraph<T>& graph, int id, int owner, const ParamSpec& spec) {
  const std::string which = "Cannot share param '" + spec.name() + "' owned by layer '" +
                            graph.layer_names[Index(graph.param_layers[Index(owner)])] + "' with layer '" +
                            graph.layer_names[Index(graph.param_layers[Index(id)])] + "'; ";
  const Blob<T>& own = *graph.params[Index(id)];
  const Blob<T>& others = *graph.params[Index(owner)];
  const bool permissive = spec.share_mode() == ParamSpec::PERMISSIVE;
  if (permissive ? own.count() != others.count() : own.shape() != others.shape())
    throw NetError(which + (permissive ? "count" : "shape") + " mismatch. Owner layer param shape is " +
                   others.shape_string() + "; sharing layer expects shape " + own.shape_string());
  const std::size_t learnable = Index(graph.learnable_ids[Index(owner)]);
  bool has_lr = graph.has_lr[learnable], has_decay = graph.has_decay[learnable];
  Agree(spec.has_lr_mult(), spec.lr_mult(), has_lr, graph.lr[learnable], which + "it has lr_mult");
  Agree(spec.has_decay_mult(), spec.decay_mult(), has_decay, graph.decay[learnable],
        which + "it has decay_mult");
  graph.has_lr[learnable] = has_lr;
  graph.has_decay[learnable] = has_decay;
}

template <class T>
void Own(NetGraph<T>& graph, int id, const ParamSpec& spec) {
  if (!spec.name().empty()) graph.param_index[spec.name()] = id;
  graph.learnable_params.push_back(graph.params[Index(id)].get());
  graph.lr.push_back(spec.lr_mult());
  graph.has_lr.push_back(spec.has_lr_mult());
  graph.decay.push_back(spec.decay_mult());
  graph.has_decay.push_back(spec.has_decay_mult());
}

}  // namespace

template <class T>
void AddParams(NetGraph<T>& graph, int layer, const LayerParameter& said) {
  Layer<T>& of = *graph.layers[Index(layer)];
  const LayerParameter& param = of.layer_param();
  if (param.param_size() > SizeOf(of.blobs()))
    throw NetError("layer '" + param.name() + "' (" + param.type() +
                   "): Too many params specified: " + std::to_string(param.param_size()) + " param for " +
                   std::to_string(of.blobs().size()) + " parameters");
  for (int i = 0; i < SizeOf(of.blobs()); ++i) {
    const ParamSpec spec = i < param.param_size() ? param.param(i) : ParamSpec();
    if (!std::isfinite(spec.lr_mult()) || !std::isfinite(spec.decay_mult()))
      throw NetError("layer '" + param.name() + "' (" + param.type() + "): param " + std::to_string(i) +
                     " has lr_mult " + TextOf(spec.lr_mult()) + " and decay_mult " +
                     TextOf(spec.decay_mult()) + "; they must be finite");
    of.set_param_propagate_down(i, i >= said.param_size() || said.param(i).lr_mult() != 0);
    const int id = SizeOf(graph.params);
    const auto same_name =
        spec.name().empty() ? graph.param_index.end() : graph.param_index.find(spec.name());
    const int owner = same_name == graph.param_index.end() ? -1 : same_name->second;
    graph.nodes[Index(layer)].param_ids.push_back(id);
    graph.params.push_back(of.blobs()[Index(i)]);
    graph.params.back()->set_name(spec.name().empty() ? param.name() + '.' + std::to_string(i) : spec.name());
    graph.param_layers.push_back(layer);
    graph.param_owners.push_back(owner);
    graph.learnable_ids.push_back(owner < 0 ? SizeOf(graph.learnable_params)
                                            : graph.learnable_ids[Index(owner)]);
    graph.param_display_names.push_back(spec.name().empty() ? std::to_string(i) : spec.name());
    owner < 0 ? Own(graph, id, spec) : Share(graph, id, owner, spec);
  }
}

template <class T>
void ShareParams(NetGraph<T>& graph) {
  for (int i = 0; i < SizeOf(graph.params); ++i) {
    const int owner = graph.param_owners[Index(i)];
    if (owner < 0) continue;
    graph.params[Index(i)]->ShareData(*graph.params[Index(owner)]);
    graph.params[Index(i)]->ShareDiff(*graph.params[Index(owner)]);
  }
}

template void AddParams(NetGraph<float>&, int, const LayerParameter&);
template void AddParams(NetGraph<double>&, int, const LayerParameter&);
template void ShareParams(NetGraph<float>&);
template void ShareParams(NetGraph<double>&);

}  // namespace ferry::detail
