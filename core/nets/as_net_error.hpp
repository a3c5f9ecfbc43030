// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "ferry/error.hpp"
#include "ferry/nets/error.hpp"

namespace ferry::detail {

/// What `work` returns. The files of core/proto/file.hpp throw an Error of no kind, which becomes a NetError.
template <class F>
auto AsNetError(const F& work) {
  try {
    return work();
  } catch (const NetError&) {
    throw;
  } catch (const FormatError&) {
    throw;
  } catch (const Error& error) {
    throw NetError(error.what());
  }
}

}  // namespace ferry::detail
