// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/nets/format/filter_net.hpp"
#include "ferry/nets/error.hpp"
#include "ferry/nets/upgrade.hpp"

namespace ferry {
namespace {

/// A top as its readers see it.
struct Top {
  int readers = 0;  ///< bottoms, and a loss weight that is not 0
  float loss_weight = 0;
  int next = 0;  ///< the split's top that the next reader gets
};

/// Which readers each top of a net has. A top that a later layer writes in place is another one from there
/// on.
class Readers {
 public:
  explicit Readers(const NetParameter& param) {
    for (int i = 0; i < param.layer_size(); ++i) Add(i, param.layer(i));
  }

  /// Tops are known by (layer, index).
  Top& At(std::pair<int, int> top) { return tops_[top]; }
  /// The top that a bottom reads.
  std::pair<int, int> Source(int layer, int bottom) const {
    return sources_[static_cast<std::size_t>(layer)][static_cast<std::size_t>(bottom)];
  }

 private:
  void Add(int index, const LayerParameter& layer) {
    std::vector<std::pair<int, int>>& sources = sources_.emplace_back();
    for (int j = 0; j < layer.bottom_size(); ++j) {
      const auto source = last_.find(layer.bottom(j));
      if (source == last_.end())
        throw NetError("layer '" + layer.name() + "': bottom " + std::to_string(j) + ", '" + layer.bottom(j) +
                       "', is no top of a layer before it");
      sources.push_back(source->second);
      ++tops_[source->second].readers;
    }
    for (int j = 0; j < layer.top_size(); ++j) last_[layer.top(j)] = {index, j};
    for (int j = 0; j < std::min(layer.loss_weight_size(), layer.top_size()); ++j) {
      Top& top = tops_[last_[layer.top(j)]];
      top.loss_weight = layer.loss_weight(j);
      if (top.loss_weight != 0) ++top.readers;
    }
  }

  std::unordered_map<std::string, std::pair<int, int>> last_;
  std::map<std::pair<int, int>, Top> tops_;
  std::vector<std::vector<std::pair<int, int>>> sources_;
};

std::string SplitName(const std::string& blob, const std::string& layer, int top) {
  return blob + '_' + layer + '_' + std::to_string(top) + "_split";
}

void AddSplit(const std::string& blob, const std::string& name, const Top& top, NetParameter* net) {
  LayerParameter* const split = net->add_layer();
  split->set_name(name);
  split->set_type("Split");
  split->add_bottom(blob);
  for (int k = 0; k < top.readers; ++k) {
    split->add_top(name + '_' + std::to_string(k));
    if (top.loss_weight != 0) split->add_loss_weight(k == 0 ? top.loss_weight : 0);
  }
}

}  // namespace

void InsertSplits(const NetParameter& param, NetParameter* split) {
  Readers readers(param);
  NetParameter result = detail::WithoutLayers(param);
  for (int i = 0; i < param.layer_size(); ++i) {
    LayerParameter* const layer = result.add_layer();
    *layer = param.layer(i);
    for (int j = 0; j < layer->bottom_size(); ++j) {
      const std::pair<int, int> source = readers.Source(i, j);
      Top& top = readers.At(source);
      if (top.readers < 2) continue;
      const std::string name = SplitName(layer->bottom(j), param.layer(source.first).name(), source.second);
      layer->set_bottom(j, name + '_' + std::to_string(top.next++));
    }
    for (int j = 0; j < layer->top_size(); ++j) {
      Top& top = readers.At({i, j});
      if (top.readers < 2) continue;
      AddSplit(layer->top(j), SplitName(layer->top(j), layer->name(), j), top, &result);
      if (top.loss_weight == 0) continue;
      layer->clear_loss_weight();  // of all tops, as Caffe does
      top.next = 1;
    }
  }
  *split = std::move(result);
}

}  // namespace ferry
