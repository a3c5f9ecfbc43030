// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <csignal>
#include <cstddef>
#include <string>

#include "ferry/ferry.hpp"
#include "sim_child.hpp"

namespace ferry::testing {

inline constexpr std::size_t kPage = 4096, kTwoPages = 2 * kPage;

struct Guarded {
  Guarded() { SetPointerGuard(PointerGuard::kOn); }
  Device& device = GetDevice("sim");
  SyncedMemory memory{kTwoPages, device, "w"};
  Stream stream{device};
};

inline void Write(void* ptr, std::size_t at = 0) { static_cast<volatile unsigned char*>(ptr)[at] = 1; }
inline void Write(const void* ptr, std::size_t at = 0) { Write(const_cast<void*>(ptr), at); }

/// How a child process ends that does this with a guarded memory.
template <class Deed>
Ended With(Deed deed) {
  return InChild([&] {
    Guarded guarded;
    deed(guarded);
  });
}

/// What the one says that may only end by SIGSEGV.
template <class Deed>
std::string Report(Deed deed) {
  return ReportOf(With(deed));
}
template <class Deed>
void CheckPasses(Deed deed) {
  CheckPassed(With(deed));
}

}  // namespace ferry::testing
