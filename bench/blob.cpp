// SPDX-License-Identifier: BSD-2-Clause
// What a Blob costs beside its elements.
#include "ferry/blob.hpp"

#include <benchmark/benchmark.h>

#include <cstring>
#include <memory>
#include <vector>

namespace {

ferry::Device& Host() {
  static ferry::Device& device = *ferry::MakeDevice("host").release();
  return device;
}

void ReshapeToTheSameShape(benchmark::State& state) {
  ferry::Blob<float> blob({64, 3, 224, 224}, Host());
  for (auto _ : state) {
    blob.Reshape({64, 3, 224, 224});
    benchmark::DoNotOptimize(blob.data().get());
  }
}
BENCHMARK(ReshapeToTheSameShape);

void ReshapeToTheSameVectorOfInts(benchmark::State& state) {
  ferry::Blob<float> blob({64, 3, 224, 224}, Host());
  const std::vector<int> shape{64, 3, 224, 224};
  for (auto _ : state) {
    blob.Reshape(shape);
    benchmark::DoNotOptimize(blob.data().get());
  }
}
BENCHMARK(ReshapeToTheSameVectorOfInts);

void ReshapeWithinTheCapacity(benchmark::State& state) {
  ferry::Blob<float> blob({64, 3, 224, 224}, Host());
  for (auto _ : state) {
    blob.Reshape({32, 3, 224, 224});
    blob.Reshape({64, 3, 224, 224});
    benchmark::DoNotOptimize(blob.data().get());
  }
}
BENCHMARK(ReshapeWithinTheCapacity);

void ConstructShapeDestroy(benchmark::State& state) {
  ferry::Device& device = Host();
  for (auto _ : state) {
    const ferry::Blob<float> blob({64, 3, 224, 224}, device);
    benchmark::DoNotOptimize(blob.data().get());
  }
}
BENCHMARK(ConstructShapeDestroy);

void CopyFrom(benchmark::State& state) {
  const std::int64_t count = state.range(0) / static_cast<std::int64_t>(sizeof(float));
  ferry::Blob<float> source({count}, Host()), destination({count}, Host());
  std::memset(source.overwrite_cpu_data(), 1, static_cast<std::size_t>(state.range(0)));
  std::memset(destination.overwrite_cpu_data(), 2, static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) destination.CopyFrom(source);
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
void CopyFromReference(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const std::vector<char> source(bytes, 1);
  std::vector<char> destination(bytes, 2);
  for (auto _ : state) {
    std::memcpy(destination.data(), source.data(), bytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(CopyFrom)->Arg(64 << 10)->Arg(64 << 20);
BENCHMARK(CopyFromReference)->Arg(64 << 10)->Arg(64 << 20);

void FirstOverwrite(benchmark::State& state) {
  const std::int64_t count = 25'000'000;
  for (auto _ : state) {
    ferry::Blob<float> blob({count}, Host());
    std::memset(blob.overwrite_cpu_data(), 1, count * sizeof(float));
  }
  state.SetBytesProcessed(state.iterations() * count * static_cast<std::int64_t>(sizeof(float)));
}
void FirstOverwriteReference(benchmark::State& state) {
  const std::size_t bytes = 100'000'000;
  for (auto _ : state) {
    const std::unique_ptr<void, decltype(&std::free)> memory(std::malloc(bytes), &std::free);
    std::memset(memory.get(), 1, bytes);
    benchmark::DoNotOptimize(memory.get());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}
BENCHMARK(FirstOverwrite)->Unit(benchmark::kMillisecond);
BENCHMARK(FirstOverwriteReference)->Unit(benchmark::kMillisecond);

}  // namespace
