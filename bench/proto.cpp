// SPDX-License-Identifier: BSD-2-Clause
// How fast are ToProto and FromProto of 4 MiB, beside loops over single elements as in Caffe's Blob?
#include "ferry/proto.hpp"

#include <benchmark/benchmark.h>

#include "bench/compare.hpp"

namespace {

constexpr int kCount = 1 << 20;

void ToProto(const ferry::Blob<float>& blob) {
  static ferry::BlobProto subject, reference;
  bench::Compare(
      "ToProto, a loop of adds/4MiB", 1, [&blob] { blob.ToProto(&subject); },
      [&blob] {
        reference.clear_shape();
        reference.mutable_shape()->add_dim(kCount);
        reference.clear_data();
        reference.clear_diff();
        const float* const data = blob.cpu_data();
        for (int i = 0; i < kCount; ++i) reference.add_data(data[i]);
      });
}

void FromProto(ferry::Blob<float>& blob) {
  static ferry::BlobProto proto;
  blob.ToProto(&proto);
  bench::Compare(
      "FromProto, a loop of reads/4MiB", 1, [&blob] { blob.FromProto(proto); },
      [&blob] {
        float* const data = blob.mutable_cpu_data();
        for (int i = 0; i < kCount; ++i) data[i] = proto.data(i);
        benchmark::DoNotOptimize(data);
      });
}

}  // namespace

int main(int argc, char** argv) {
  ferry::Device& host = ferry::GetDevice("host");
  static ferry::Blob<float> blob({kCount}, host);
  float* const data = blob.overwrite_cpu_data();
  for (int i = 0; i < kCount; ++i) data[i] = static_cast<float>(i);
  ToProto(blob);
  FromProto(blob);
  return bench::Run(argc, argv);
}
