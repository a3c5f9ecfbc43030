// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <numeric>
#include <set>

#include "core/nets/layers/layers.hpp"
#include "core/nets/net/graph.hpp"
#include "core/nets/net/storage_plan.hpp"

namespace ferry {
namespace detail {
namespace {

/// A layer of somebody else's may make its tops share storage during a pass, as Caffe's own do.
bool IsOurs(const std::string& type) {
#define FERRY_NETS_NAME(type) #type,
  static const std::set<std::string> types{FERRY_NETS_LAYERS(FERRY_NETS_NAME)};
#undef FERRY_NETS_NAME
  return types.contains(type);
}

/// Of a net whose activations are kept: our layers share storage when they are set up, so it tells.
template <class T>
std::vector<StorageGroup> FindGroups(const NetGraph<T>& graph) {
  std::vector<StorageGroup> groups;
  std::vector<std::size_t> group_of;
  std::map<const SyncedMemory*, std::size_t> group_of_memory;
  for (int i = 0; i < SizeOf(graph.blobs); ++i) {
    const MemoryPtr& memory = graph.blobs[Index(i)]->data();
    const auto known = memory == nullptr ? group_of_memory.end() : group_of_memory.find(memory.get());
    group_of.push_back(known == group_of_memory.end() ? groups.size() : known->second);
    if (group_of.back() == groups.size()) groups.emplace_back();
    group_of_memory.emplace(memory.get(), group_of.back());
    groups[group_of.back()].blobs.push_back(i);
  }
  for (StorageGroup& group : groups) {  // a layer's buffer, or a blob of the caller's, may have it, too
    const MemoryPtr& memory = graph.blobs[Index(group.blobs.front())]->data();
    group.keeps_own = memory.use_count() != static_cast<long>(group.blobs.size());
  }
  for (const int id : graph.output_ids) groups[group_of[Index(id)]].keeps_own = true;

  std::vector<bool> read(graph.blobs.size(), false);
  for (int l = 0; l < SizeOf(graph.layers); ++l) {
    const LayerParameter& param = graph.layers[Index(l)]->layer_param();
    const bool keep = param.bottom_size() == 0 || !IsOurs(param.type());
    const auto use = [&](int id) {
      StorageGroup& group = groups[group_of[Index(id)]];
      if (group.last < 0) group.first = l;
      group.last = l;
      group.keeps_own = group.keeps_own || keep;
    };
    for (const int id : graph.nodes[Index(l)].bottom_ids) read[Index(id)] = true;
    std::for_each(graph.nodes[Index(l)].bottom_ids.begin(), graph.nodes[Index(l)].bottom_ids.end(), use);
    std::for_each(graph.nodes[Index(l)].top_ids.begin(), graph.nodes[Index(l)].top_ids.end(), use);
  }
  for (std::size_t i = 0; i < read.size(); ++i)
    if (!read[i]) groups[group_of[i]].keeps_own = true;
  return groups;
}

template <class T>
std::size_t BytesIn(const NetGraph<T>& graph, const StorageGroup& group) {
  std::int64_t count = 0;
  for (const int id : group.blobs) count = std::max(count, graph.blobs[Index(id)]->count());
  return static_cast<std::size_t>(count) * sizeof(T);
}

/// A plan for those that do not keep their own.
struct Sharing {
  std::vector<const StorageGroup*> groups;
  StoragePlan plan;
};

template <class T>
Sharing PlanFor(const NetGraph<T>& graph, const std::vector<StorageGroup>& groups) {
  Sharing sharing;
  std::vector<Life> lives;
  for (const StorageGroup& group : groups) {
    const std::size_t bytes = BytesIn(graph, group);
    if (group.keeps_own || bytes == 0) continue;
    sharing.groups.push_back(&group);
    lives.push_back({group.first, group.last, bytes});
  }
  sharing.plan = PlanStorage(lives);
  return sharing;
}

/// The layer that needs a gradient, or -1.
template <class T>
int LayerWithGradient(const NetGraph<T>& graph) {
  const auto& need = graph.layer_need_backward;
  const auto found = std::find(need.begin(), need.end(), true);
  return found == need.end() ? -1 : static_cast<int>(found - need.begin());
}

}  // namespace

template <class T>
void ShareActivations(NetGraph<T>& graph) {
  if (graph.activations == Activations::kKept) graph.storage_groups = FindGroups(graph);
  const Sharing sharing = PlanFor(graph, graph.storage_groups);
  std::vector<Blob<T>> slots;
  for (const std::size_t bytes : sharing.plan.bytes) {
    slots.emplace_back(Shape{static_cast<std::int64_t>(bytes / sizeof(T))}, graph.place.device());
    slots.back().set_name("activations." + std::to_string(slots.size() - 1));
  }
  for (std::size_t i = 0; i < sharing.groups.size(); ++i)
    for (const int id : sharing.groups[i]->blobs) {
      Blob<T>& blob = *graph.blobs[Index(id)];
      blob.ShareData(slots[sharing.plan.slot_of[i]].Slice(0, blob.count()));
    }
  graph.activations = Activations::kShared;
  graph.planned_for.clear();
  for (const Blob<T>* input : graph.inputs) graph.planned_for.push_back(input->shape());
  graph.next_layer = 0;
}

template void ShareActivations(NetGraph<float>&);
template void ShareActivations(NetGraph<double>&);

}  // namespace detail

template <class T>
void Net<T>::share_activations() {
  const int layer = detail::LayerWithGradient(*graph_);
  if (layer >= 0)
    throw NetError("Net::share_activations: layer '" + graph_->layer_names[detail::Index(layer)] +
                   "' of net '" + graph_->name +
                   "' needs a gradient, which looks at blobs when the pass forward is over; take the net "
                   "without a loss and without force_backward");
  detail::ShareActivations(*graph_);
}

template <class T>
ActivationBytes Net<T>::activation_bytes() const {
  const std::vector<detail::StorageGroup> groups =
      graph_->activations == Activations::kKept ? detail::FindGroups(*graph_) : graph_->storage_groups;
  ActivationBytes bytes{0, 0};
  std::size_t own = 0;
  for (const detail::StorageGroup& group : groups) {
    bytes.kept += detail::BytesIn(*graph_, group);
    own += group.keeps_own ? detail::BytesIn(*graph_, group) : 0;
  }
  const std::vector<std::size_t> slots = detail::PlanFor(*graph_, groups).plan.bytes;
  bytes.planned =
      detail::LayerWithGradient(*graph_) >= 0 ? bytes.kept : std::accumulate(slots.begin(), slots.end(), own);
  return bytes;
}

#define FERRY_INSTANTIATE(T)                 \
  template void Net<T>::share_activations(); \
  template ActivationBytes Net<T>::activation_bytes() const
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry
