// SPDX-License-Identifier: BSD-2-Clause
// Prints what an access comes to, as Promela: the rule that protocol.pml is checked with is coherence.hpp's.
#include <cstdio>
#include <initializer_list>

#include "ferry/coherence.hpp"

namespace {

using namespace ferry;

void Define(const char* name, unsigned value) { std::printf("#define %s %u\n", name, value); }

void PrintRow(Head head, Side side, Access access) {
  const Transition transition = Next(head, side, access);
  std::printf("  :: head == %u && side == %u && access == %u -> action = %u; next = %u\n",
              static_cast<unsigned>(head), static_cast<unsigned>(side), static_cast<unsigned>(access),
              static_cast<unsigned>(transition.action), static_cast<unsigned>(transition.next));
}

}  // namespace

int main() {
  Define("UNINITIALIZED", static_cast<unsigned>(Head::UNINITIALIZED));
  Define("CPU", static_cast<unsigned>(Side::kCpu));
  Define("GPU", static_cast<unsigned>(Side::kGpu));
  Define("READ", static_cast<unsigned>(Access::kRead));
  Define("READ_WRITE", static_cast<unsigned>(Access::kReadWrite));
  Define("OVERWRITE", static_cast<unsigned>(Access::kOverwrite));
  Define("NOTHING", static_cast<unsigned>(Action::kNone));
  Define("ZERO", static_cast<unsigned>(Action::kZero));
  Define("COPY", static_cast<unsigned>(Action::kCopy));
  std::puts("inline Next(head, side, access, action, next) {\n  if");
  for (const Head head : {Head::UNINITIALIZED, Head::HEAD_AT_CPU, Head::HEAD_AT_GPU, Head::SYNCED})
    for (const Side side : {Side::kCpu, Side::kGpu})
      for (const Access access : {Access::kRead, Access::kReadWrite, Access::kOverwrite})
        PrintRow(head, side, access);
  return std::puts("  fi\n}") < 0 ? 1 : 0;
}
