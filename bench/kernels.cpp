// SPDX-License-Identifier: BSD-2-Clause
// How fast are the kernels on the CPU, beside BLAS on one thread and memcpy? And how exact are the sums?
#include "ferry/kernels.hpp"

#include <benchmark/benchmark.h>
#include <cblas.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bench/compare.hpp"
#include "ferry/backend.hpp"

namespace {

using ferry::Place;

struct Arrays {
  explicit Arrays(std::int64_t count) : n(count), x(static_cast<std::size_t>(n)), y(x.size()) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> between(-1, 1);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = between(random);
      y[i] = between(random);
    }
  }
  std::int64_t n;
  std::vector<float> x, y;
};

void RegisterAll(const Place& cpu, std::int64_t bytes, const std::string& size, double streaming,
                 double summing) {
  const auto arrays = std::make_shared<Arrays>(bytes / 4);
  const auto n = arrays->n;
  const int blas_n = static_cast<int>(n);
  float *const x = arrays->x.data(), *const y = arrays->y.data();
  const auto compare = [&](const char* what, double required, auto subject, auto reference) {
    bench::Compare(
        what + size, required, [=, keep = arrays] { subject(); }, reference);
  };
  compare(
      "Axpy, cblas_saxpy/", streaming, [=] { ferry::Axpy(cpu, n, 1e-9F, x, y); },
      [=] { cblas_saxpy(blas_n, 1e-9F, x, 1, y, 1); });
  compare(
      "Scale, cblas_sscal/", streaming, [=] { ferry::Scale(cpu, n, -1.F, x); },
      [=] { cblas_sscal(blas_n, -1.F, x, 1); });
  compare(
      "Copy, memcpy/", streaming, [=] { ferry::Copy(cpu, n, x, y); },
      [=] { std::memcpy(y, x, static_cast<std::size_t>(bytes)); });
  compare(
      "Asum, cblas_sasum/", summing, [=] { benchmark::DoNotOptimize(ferry::Asum(cpu, n, x)); },
      [=] { benchmark::DoNotOptimize(cblas_sasum(blas_n, x, 1)); });
  compare(
      "Sumsq, cblas_sdot/", summing, [=] { benchmark::DoNotOptimize(ferry::Sumsq(cpu, n, x)); },
      [=] { benchmark::DoNotOptimize(cblas_sdot(blas_n, x, 1, x, 1)); });
  compare(
      "Dot, cblas_sdot/", 0, [=] { benchmark::DoNotOptimize(ferry::Dot(cpu, n, x, y)); },
      [=] { benchmark::DoNotOptimize(cblas_sdot(blas_n, x, 1, y, 1)); });
}

/// Relative to sums in long double, which are exact to 1e-16 here.
void PrintErrors(const Place& cpu) {
  const Arrays a(std::int64_t{16} << 20);
  long double asum = 0, sumsq = 0;
  for (const float x : a.x) {
    asum += std::fabs(static_cast<long double>(x));
    sumsq += static_cast<long double>(x) * static_cast<long double>(x);
  }
  const auto print = [](const char* what, long double sum, long double exact) {
    std::printf("%-28s relative error %.1Le of 16 Mi floats, at most 1.2e-07\n", what,
                std::fabs((sum - exact) / exact));
  };
  const int n = static_cast<int>(a.n);
  print("Asum", ferry::Asum(cpu, a.n, a.x.data()), asum);
  print("  cblas_sasum", cblas_sasum(n, a.x.data(), 1), asum);
  print("Sumsq", ferry::Sumsq(cpu, a.n, a.x.data()), sumsq);
  print("  cblas_sdot", cblas_sdot(n, a.x.data(), 1, a.x.data(), 1), sumsq);
}

}  // namespace

int main(int argc, char** argv) {
  openblas_set_num_threads(1);
  const auto host = ferry::MakeDevice("host");
  const Place cpu = Place::Cpu(*host);
  RegisterAll(cpu, std::int64_t{64} << 20, "64MiB", 0.95, 0.95);
  RegisterAll(cpu, std::int64_t{64} << 10, "64KiB", 0, 0.8);
  const int status = bench::Run(argc, argv);
  PrintErrors(cpu);
  return status;
}
