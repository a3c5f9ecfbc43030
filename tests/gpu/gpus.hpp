// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <memory>
#include <string>

#include "ferry/backend.hpp"
#include "names.hpp"  // of tests/<backend>: its names behind the namespace vendor
#include "tests/gpu/are_simulated.hpp"

namespace ferry::testing {

using Runtime = vendor::Runtime;

/// How many GPUs there are; the test is skipped where there is none.
inline int CountGpus() {
  const int count = vendor::kBackend.count();
  if (count == 0) SKIP(vendor::kBackend.missing());
  return count;
}

inline std::string NameOf(int gpu) { return std::string(Runtime::kName) + ':' + std::to_string(gpu); }

/// A test that calls this runs once for each GPU, with the device as MakeDevice makes it.
inline std::unique_ptr<Device> EachGpu() {
  const int count = CountGpus();
  return MakeDevice(NameOf(GENERATE_REF(Catch::Generators::range(0, count))));
}

/// The calling thread's.
inline int CurrentGpu() {
  int index = -1;
  REQUIRE(Runtime::GetDevice(&index) == Runtime::kSuccess);
  return index;
}

/// Waits for all work of a GPU, of streams that are gone too.
inline void Drain(int gpu) {
  int before = 0;
  if (Runtime::GetDevice(&before) != Runtime::kSuccess || Runtime::SetDevice(gpu) != Runtime::kSuccess)
    return;
  (void)Runtime::DeviceSynchronize();
  (void)Runtime::SetDevice(before);
}

/// The error that a call has left behind; empty where none has.
inline std::string LastError() {
  const auto error = Runtime::GetLastError();
  return error == Runtime::kSuccess ? "" : Runtime::GetErrorString(error);
}

}  // namespace ferry::testing
