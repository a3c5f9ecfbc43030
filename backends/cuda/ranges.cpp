// SPDX-License-Identifier: BSD-2-Clause
#include "backends/cuda/ranges.hpp"

#ifdef FERRY_NVTX
#include <nvtx3/nvToolsExt.h>

const ferry::ProfilerRanges* ferry::cuda::Ranges() noexcept {
  static constexpr ProfilerRanges kRanges = {
      .begin = [](const char* text) noexcept -> std::uint64_t { return nvtxRangeStartA(text); },
      .end = [](std::uint64_t range) noexcept { nvtxRangeEnd(range); },
      .mark = [](const char* text) noexcept { nvtxMarkA(text); },
  };
  return &kRanges;
}
#else
const ferry::ProfilerRanges* ferry::cuda::Ranges() noexcept { return nullptr; }
#endif
