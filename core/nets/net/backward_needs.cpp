// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/net/graph.hpp"

namespace ferry::detail {

// A layer is left out if no top of its leads to a loss, or if all tops are bottoms that nobody propagates to.
template <class T>
void DropNeedlessBackward(NetGraph<T>& graph) {
  std::vector<bool> under_loss(graph.blobs.size(), false);
  std::vector<bool> skipped(graph.blobs.size(), false);
  for (int l = SizeOf(graph.layers) - 1; l >= 0; --l) {
    const NetNode& node = graph.nodes[Index(l)];
    bool to_loss = false;
    bool all_skipped = true;
    for (int i = 0; i < SizeOf(node.top_ids); ++i) {
      const std::size_t id = Index(node.top_ids[Index(i)]);
      to_loss = to_loss || graph.layers[Index(l)]->loss(i) != T(0) || under_loss[id];
      all_skipped = all_skipped && skipped[id];
    }
    std::vector<bool>& bottoms = graph.bottom_need_backward[Index(l)];
    const bool drop = !to_loss || (graph.layer_need_backward[Index(l)] && all_skipped);
    if (drop) bottoms.assign(bottoms.size(), false);
    if (drop) graph.layer_need_backward[Index(l)] = false;
    for (int i = 0; i < SizeOf(node.bottom_ids); ++i) {
      const std::size_t id = Index(node.bottom_ids[Index(i)]);
      if (to_loss) under_loss[id] = true;
      if (!bottoms[Index(i)]) skipped[id] = true;
    }
  }
}

template <class T>
void ForceBackward(NetGraph<T>& graph) {
  for (int l = 0; l < SizeOf(graph.layers); ++l) {
    Layer<T>& layer = *graph.layers[Index(l)];
    graph.layer_need_backward[Index(l)] = true;
    std::vector<bool>& bottoms = graph.bottom_need_backward[Index(l)];
    for (int i = 0; i < SizeOf(bottoms); ++i) {
      if (layer.AllowForceBackward(i)) bottoms[Index(i)] = true;
      if (bottoms[Index(i)])
        graph.blob_need_backward[Index(graph.nodes[Index(l)].bottom_ids[Index(i)])] = true;
    }
    for (int i = 0; i < SizeOf(layer.blobs()); ++i) layer.set_param_propagate_down(i, true);
  }
}

template void DropNeedlessBackward(NetGraph<float>&);
template void DropNeedlessBackward(NetGraph<double>&);
template void ForceBackward(NetGraph<float>&);
template void ForceBackward(NetGraph<double>&);

}  // namespace ferry::detail
