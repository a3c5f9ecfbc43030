// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <optional>

/// What else the kernels need of a GPU that Kokkos has a space for. Defined where kHasDeviceSpace is true.
namespace ferry::detail {

/// Calls work(index) for the GPU `index`, or else for the calling thread's current one, and puts the current
/// device back that `work` changes. Returns the one that it called `work` for. Throws DeviceError.
int WithGpuPutBack(std::optional<int> index, const std::function<void(int)>& work);

/// Whether the GPU does all that it was asked, which is waited for.
bool GpuWorks(int index) noexcept;

}  // namespace ferry::detail
