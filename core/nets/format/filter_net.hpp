// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "ferry/net.pb.h"

namespace ferry::detail {

/// The net without the layers that its state leaves out. Throws NetError for a layer with both include and
/// exclude rules. `filtered` may be `param`.
void FilterNet(const NetParameter& param, NetParameter* filtered);

/// Whether the phase and the level are the rule's, and the state has all of its stages and none of its
/// not_stages. `layer` is what the log calls the layer.
bool StateMeetsRule(const NetState& state, const NetStateRule& rule, const std::string& layer);

/// All of a net except its layers.
NetParameter WithoutLayers(const NetParameter& param);

}  // namespace ferry::detail
