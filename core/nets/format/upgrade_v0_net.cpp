// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/nets/format/upgrade.hpp"
#include "ferry/nets/error.hpp"
#include "ferry/nets/upgrade.hpp"

namespace ferry {
namespace {

constexpr int kNoLayer = -1;

bool IsPadding(const V1LayerParameter& layer) { return layer.layer().type() == "padding"; }

[[noreturn]] void Fail(const V1LayerParameter& layer, const std::string& what) {
  throw NetError("layer '" + layer.layer().name() + "': " + what);
}

void RequireFolds(const V1LayerParameter& layer, const V1LayerParameter& padding) {
  const std::string& type = layer.layer().type();
  const std::string& name = padding.layer().name();
  if (type != "conv" && type != "pool")
    Fail(layer, "it reads the padding layer '" + name + "' and has type '" + type +
                    "'; only conv and pool can have the padding");
  if (layer.bottom_size() != 1)
    Fail(layer, "it reads the padding layer '" + name + "' and has " + std::to_string(layer.bottom_size()) +
                    " bottoms; it may have 1");
  if (padding.bottom_size() != 1 || padding.top_size() != 1)
    Fail(padding, "this padding layer has " + std::to_string(padding.bottom_size()) + " bottoms and " +
                      std::to_string(padding.top_size()) + " tops; it may have 1 of each");
}

/// For each layer, the padding layer that it reads. Throws NetError where one cannot be folded in.
std::vector<int> PaddingOf(const NetParameter& net) {
  std::unordered_map<std::string, int> producers;
  for (const std::string& input : net.input()) producers[input] = kNoLayer;
  std::vector<int> padding(static_cast<std::size_t>(net.layers_size()), kNoLayer);
  for (int i = 0; i < net.layers_size(); ++i) {
    const V1LayerParameter& layer = net.layers(i);
    for (const std::string& bottom : layer.bottom()) {
      const auto producer = producers.find(bottom);
      if (producer == producers.end())
        Fail(layer, "its bottom '" + bottom + "' is no input of the net, and no top of a layer before it");
      if (producer->second == kNoLayer || !IsPadding(net.layers(producer->second))) continue;
      RequireFolds(layer, net.layers(producer->second));
      padding[static_cast<std::size_t>(i)] = producer->second;
    }
    for (const std::string& top : layer.top()) producers[top] = i;
  }
  return padding;
}

void FoldPadding(NetParameter* net) {
  const std::vector<int> padding = PaddingOf(*net);
  for (int i = 0; i < net->layers_size(); ++i) {
    const int source = padding[static_cast<std::size_t>(i)];
    if (source == kNoLayer) continue;
    V1LayerParameter* const layer = net->mutable_layers(i);
    layer->mutable_layer()->set_pad(net->layers(source).layer().pad());
    layer->set_bottom(0, net->layers(source).bottom(0));
  }
  int kept = 0;
  for (int i = 0; i < net->layers_size(); ++i)
    if (!IsPadding(net->layers(i))) net->mutable_layers()->SwapElements(i, kept++);
  net->mutable_layers()->DeleteSubrange(kept, net->layers_size() - kept);
}

}  // namespace

namespace detail {

void RequireV0(const NetParameter& net) {
  RequireV1(net);
  for (int i = 0; i < net.layers_size(); ++i) {
    const V1LayerParameter& layer = net.layers(i);
    if (!layer.has_layer())
      throw NetError("layers[" + std::to_string(i) + "] '" + layer.name() +
                     "' is a V1 layer, and others are V0 layers; write all in one form");
    if (!layer.layer().has_type() || IsPadding(layer)) continue;
    try {
      UpgradeV0LayerType(layer.layer().type());
    } catch (const NetError& error) {
      Fail(layer, error.what());
    }
  }
  PaddingOf(net);
}

bool UpgradeV0(NetParameter* net) {
  bool all = true;
  for (V1LayerParameter& layer : *net->mutable_layers()) {
    if (!IsPadding(layer)) continue;
    const std::string& name = layer.layer().name();
    all &= MoveUnknownFields(name, &layer, nullptr);
    all &= MoveUnknownFields(name, layer.mutable_layer(), nullptr);
  }
  FoldPadding(net);
  for (V1LayerParameter& layer : *net->mutable_layers()) all &= UpgradeV0Layer(&layer);
  net->clear_state();
  net->clear_debug_info();
  net->clear_input_shape();
  return all;
}

}  // namespace detail

bool NetNeedsV0ToV1Upgrade(const NetParameter& param) {
  return std::any_of(param.layers().begin(), param.layers().end(),
                     [](const V1LayerParameter& layer) { return layer.has_layer(); });
}

bool UpgradeV0Net(const NetParameter& v0, NetParameter* v1) {
  detail::RequireV0(v0);
  NetParameter net(v0);
  const bool all = detail::UpgradeV0(&net);
  *v1 = std::move(net);
  return all;
}

void UpgradeV0PaddingLayers(const NetParameter& param, NetParameter* folded) {
  NetParameter net(param);
  FoldPadding(&net);
  *folded = std::move(net);
}

}  // namespace ferry
