// SPDX-License-Identifier: BSD-2-Clause
#include <ferry/kokkos.hpp>
#include <ferry/proto.hpp>

/// The headers that need another library beside Ferry are installed too.
int Opted() { return ferry::BlobProto().data_size(); }
