// SPDX-License-Identifier: BSD-2-Clause
// What does each sequence of accesses have a simulated GPU do? Prints it as lines "sequence/work value"; work
// that there is none of has no line.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "ferry/blob.hpp"
#include "ferry/pooled_device.hpp"
#include "ferry/proto.hpp"
#include "ferry/sim.hpp"
#include "ferry/statistics_device.hpp"

namespace {

using ferry::Blob;
using ferry::Device;
using ferry::Statistics;
using ferry::Stream;
using ferry::SyncedMemory;

constexpr std::size_t kBytes = 4000;
constexpr int kCount = kBytes / sizeof(float);

void Print(const std::string& name, std::uint64_t value) {
  if (value != 0) std::printf("%s %llu\n", name.c_str(), static_cast<unsigned long long>(value));
}
void Print(const std::string& name, const Statistics::Work& work) {
  Print(name, work.count);
  Print(name + "_bytes", work.bytes);
}

/// Counts the work of what it lives through.
class Recording {
 public:
  Recording(const char* sequence, const Device& device)
      : sequence_(std::string(sequence) + '/'), device_(device), before_(ferry::GetStatistics(device)) {}
  ~Recording() {
    const Statistics done = ferry::GetStatistics(device_) - before_;
    Print(sequence_ + "host_to_device", done.host_to_device);
    Print(sequence_ + "device_to_host", done.device_to_host);
    Print(sequence_ + "device_to_device", done.device_to_device);
    Print(sequence_ + "fills", done.fills);
    Print(sequence_ + "allocations", done.allocations);
    Print(sequence_ + "host_waits", static_cast<std::uint64_t>(ferry::sim::Inspect().host_waits - waits_));
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

 private:
  std::string sequence_;
  const Device& device_;
  Statistics before_;
  long waits_ = ferry::sim::Inspect().host_waits;
};

void Accesses(Device& device) {
  const Stream stream(device), other(device);
  SyncedMemory memory(kBytes, device), fresh(kBytes, device);
  {
    const Recording recording("first_read", device);
    fresh.gpu_data(stream), fresh.cpu_data();
  }
  memory.overwrite_cpu_data();
  {
    const Recording recording("first_stale_gpu_read", device);
    memory.gpu_data(stream);
  }
  memory.overwrite_cpu_data();
  {
    const Recording recording("stale_gpu_read", device);
    memory.gpu_data(stream);
  }
  {
    const Recording recording("read_on_another_stream", device);
    memory.gpu_data(other);
  }
  {
    const Recording recording("write_after_two_readers", device);
    memory.mutable_gpu_data(stream);
  }
  {
    const Recording recording("stale_cpu_read", device);
    memory.cpu_data();
  }
  {
    const Recording recording("in_place", device);
    memory.cpu_data(), memory.gpu_data(stream), memory.mutable_gpu_data(stream),
        memory.mutable_gpu_data(stream);
  }
  {
    const Recording recording("overwrite_of_the_stale_side", device);
    memory.overwrite_cpu_data(), memory.overwrite_gpu_data(stream);
  }
  {
    const Recording recording("prefetch_and_read", device);
    memory.Prefetch(ferry::Side::kCpu, stream);
    memory.cpu_data();
  }
}

void Sizes(Device& device) {
  SyncedMemory memory(kBytes, device), source(kBytes, device), home(kBytes, device);
  memory.overwrite_gpu_data(), memory.cpu_data();
  {
    const Recording recording("resize_to_the_same_size", device);
    memory.Resize(kBytes), memory.cpu_data(), memory.gpu_data();
  }
  {
    const Recording recording("resize_to_half_and_back", device);
    memory.Resize(kBytes / 2), memory.Resize(kBytes), memory.gpu_data();
  }
  source.overwrite_cpu_data(), home.overwrite_cpu_data(), memory.overwrite_gpu_data();
  {
    const Recording recording("assign_of_all_bytes", device);
    memory.Assign(source, kBytes);
  }
  memory.overwrite_gpu_data();
  {
    const Recording recording("assign_of_a_part", device);
    memory.Assign(source, kBytes / 2, SyncedMemory::Rest::kKept);
  }
  source.gpu_data();
  {
    const Recording recording("assign_on_the_gpu", device);
    home.Assign(source, kBytes);
  }
}

void Blobs(Device& device) {
  Blob<float> blob({kCount}, device), copy({kCount}, device);
  ferry::BlobProto proto, both;
  blob.overwrite_gpu_data(), blob.overwrite_gpu_diff();
  {
    const Recording recording("blob_to_proto", device);
    blob.ToProto(&proto);
  }
  blob.ToProto(&both, true);
  blob.overwrite_gpu_data(), blob.overwrite_gpu_diff();
  {
    const Recording recording("blob_from_proto", device);
    blob.FromProto(proto);
  }
  blob.overwrite_gpu_data(), blob.overwrite_gpu_diff();
  {
    const Recording recording("blob_from_proto_with_diff", device);
    blob.FromProto(both);
  }
  blob.overwrite_gpu_data(), blob.overwrite_gpu_diff();
  {
    const Recording recording("blob_copy_from", device);
    copy.CopyFrom(blob);
  }
  {
    const Recording recording("blob_reshape_to_half_and_back", device);
    blob.Reshape({kCount / 2}), blob.Reshape({kCount}), blob.gpu_data();
  }
  {
    const Recording recording("blob_update", device);
    blob.Update();
  }
  {
    const Recording recording("blob_shrink_to_fit", device);
    blob.Reshape({kCount / 2}), blob.ShrinkToFit();
  }
}

/// Weights stay on the GPU, a batch comes from the CPU, and a loss goes back.
void Training(Device& device) {
  Blob<float> weights({kCount}, device), batch({kCount}, device), loss({1}, device);
  std::memset(weights.overwrite_cpu_data(), 0, kBytes);
  const Recording recording("ten_steps_of_training", device);
  for (int step = 0; step < 10; ++step) {
    std::memset(batch.overwrite_cpu_data(), step, kBytes);
    batch.gpu_data(), weights.gpu_data(), loss.overwrite_gpu_data();
    loss.cpu_data();
    weights.overwrite_gpu_diff();
    weights.Update();
  }
}

/// What reaches the device of 100 blobs that come and go.
void Pool(const Device& counted, Device& pool) {
  const Recording recording("pool_of_100_brief_blobs", counted);
  for (int i = 0; i < 100; ++i) {
    const Blob<float> blob({kCount}, pool);
    blob.gpu_data(), blob.cpu_data();
  }
}

}  // namespace

int main() {
  for (const auto sequences : {Accesses, Sizes, Blobs, Training}) {
    ferry::sim::Reset();
    sequences(*ferry::MakeDevice("sim"));
  }
  ferry::sim::Reset();
  auto counted = std::make_unique<ferry::StatisticsDevice>(ferry::MakeDevice("sim"));
  const Device& device = *counted;
  ferry::PooledDevice pool(std::move(counted));
  Pool(device, pool);
}
