// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/nets/layer_registry.hpp"

#include "core/nets/creators.hpp"
#include "core/nets/layers/layers.hpp"

namespace ferry {
namespace {

template <class T>
detail::Creators<typename LayerRegistry<T>::Creator>& LayerCreators() {
#define FERRY_NETS_CREATOR(type) {#type, detail::Make##type<T>},
  static detail::Creators<typename LayerRegistry<T>::Creator> creators(
      {FERRY_NETS_LAYERS(FERRY_NETS_CREATOR)});
#undef FERRY_NETS_CREATOR
  return creators;
}

[[noreturn]] void FailType(const LayerParameter& param, const std::string& known) {
  const std::string layer = "layer '" + param.name() + "': type '" + param.type() + "' ";
  if (param.type() == "Python")
    throw NetError(layer + "runs Python, which Ferry does not embed; register a layer class of your own");
  if (param.type() == "WindowData")
    throw NetError(layer + "reads R-CNN's window files, which Ferry does not; use ImageData or MemoryData");
  throw NetError(layer + "is unknown; there are " + known);
}

}  // namespace

template <class T>
void LayerRegistry<T>::AddCreator(const std::string& type, Creator creator) {
  if (!LayerCreators<T>().Add(type, creator))
    throw NetError("layer type '" + type + "' is registered already");
}

template <class T>
std::shared_ptr<Layer<T>> LayerRegistry<T>::CreateLayer(const LayerParameter& param, const Place& place) {
  const Creator creator = LayerCreators<T>().Find(param.type());
  if (creator == nullptr) FailType(param, LayerCreators<T>().Listed());
  const detail::LayersBeginAt here(place);
  auto layer = creator(param);
  if (layer == nullptr)
    throw NetError("layer '" + param.name() + "' (" + param.type() + "): its creator made none");
  layer->set_place(place);  // the creator may have it from elsewhere
  return layer;
}

template <class T>
std::vector<std::string> LayerRegistry<T>::LayerTypeList() {
  return LayerCreators<T>().Types();
}

template class LayerRegistry<float>;
template class LayerRegistry<double>;

}  // namespace ferry
