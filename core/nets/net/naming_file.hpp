// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <exception>
#include <string>

#include "ferry/nets/error.hpp"

namespace ferry::detail {

/// Calls what makes something of a file; its NetErrors begin with the file's name, unless they have it. No
/// file: "".
template <class F>
void NamingFile(const std::string& file, const F& call) {
  try {
    call();
  } catch (const NetError& error) {
    const std::string what = error.what();
    if (what.find(file) != std::string::npos) throw;
    std::throw_with_nested(NetError(file + ": " + what));
  }
}

}  // namespace ferry::detail
