// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "ferry/error.hpp"

namespace ferry {

/// A net, a solver or one of their files that cannot be. The text names the file with line and column, or the
/// layer and the blob; what is there; what is allowed; and what to do. Net says what becomes of an exception
/// of a layer.
class NetError : public Error {
 public:
  using Error::Error;
};

}  // namespace ferry
