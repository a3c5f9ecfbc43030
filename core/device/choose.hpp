// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "ferry/backend.hpp"

namespace ferry::detail {

/// MakeDevice among other backends than this build's.
std::unique_ptr<Device> MakeDevice(std::string_view name, std::span<const Backend> backends);

/// A device for DefaultDevice, of the first backend where `wanted`, the value of FERRY_DEVICE, is null or
/// empty.
std::unique_ptr<Device> MakeDefault(const char* wanted, std::span<const Backend> backends);

}  // namespace ferry::detail
