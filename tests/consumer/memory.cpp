// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <ferry/ferry.hpp>
#include <numeric>
#include <vector>

/// What ferry::memory has: arrays, blobs without their mathematics, places, streams, a simulated GPU.
int main() {
  const auto device = ferry::MakeDevice("sim");
  ferry::Array<float> x(std::vector<float>{1, 2, 3, 4}, *device, "x");
  auto half = x.Slice(2, 2);
  const ferry::Stream stream(*device);
  const auto on_gpu = ferry::Place(stream).ReadWrite(half);
  ferry::sim::Launch(stream, {{on_gpu.data(), 2}}, [=] { std::fill(on_gpu.begin(), on_gpu.end(), 10.0F); });
  const auto all = ferry::Place::Cpu(*device).Read(x);

  ferry::Blob<float> blob({2, 3}, *device);
  blob.mutable_cpu_data()[5] = 1;
  blob.gpu_data();
  ferry::SyncedMemory memory(16, *device);
  memory.mutable_gpu_data();
  return std::accumulate(all.begin(), all.end(), 0.0F) == 23 && blob.data()->head() == ferry::Head::SYNCED &&
                 memory.head() == ferry::Head::HEAD_AT_GPU
             ? 0
             : 1;
}
