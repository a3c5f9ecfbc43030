// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "ferry/hip.hpp"

/// HIP's names for its default streams. Nothing here differs in a file that is compiled for those per thread.
namespace ferry::hip {

inline const hipStream_t kPerThread = hipStreamPerThread;
/// The main stream, as Ferry has it and as a file that is compiled for default streams per thread names it.
/// Before 6.2 HIP has no such name.
inline const hipStream_t kMainHandle = nullptr;
#ifdef hipStreamLegacy
inline const hipStream_t kMainByName = hipStreamLegacy;
#else
inline const hipStream_t kMainByName = nullptr;
#endif

}  // namespace ferry::hip

namespace ferry {
namespace vendor = hip;
}
