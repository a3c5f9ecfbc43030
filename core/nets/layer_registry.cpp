// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/nets/layer_registry.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "core/nets/layers/layers.hpp"

namespace ferry {
namespace {

template <class T>
class Registry {
 public:
  using Creator = typename LayerRegistry<T>::Creator;

  static Registry& Get() {
    static Registry registry;
    return registry;
  }
  bool Add(const std::string& type, Creator creator) {
    const std::lock_guard lock(mutex_);
    return creators_.emplace(type, creator).second;
  }
  /// Null where there is none.
  Creator Find(const std::string& type) const {
    const std::lock_guard lock(mutex_);
    const auto found = creators_.find(type);
    return found == creators_.end() ? nullptr : found->second;
  }
  std::vector<std::string> Types() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> types;
    types.reserve(creators_.size());
    for (const auto& [type, creator] : creators_) types.push_back(type);
    return types;
  }

 private:
  Registry() {
#define FERRY_NETS_ADD(type) creators_.emplace(#type, detail::Make##type<T>);
    FERRY_NETS_LAYERS(FERRY_NETS_ADD)
#undef FERRY_NETS_ADD
  }

  mutable std::mutex mutex_;
  std::map<std::string, Creator> creators_;
};

/// The blobs that a layer was made from go to the device on which it will run.
template <class T>
void BringTo(Device& device, std::vector<std::shared_ptr<Blob<T>>>& blobs) {
  for (std::shared_ptr<Blob<T>>& blob : blobs) {
    if (&blob->device() == &device) continue;
    auto brought = std::make_shared<Blob<T>>(device);
    brought->CopyFrom(*blob, BlobPart::kData, WithReshape::kYes);
    brought->CopyFrom(*blob, BlobPart::kDiff);
    blob = brought;
  }
}

[[noreturn]] void FailType(const LayerParameter& param, const std::vector<std::string>& types) {
  const std::string layer = "layer '" + param.name() + "': type '" + param.type() + "' ";
  if (param.type() == "Python")
    throw NetError(layer + "runs Python, which Ferry does not embed; register a layer class of your own");
  if (param.type() == "WindowData")
    throw NetError(layer + "reads R-CNN's window files, which Ferry does not; use ImageData or MemoryData");
  std::string known;
  for (const std::string& type : types) known += (known.empty() ? "" : ", ") + type;
  throw NetError(layer + "is unknown; there are " + known);
}

}  // namespace

template <class T>
void LayerRegistry<T>::AddCreator(const std::string& type, Creator creator) {
  if (!Registry<T>::Get().Add(type, creator))
    throw NetError("layer type '" + type + "' is registered already");
}

template <class T>
std::shared_ptr<Layer<T>> LayerRegistry<T>::CreateLayer(const LayerParameter& param, const Place& place) {
  const Creator creator = Registry<T>::Get().Find(param.type());
  if (creator == nullptr) FailType(param, LayerTypeList());
  std::shared_ptr<Layer<T>> layer = creator(param);
  layer->set_place(place);
  BringTo(place.device(), layer->blobs());
  return layer;
}

template <class T>
std::vector<std::string> LayerRegistry<T>::LayerTypeList() {
  return Registry<T>::Get().Types();
}

template class LayerRegistry<float>;
template class LayerRegistry<double>;

}  // namespace ferry
