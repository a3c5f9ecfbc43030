// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

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

/// Finds the groups of a net whose activations are kept, layer by layer.
template <class T>
class GroupFinder {
 public:
  explicit GroupFinder(const NetGraph<T>& graph) : graph_(graph), group_of_(graph.blobs.size(), -1) {}

  std::vector<StorageGroup> Find() {
    std::vector<bool> read(graph_.blobs.size(), false);
    for (int l = 0; l < SizeOf(graph_.layers); ++l) {
      const NetNode& node = graph_.nodes[Index(l)];
      for (const int id : node.top_ids)
        if (group_of_[Index(id)] < 0) Assign(l, id);
      for (const int id : node.bottom_ids) read[Index(id)] = true;
      for (const int id : node.bottom_ids) Use(l, id);
      for (const int id : node.top_ids) Use(l, id);
    }
    for (int id = 0; id < SizeOf(graph_.blobs); ++id)
      if (!read[Index(id)] || IsKnownOutside(id)) GroupOf(id).keeps_own = true;
    for (const int id : graph_.output_ids) GroupOf(id).keeps_own = true;
    return std::move(groups_);
  }

 private:
  const SyncedMemory* Memory(int id) const { return graph_.blobs[Index(id)]->data().get(); }
  StorageGroup& GroupOf(int id) { return groups_[Index(group_of_[Index(id)])]; }

  /// Our layers share storage when they are set up, so it tells; except Split, which shares in each pass.
  void Assign(int layer, int id) {
    const bool split = graph_.layers[Index(layer)]->layer_param().type() == "Split";
    const SyncedMemory* const memory = Memory(id);
    int group = split ? group_of_[Index(graph_.nodes[Index(layer)].bottom_ids[0])] : -1;
    for (int other = 0; group < 0 && memory != nullptr && other < SizeOf(graph_.blobs); ++other)
      if (Memory(other) == memory) group = group_of_[Index(other)];
    if (group < 0) {
      group = SizeOf(groups_);
      groups_.emplace_back().first = layer;
    }
    group_of_[Index(id)] = group;
    groups_[Index(group)].blobs.push_back(id);
  }

  void Use(int layer, int id) {
    const LayerParameter& param = graph_.layers[Index(layer)]->layer_param();
    StorageGroup& group = GroupOf(id);
    group.last = layer;
    if (param.bottom_size() == 0 || !IsOurs(param.type())) group.keeps_own = true;
  }

  /// A layer's buffer, or a blob of the caller's, may have the storage, too.
  bool IsKnownOutside(int id) const {
    long inside = 0;
    for (const auto& blob : graph_.blobs) inside += blob->data().get() == Memory(id) ? 1 : 0;
    return Memory(id) != nullptr && graph_.blobs[Index(id)]->data().use_count() != inside;
  }

  const NetGraph<T>& graph_;
  std::vector<StorageGroup> groups_;
  std::vector<int> group_of_;
};

template <class T>
std::vector<StorageGroup> FindGroups(const NetGraph<T>& graph) {
  return GroupFinder<T>(graph).Find();
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
