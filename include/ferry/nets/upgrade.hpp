// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "ferry/detail/language.hpp"
#include "ferry/net.pb.h"
#include "ferry/solver.pb.h"

namespace ferry {

/// @name Nets of any age
/// Caffe has had three forms of layers. V0 is `layers { layer { type: "conv" } }`, V1 is
/// `layers { type: CONVOLUTION }`, and today's is `layer { type: "Convolution" }`.
///@{

/// Brings a net to today's form, in this order: V0 layers, fields of data transformations, V1 layers, input
/// fields, BatchNorm's rates. Weights are moved, not copied. `file` is what errors and warnings call the net.
/// Returns false, as Caffe does, where a V0 layer has a parameter that its type does not know: a warning
/// names the parameter, and the net goes without. If a V0 layer has V1 fields beside its `layer { }`, they
/// are dropped with a warning, and the result is still true. Unknown fields of a layer are kept, except those
/// whose numbers are fields of a newer form and those of padding layers: they are dropped with a warning, and
/// the result is false. Throws NetError, and leaves the net as it was, for layers of two forms in one net, an
/// unknown type, a padding layer before anything but one convolution or pooling, a V0 layer's bottom that is
/// no top before it, and inputs without a shape for each.
bool UpgradeNetAsNeeded(const std::string& file, NetParameter* param);
/// Whether one of these steps is needed.
bool NetNeedsUpgrade(const NetParameter& param);
///@}

/// @name One upgrade at a time
/// The steps of UpgradeNetAsNeeded, with its errors and results. Those of two nets may be given the same one.
///@{

/// Whether there are V0 layers.
bool NetNeedsV0ToV1Upgrade(const NetParameter& param);
/// V0 to V1. A V0 net is its name, layers, input, input_dim, force_backward and unknown fields: others are
/// dropped.
bool UpgradeV0Net(const NetParameter& v0, NetParameter* v1);
/// Takes padding layers out of a V0 net, and gives their padding to the layers that read them.
void UpgradeV0PaddingLayers(const NetParameter& param, NetParameter* folded);
/// One V0 layer to V1.
bool UpgradeV0LayerParameter(const V1LayerParameter& v0, V1LayerParameter* v1);
/// A V0 type's number.
V1LayerParameter::LayerType UpgradeV0LayerType(const std::string& type);

/// Whether V1 layers of data have scale, mean_file, crop_size or mirror, which transform_param has now.
bool NetNeedsDataUpgrade(const NetParameter& param);
/// Moves them there.
void UpgradeNetDataTransformation(NetParameter* param);

/// Whether there are V1 layers, or V0 layers.
bool NetNeedsV1ToV2Upgrade(const NetParameter& param);
/// V1 to today's form.
bool UpgradeV1Net(const NetParameter& v1, NetParameter* v2);
/// One V1 layer. False for one that holds a V0 layer, which is dropped, and where an unknown field is.
bool UpgradeV1LayerParameter(const V1LayerParameter& v1, LayerParameter* v2);
/// A V1 type's name today; "" for NONE.
const char* UpgradeV1LayerType(V1LayerParameter::LayerType type);

/// Whether the net has input fields.
bool NetNeedsInputUpgrade(const NetParameter& param);
/// Makes them a first layer "input". Inputs without any shape or dim, which old weights have, are dropped,
/// and so are shapes and dims without any input.
void UpgradeNetInput(NetParameter* param);

/// Whether there is a BatchNorm layer with three params.
bool NetNeedsBatchNormUpgrade(const NetParameter& param);
/// Makes their lr_mult and decay_mult 0: no solver may change statistics.
void UpgradeNetBatchNorm(NetParameter* param);
///@}

/// @name Solvers of any age
///@{

/// A solver's type by number becomes one by name. `file` is what errors call it. Throws NetError, and leaves
/// the solver as it was, for one that has both. Returns true.
bool UpgradeSolverAsNeeded(const std::string& file, SolverParameter* param);
/// Whether that would change anything.
bool SolverNeedsTypeUpgrade(const SolverParameter& param);
/// The same upgrade; false for a solver that does not need it.
bool UpgradeSolverType(SolverParameter* param);
///@}

/// Gives each blob that several layers read a layer "<blob>_<layer>_<top>_split" of type Split, whose tops
/// "<that>_<k>" they read instead. A loss weight counts as a reader, and goes to top 0. Throws NetError for a
/// bottom that is no top before it. `split` may be `param`.
void InsertSplits(const NetParameter& param, NetParameter* split);

}  // namespace ferry
