// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/format/filter_net.hpp"

#include <algorithm>
#include <utility>

#include "ferry/log.hpp"
#include "ferry/nets/error.hpp"

namespace ferry::detail {
namespace {

using google::protobuf::RepeatedPtrField;

bool MeetsAny(const NetState& state, const RepeatedPtrField<NetStateRule>& rules, const std::string& layer) {
  return std::any_of(rules.begin(), rules.end(),
                     [&](const NetStateRule& rule) { return StateMeetsRule(state, rule, layer); });
}

/// Why the rule is not met; "" where it is.
std::string Broken(const NetState& state, const NetStateRule& rule) {
  const auto has = [&](const std::string& stage) {
    return std::find(state.stage().begin(), state.stage().end(), stage) != state.stage().end();
  };
  if (rule.has_phase() && rule.phase() != state.phase()) return "the phase is " + Phase_Name(state.phase());
  if (rule.has_min_level() && state.level() < rule.min_level())
    return "level " + std::to_string(state.level()) + " is below min_level " +
           std::to_string(rule.min_level());
  if (rule.has_max_level() && state.level() > rule.max_level())
    return "level " + std::to_string(state.level()) + " is above max_level " +
           std::to_string(rule.max_level());
  for (const std::string& stage : rule.stage())
    if (!has(stage)) return "stage '" + stage + "' is not on";
  for (const std::string& stage : rule.not_stage())
    if (has(stage)) return "stage '" + stage + "' is on";
  return "";
}

}  // namespace

bool StateMeetsRule(const NetState& state, const NetStateRule& rule, const std::string& layer) {
  const std::string broken = Broken(state, rule);
  if (!broken.empty()) Log(LogLevel::kInfo, "layer '" + layer + "': a rule is not met: " + broken);
  return broken.empty();
}

// A copy of all of it and a Clear would copy the weights, too.
NetParameter WithoutLayers(const NetParameter& param) {
  NetParameter rest;
  if (param.has_name()) rest.set_name(param.name());
  *rest.mutable_layers() = param.layers();
  *rest.mutable_input() = param.input();
  *rest.mutable_input_dim() = param.input_dim();
  *rest.mutable_input_shape() = param.input_shape();
  if (param.has_force_backward()) rest.set_force_backward(param.force_backward());
  if (param.has_state()) *rest.mutable_state() = param.state();
  if (param.has_debug_info()) rest.set_debug_info(param.debug_info());
  rest.mutable_unknown_fields()->MergeFrom(param.unknown_fields());
  return rest;
}

void FilterNet(const NetParameter& param, NetParameter* filtered) {
  NetParameter result = WithoutLayers(param);
  for (const LayerParameter& layer : param.layer()) {
    if (layer.include_size() > 0 && layer.exclude_size() > 0)
      throw NetError("layer '" + layer.name() +
                     "' has include and exclude rules; a layer may have rules of one kind");
    const bool kept = layer.include_size() > 0 ? MeetsAny(param.state(), layer.include(), layer.name())
                                               : !MeetsAny(param.state(), layer.exclude(), layer.name());
    if (kept) *result.add_layer() = layer;
  }
  *filtered = std::move(result);
}

}  // namespace ferry::detail
