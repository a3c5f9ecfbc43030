// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <exception>
#include <string>

#include "ferry/nets/error.hpp"

namespace ferry::detail {

/// Calls what makes something of what a file says; its NetErrors begin with the file's name. "" is no file.
template <class F>
void NamingFile(const std::string& file, const F& call) {
  try {
    call();
  } catch (const NetError& error) {
    if (file.empty()) throw;
    std::throw_with_nested(NetError(file + ": " + error.what()));
  }
}

}  // namespace ferry::detail
