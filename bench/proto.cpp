// SPDX-License-Identifier: BSD-2-Clause
// ToProto and FromProto of 4 MiB, beside loops over single elements as in Caffe's Blob.
#include "ferry/proto.hpp"

#include <benchmark/benchmark.h>

#include <cstring>

namespace {

constexpr int kCount = 1 << 20;

ferry::Device& Host() {
  static ferry::Device& device = *ferry::MakeDevice("host").release();
  return device;
}

ferry::Blob<float> Numbers() {
  ferry::Blob<float> blob({kCount}, Host());
  float* const data = blob.overwrite_cpu_data();
  for (int i = 0; i < kCount; ++i) data[i] = static_cast<float>(i);
  return blob;
}

void ToProto(benchmark::State& state) {
  const ferry::Blob<float> blob = Numbers();
  ferry::BlobProto proto;
  for (auto _ : state) {
    blob.ToProto(&proto);
    benchmark::DoNotOptimize(proto.data().data());
  }
}
void ToProtoReference(benchmark::State& state) {
  const ferry::Blob<float> blob = Numbers();
  ferry::BlobProto proto;
  for (auto _ : state) {
    proto.clear_shape();
    proto.mutable_shape()->add_dim(kCount);
    proto.clear_data();
    proto.clear_diff();
    const float* const data = blob.cpu_data();
    for (int i = 0; i < kCount; ++i) proto.add_data(data[i]);
    benchmark::DoNotOptimize(proto.data().data());
  }
}
BENCHMARK(ToProto);
BENCHMARK(ToProtoReference);

void FromProto(benchmark::State& state) {
  ferry::Blob<float> blob = Numbers();
  ferry::BlobProto proto;
  blob.ToProto(&proto);
  for (auto _ : state) {
    blob.FromProto(proto);
    benchmark::DoNotOptimize(blob.cpu_data());
  }
}
void FromProtoReference(benchmark::State& state) {
  ferry::Blob<float> blob = Numbers();
  ferry::BlobProto proto;
  blob.ToProto(&proto);
  for (auto _ : state) {
    float* const data = blob.mutable_cpu_data();
    for (int i = 0; i < kCount; ++i) data[i] = proto.data(i);
    benchmark::DoNotOptimize(data);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(FromProto);
BENCHMARK(FromProtoReference);

}  // namespace
