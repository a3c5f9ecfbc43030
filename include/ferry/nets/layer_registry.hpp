// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ferry/nets/layer.hpp"

namespace ferry {

/// Makes layers from what prototxt calls them. Caffe's LayerRegistry. Any thread may call.
template <class T>
class LayerRegistry {
 public:
  using Creator = std::shared_ptr<Layer<T>> (*)(const LayerParameter&);

  /// Adds a type. Throws NetError for one that is there already.
  static void AddCreator(const std::string& type, Creator creator);
  /// A layer at that place. Without one: within a creator at the place that the creator makes its layer for,
  /// else at the default place. Throws NetError for a type that nobody added, with a list of those that are
  /// there, and for the types of Caffe that Ferry does without, with the reason.
  static std::shared_ptr<Layer<T>> CreateLayer(const LayerParameter& param,
                                               const Place& place = detail::LayersBeginAt::Now());
  /// All types, sorted.
  static std::vector<std::string> LayerTypeList();
};

extern template class LayerRegistry<float>;
extern template class LayerRegistry<double>;

/// Adds a class template over the element type, for float and double, under a type's name.
template <template <class> class L>
class LayerRegistration {
 public:
  explicit LayerRegistration(const std::string& type) {
    LayerRegistry<float>::AddCreator(type, Make<float>);
    LayerRegistry<double>::AddCreator(type, Make<double>);
  }

 private:
  template <class T>
  static std::shared_ptr<Layer<T>> Make(const LayerParameter& param) {
    return std::make_shared<L<T>>(param);
  }
};

}  // namespace ferry

/// Registers the class template <type>Layer as a layer of that type, as in Caffe: one line in a source file.
#define REGISTER_LAYER_CLASS(type) \
  static const ::ferry::LayerRegistration<type##Layer> g_registration_of_##type(#type)
