// SPDX-License-Identifier: BSD-2-Clause
// Each step of an upgrade in two halves, so that a net that cannot be upgraded stays as it was: Require
// throws NetError and changes nothing; Upgrade changes the net in its place, moves its weights, and cannot
// fail.
#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "ferry/net.pb.h"

namespace ferry::detail {

/// Moves the fields that `from` does not know to `to`, which keeps them. Those whose numbers are fields
/// there, and all where `to` is null, are lost, and warnings name them. Returns whether all are kept.
bool MoveUnknownFields(const std::string& layer, google::protobuf::Message* from,
                       google::protobuf::Message* to);

/// One V0 layer of a net that RequireV0 has let pass.
bool UpgradeV0Layer(V1LayerParameter* connection);
void RequireV0(const NetParameter& net);
bool UpgradeV0(NetParameter* net);

void RequireV1(const NetParameter& net);
bool UpgradeV1(NetParameter* net);

/// With the shapes given by input_shape, or as if there were none: a V0 net has none.
enum class InputShapes { kAsGiven, kNone };
void RequireInputs(const NetParameter& net, InputShapes given);

}  // namespace ferry::detail
