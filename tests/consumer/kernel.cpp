// SPDX-License-Identifier: BSD-2-Clause
#include <ferry/array.hpp>
#include <ferry/kokkos.hpp>
#include <vector>

struct Twice {
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, float* x) const { x[i] *= 2; }
};

/// A kernel of its own on a simulated GPU: what ferry::kokkos is for.
int main() {
  const auto device = ferry::MakeDevice("sim");
  ferry::Array<float> x(std::vector<float>{1, 2, 3}, *device);
  ferry::ParallelFor(ferry::Place(*device), 3, ferry::ReadWrite(x), Twice{});
  return ferry::Place::Cpu(*device).Read(x)[2] == 6 ? 0 : 1;
}
