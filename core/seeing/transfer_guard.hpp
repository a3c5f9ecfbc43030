// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "ferry/observer.hpp"
#include "ferry/transfer_guard.hpp"

namespace ferry::detail {

/// Applies the policy to threads that have no guard of their own.
std::shared_ptr<Observer> GuardOfProgram(TransferPolicy policy);

}  // namespace ferry::detail
