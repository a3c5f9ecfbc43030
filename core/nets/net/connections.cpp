// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "core/nets/net/graph.hpp"

namespace ferry::detail {
namespace {

/// Whether what layer `from` makes reaches layer `to`, in whichever order they stand.
bool Reaches(const NetParameter& net, int from, int to) {
  std::set<std::string> reached(net.layer(from).top().begin(), net.layer(from).top().end());
  for (std::size_t before = 0; before != reached.size();) {
    before = reached.size();
    for (const LayerParameter& layer : net.layer())
      for (const std::string& bottom : layer.bottom())
        if (reached.contains(bottom)) reached.insert(layer.top().begin(), layer.top().end());
  }
  const auto& tops = net.layer(to).top();
  return std::any_of(tops.begin(), tops.end(), [&](const std::string& top) { return reached.contains(top); });
}

/// Why nobody has made that bottom yet.
std::string Hint(const NetParameter& net, int layer, const std::string& blob) {
  for (int i = layer; i < net.layer_size(); ++i)
    for (const std::string& top : net.layer(i).top())
      if (top == blob) {
        const std::string maker = "; layer '" + net.layer(i).name() + "' makes it ";
        return Reaches(net, layer, i) ? maker + "from what this layer makes: a net has no cycles"
                                      : maker + "later: a net runs its layers in the order of its text";
      }
  return "; no layer makes it in this phase, level and stage";
}

}  // namespace

void CheckConnections(const NetParameter& net) {
  std::map<std::string, std::string> made;  // blob: layer
  for (int l = 0; l < net.layer_size(); ++l) {
    const LayerParameter& layer = net.layer(l);
    for (int i = 0; i < layer.bottom_size(); ++i)
      if (!made.contains(layer.bottom(i)))
        throw NetError("Unknown bottom blob '" + layer.bottom(i) + "' (layer '" + layer.name() +
                       "', bottom index " + std::to_string(i) + ")" + Hint(net, l, layer.bottom(i)));
    for (int i = 0; i < layer.top_size(); ++i) {
      const bool in_place = i < layer.bottom_size() && layer.bottom(i) == layer.top(i);
      const auto [other, is_new] = made.emplace(layer.top(i), layer.name());
      if (!is_new && !in_place)
        throw NetError("Top blob '" + layer.top(i) + "' produced by multiple sources (layer '" +
                       layer.name() + "', top index " + std::to_string(i) + "; the first is layer '" +
                       other->second + "')");
    }
  }
}

}  // namespace ferry::detail
