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

#include "bench/blas.hpp"
#include "bench/compare.hpp"
#include "ferry/backend.hpp"
#include "ferry/blob.hpp"

namespace {

using ferry::Place;

/// In a Blob's memory: how fast wide registers are depends on where an array begins.
struct Arrays {
  Arrays(std::int64_t n, ferry::Device& host) : blob({n}, host) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> between(-1, 1);
    for (std::int64_t i = 0; i < n; ++i) {
      x[i] = between(random);
      y[i] = between(random);
    }
  }
  ferry::Blob<float> blob;  ///< data is x, diff is y
  float *const x = blob.overwrite_cpu_data(), *const y = blob.overwrite_cpu_diff();
};

void RegisterAll(ferry::Device& host, std::int64_t bytes, const std::string& size, double streaming,
                 double summing) {
  const Place cpu = Place::Cpu(host);
  const std::int64_t n = bytes / 4;
  const auto arrays = std::make_shared<Arrays>(n, host);
  const int blas_n = static_cast<int>(n);
  float *const x = arrays->x, *const y = arrays->y;
  ferry::Blob<float>* const blob = &arrays->blob;
  const auto compare = [&](const std::string& what, double required, auto subject, auto reference) {
    bench::Compare(
        what + '/' + size, required, [=, keep = arrays] { subject(); }, reference);
  };
  const std::string of = std::string(" of ") + openblas_get_corename();
  compare(
      "Axpy, cblas_saxpy" + of, streaming, [=] { ferry::Axpy(cpu, 1e-9F, *blob, Diff(*blob)); },
      [=] { cblas_saxpy(blas_n, 1e-9F, x, 1, y, 1); });
  compare(
      "Scale, cblas_sscal" + of, streaming, [=] { ferry::Scale(cpu, -1, *blob); },
      [=] { cblas_sscal(blas_n, -1.F, x, 1); });
  compare(
      "Copy, memcpy", streaming, [=] { ferry::Copy(cpu, *blob, Diff(*blob)); },
      [=] { std::memcpy(y, x, static_cast<std::size_t>(bytes)); });
  compare(
      "Asum, cblas_sasum" + of, summing, [=] { benchmark::DoNotOptimize(ferry::Asum(cpu, *blob)); },
      [=] { benchmark::DoNotOptimize(cblas_sasum(blas_n, x, 1)); });
  compare(
      "Sumsq, cblas_sdot" + of, summing, [=] { benchmark::DoNotOptimize(ferry::Sumsq(cpu, *blob)); },
      [=] { benchmark::DoNotOptimize(cblas_sdot(blas_n, x, 1, x, 1)); });
  compare(
      "Dot, cblas_sdot" + of, summing, [=] { benchmark::DoNotOptimize(ferry::Dot(cpu, *blob, Diff(*blob))); },
      [=] { benchmark::DoNotOptimize(cblas_sdot(blas_n, x, 1, y, 1)); });
}

/// Beside sums in long double, which are exact to 1e-16 here. In the worst case 1.8e-7 of the magnitudes;
/// roundings cancel, and BLAS has no bound that does not grow.
void PrintErrors(ferry::Device& host) {
  constexpr int n = 16 << 20;
  const Place cpu = Place::Cpu(host);
  const Arrays a(n, host);
  long double asum = 0, sumsq = 0, dot = 0, magnitude = 0;
  for (int i = 0; i < n; ++i) {
    const long double x = a.x[i];
    asum += std::fabs(x);
    sumsq += x * x;
    dot += x * a.y[i];
    magnitude += std::fabs(x * a.y[i]);
  }
  const auto print = [](const char* what, long double sum, long double exact, long double scale) {
    std::printf("%-28s error %.1Le of the 16 Mi terms' magnitudes\n", what, std::fabs((sum - exact) / scale));
  };
  print("Asum", ferry::Asum(cpu, a.blob), asum, asum);
  print("  cblas_sasum", cblas_sasum(n, a.x, 1), asum, asum);
  print("Sumsq", ferry::Sumsq(cpu, a.blob), sumsq, sumsq);
  print("  cblas_sdot", cblas_sdot(n, a.x, 1, a.x, 1), sumsq, sumsq);
  print("Dot", ferry::Dot(cpu, a.blob, Diff(a.blob)), dot, magnitude);
  print("  cblas_sdot", cblas_sdot(n, a.x, 1, a.y, 1), dot, magnitude);
}

}  // namespace

int main(int argc, char** argv) {
  bench::UseOneThreadOfBestBlas(argv);
  ferry::Device& host = ferry::GetDevice("host");
  RegisterAll(host, std::int64_t{64} << 20, "64MiB", 0.95, 0.95);
  RegisterAll(host, std::int64_t{64} << 10, "64KiB", 0, 0.8);
  const int status = bench::Run(argc, argv);
  PrintErrors(host);
  return status;
}
