// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <exception>
#include <new>
#include <string>

#include "ferry/net.pb.h"
#include "ferry/nets/error.hpp"

namespace ferry::detail {

/// Throws what is in flight as a NetError that names the layer, with the first error nested in it. One that
/// names it already, a lack of memory, and what is no std::exception are thrown on as they are.
[[noreturn]] inline void RethrowNaming(const LayerParameter& layer) {
  const std::string name = "layer '" + layer.name() + "'";
  try {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    const std::string what = error.what();
    if (dynamic_cast<const NetError*>(&error) != nullptr && what.find(name) != std::string::npos) throw;
    std::throw_with_nested(NetError(name + " (" + layer.type() + "): " + what));
  }
}

/// Calls what a layer does; its errors name the layer.
template <class F>
auto NamingLayer(const LayerParameter& layer, const F& call) {
  try {
    return call();
  } catch (...) {
    RethrowNaming(layer);
  }
}

}  // namespace ferry::detail
