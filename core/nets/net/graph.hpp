// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ferry/nets/net.hpp"

namespace ferry::detail {

/// An index, and a size, as the standard library counts.
constexpr std::size_t Index(int i) noexcept { return static_cast<std::size_t>(i); }
template <class V>
int SizeOf(const V& of) noexcept {
  return static_cast<int>(of.size());
}

/// A layer in its net: which blobs and parameters of the net it has.
struct NetNode {
  std::vector<int> bottom_ids, top_ids, param_ids;
};

/// Blobs that have one storage, such as a Split's bottom and tops, and the layers that use any of them.
struct StorageGroup {
  std::vector<int> blobs;
  int first = 0;
  int last = 0;
  bool keeps_own = false;  ///< it shares with no other group
};

/// What a Net has. Layers, blobs and parameters are known by their indices.
template <class T>
struct NetGraph {
  explicit NetGraph(Place at) : place(std::move(at)) {}

  std::string name;
  Phase phase = TEST;
  Place place;
  bool debug_info = false;

  std::vector<std::shared_ptr<Layer<T>>> layers;
  std::vector<std::string> layer_names;
  std::map<std::string, int> layer_index;
  std::vector<bool> layer_need_backward;
  std::vector<NetNode> nodes;
  std::vector<std::vector<Blob<T>*>> bottom_vecs, top_vecs;
  std::vector<std::vector<bool>> bottom_need_backward;

  std::vector<std::shared_ptr<Blob<T>>> blobs;
  std::vector<std::string> blob_names;
  std::map<std::string, int> blob_index;
  std::vector<bool> blob_need_backward;
  std::vector<T> blob_loss_weights;
  std::vector<Blob<T>*> inputs, outputs;
  std::vector<int> input_ids, output_ids;

  std::vector<std::shared_ptr<Blob<T>>> params;
  std::vector<int> param_layers;   ///< whose each is
  std::vector<int> param_owners;   ///< -1 for one that is its own
  std::vector<int> learnable_ids;  ///< which of the learnable ones each is, or shares
  std::vector<std::string> param_display_names;
  std::map<std::string, int> param_index;
  std::vector<Blob<T>*> learnable_params;
  std::vector<float> lr, decay;
  std::vector<bool> has_lr, has_decay;

  using Callbacks = std::vector<std::function<void(int)>>;
  Callbacks before_forward, after_forward, before_backward, after_backward;

  Activations activations = Activations::kKept;
  std::vector<StorageGroup> storage_groups;  ///< once they are shared
  std::vector<Shape> fitted_to;  ///< the inputs' shapes in the last Reshape; none once layers may have others
  int next_layer = 0;            ///< the one after the last that ran forward
  static constexpr int kNone = std::numeric_limits<int>::max();
  int failed = kNone;  ///< the layer at which a pass forward ended: from there on, shapes may not fit
};

template <class T>
std::vector<Shape> InputShapes(const NetGraph<T>& graph) {
  std::vector<Shape> shapes;
  shapes.reserve(graph.inputs.size());
  for (const Blob<T>* input : graph.inputs) shapes.push_back(input->shape());
  return shapes;
}

/// Throws NetError for a blob that nobody makes before it is read, or that two layers make.
void CheckConnections(const NetParameter& net);

/// Makes the layers and blobs of a net without rules, and connects them. Throws NetError.
template <class T>
std::unique_ptr<NetGraph<T>> BuildNet(const NetParameter& param, const Place& place, RandomSeed seed);

/// Takes the parameters of layer number `layer`, the last one so far, into the net. Which of them get a
/// gradient is what the net's text, `said`, says; the layer itself may have set their rates. Throws NetError.
template <class T>
void AddParams(NetGraph<T>& graph, int layer, const LayerParameter& said);
/// Those that share have their owner's storage from now on.
template <class T>
void ShareParams(NetGraph<T>& graph);

/// Says which layers and bottoms need no gradient after all, as it would reach no parameter or comes from no
/// loss.
template <class T>
void DropNeedlessBackward(NetGraph<T>& graph);
/// All layers need one, and all bottoms that allow it.
template <class T>
void ForceBackward(NetGraph<T>& graph);

/// @name Caffe's debug_info: means of absolute values, in the log
///@{
template <class T>
void LogForward(const NetGraph<T>& graph, int layer);
template <class T>
void LogBackward(const NetGraph<T>& graph, int layer);
template <class T>
void LogAllBackward(const NetGraph<T>& graph);
///@}

/// Gives blobs whose lives do not overlap one storage.
template <class T>
void ShareActivations(NetGraph<T>& graph);

}  // namespace ferry::detail
