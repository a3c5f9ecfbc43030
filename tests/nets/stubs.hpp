// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "ferry/nets/layer_registry.hpp"

namespace ferry::nets_test {

/// Whether a type of layer is not written yet.
inline bool IsStub(const std::string& type) {
  LayerParameter param;
  param.set_type(type);
  try {
    LayerRegistry<double>::CreateLayer(param);
  } catch (const NetError& error) {
    return std::string(error.what()).starts_with("stub ");
  } catch (const std::exception&) {
    return false;
  }
  return false;
}

}  // namespace ferry::nets_test
