// SPDX-License-Identifier: BSD-2-Clause
// What NVTX loads in a profiler's place, where NVTX_INJECTION64_PATH names it.
#include <nvtx3/nvToolsExt.h>

#include "tests/gpu/printed_ranges.hpp"

namespace {

template <class Function>
NvtxFunctionPointer Pointer(Function* function) {
  return reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const auto* const callbacks = static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable functions = nullptr;
  unsigned count = 0;
  if (callbacks == nullptr || callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &functions, &count) == 0)
    return 0;
  *functions[NVTX_CBID_CORE_RangeStartA] = Pointer(ferry::testing::BeginRange);
  *functions[NVTX_CBID_CORE_RangeEnd] = Pointer(ferry::testing::EndRange);
  *functions[NVTX_CBID_CORE_MarkA] = Pointer(ferry::testing::Mark);
  return 1;
}
