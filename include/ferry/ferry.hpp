// SPDX-License-Identifier: BSD-2-Clause
#pragma once

/// All of Ferry except the headers that bring another library's with them: kokkos.hpp, kokkos_view.hpp,
/// proto.hpp, cuda.hpp and hip.hpp.
#include "ferry/array.hpp"
#include "ferry/backend.hpp"
#include "ferry/blob.hpp"
#include "ferry/checked_device.hpp"
#include "ferry/coherence.hpp"
#include "ferry/device.hpp"
#include "ferry/error.hpp"
#include "ferry/forwarding_device.hpp"
#include "ferry/kernels.hpp"
#include "ferry/ledger.hpp"
#include "ferry/live.hpp"
#include "ferry/log.hpp"
#include "ferry/observer.hpp"
#include "ferry/operand.hpp"
#include "ferry/out_of_memory.hpp"
#include "ferry/place.hpp"
#include "ferry/pooled_device.hpp"
#include "ferry/shape.hpp"
#include "ferry/sim.hpp"
#include "ferry/statistics_device.hpp"
#include "ferry/stream.hpp"
#include "ferry/synced_memory.hpp"
#include "ferry/transfer_guard.hpp"
