// SPDX-License-Identifier: BSD-2-Clause
#pragma once

/// Nets: Caffe's layers, solvers and model files, on any device. Includes protobuf, and of the standard
/// library what Caffe's programs take from its header.
#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "ferry/nets/error.hpp"
#include "ferry/nets/filler.hpp"
#include "ferry/nets/idx.hpp"
#include "ferry/nets/io.hpp"
#include "ferry/nets/layer.hpp"
#include "ferry/nets/layer_registry.hpp"
#include "ferry/nets/memory_data_layer.hpp"
#include "ferry/nets/net.hpp"
#include "ferry/nets/proto_io.hpp"
#include "ferry/nets/random.hpp"
#include "ferry/nets/sgd_solvers.hpp"
#include "ferry/nets/signal_handler.hpp"
#include "ferry/nets/solver.hpp"
#include "ferry/nets/solver_registry.hpp"
#include "ferry/nets/upgrade.hpp"

namespace ferry {
using std::shared_ptr;  // as Caffe's programs find it in its namespace
}  // namespace ferry
