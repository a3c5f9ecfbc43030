// SPDX-License-Identifier: BSD-2-Clause
// Which bits have sums on the host? Prints them as lines "sum_of_type bits", which are the same on each
// processor.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "ferry/array.hpp"
#include "ferry/backend.hpp"
#include "ferry/kernels.hpp"

namespace {

/// Numbers from -2/3 to 2/3 whose products have more bits than T.
template <class T>
std::vector<T> Numbers(std::uint32_t seed) {
  std::vector<T> numbers(100'003);
  for (T& number : numbers) {
    seed = seed * 1'664'525 + 1'013'904'223;
    number = static_cast<T>(static_cast<std::int32_t>(seed) >> 7) / (3 << 23);
  }
  return numbers;
}

/// With a letter in front, as awk compares what looks like a number by its value.
void Print(const char* name, const char* type, double sum) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &sum, sizeof bits);
  std::printf("%s_of_%s x%016llx\n", name, type, static_cast<unsigned long long>(bits));
}

template <class T>
void PrintSums(const char* type) {
  ferry::Device& host = ferry::GetDevice("host");
  const ferry::Place cpu = ferry::Place::Cpu(host);
  const ferry::Array<T> x(Numbers<T>(1), host), y(Numbers<T>(2), host);
  Print("Asum", type, Asum(cpu, x));
  Print("Sumsq", type, Sumsq(cpu, x));
  Print("Dot", type, Dot(cpu, x, y));
}

}  // namespace

int main() {
  PrintSums<float>("floats");
  PrintSums<double>("doubles");
}
