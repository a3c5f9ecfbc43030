// SPDX-License-Identifier: BSD-2-Clause
// What does a transition cost beside the calls of CUDA's runtime that a program by hand makes for it?
#include "bench/cuda/gpu.hpp"
#include "ferry/synced_memory.hpp"

namespace {

using bench::Check;
using ferry::Stream;
using ferry::SyncedMemory;
using ferry::cuda::Native;

constexpr std::size_t kBytes = 4096;
constexpr double kNothing = 0;

/// Order between streams, by an event of the program's own.
class ByHand {
 public:
  ByHand() { Check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
  ~ByHand() { (void)cudaEventDestroy(event_); }
  ByHand(const ByHand&) = delete;
  ByHand& operator=(const ByHand&) = delete;
  void Follow(const Stream& second, const Stream& first) const {
    Check(cudaEventRecord(event_, Native(first)));
    Check(cudaStreamWaitEvent(Native(second), event_, 0));
  }
  [[nodiscard]] cudaEvent_t event() const { return event_; }

 private:
  cudaEvent_t event_{};
};

int Transitions(int argc, char** argv, ferry::Device& gpu) {
  const Stream main = Stream::Main(gpu), a(gpu), b(gpu), c(gpu);
  const ByHand by_hand;
  SyncedMemory memory(kBytes, gpu);
  const bench::RawHost host(kBytes);
  const bench::RawDevice device(kBytes);
  bench::Compare(
      "GPU read of bytes that the host has written", kNothing,
      [&] {
        memory.mutable_cpu_data();
        benchmark::DoNotOptimize(memory.gpu_data(main));
      },
      [&] {  // the host waits for the last copy, and then writes
        Check(cudaStreamSynchronize(Native(main)));
        Check(cudaMemcpyAsync(device.ptr, host.ptr, kBytes, cudaMemcpyHostToDevice, Native(main)));
      });
  bench::Compare(
      "host read of bytes that the GPU has written", kNothing,
      [&] {
        memory.mutable_gpu_data(main);
        benchmark::DoNotOptimize(memory.cpu_data());
      },
      [&] {
        Check(cudaMemcpyAsync(host.ptr, device.ptr, kBytes, cudaMemcpyDeviceToHost, Native(main)));
        Check(cudaStreamSynchronize(Native(main)));
      });
  bench::Compare(
      "writes on two streams in turn", kNothing,
      [&] {
        memory.mutable_gpu_data(a);
        memory.mutable_gpu_data(b);
      },
      [&] {
        by_hand.Follow(b, a);
        by_hand.Follow(a, b);
      });
  bench::Compare(
      "a write, and reads on two other streams", kNothing,
      [&] {
        memory.mutable_gpu_data(a);
        memory.gpu_data(b);
        memory.gpu_data(c);
      },
      [&] {
        by_hand.Follow(b, a);
        Check(cudaStreamWaitEvent(Native(c), by_hand.event(), 0));
        by_hand.Follow(a, b);
        by_hand.Follow(a, c);
      });
  bench::Compare(
      "a memory made, taken for the GPU and ended, cudaMallocAsync", kNothing,
      [&] { benchmark::DoNotOptimize(SyncedMemory(kBytes, gpu).overwrite_gpu_data(a)); },
      [&] {
        void* block = nullptr;
        Check(cudaMallocAsync(&block, kBytes, Native(a)));
        Check(cudaFreeAsync(block, Native(a)));
      });
  bench::Compare(
      "a stream made and destroyed", kNothing, [&] { const Stream stream(gpu); },
      [&] {
        cudaStream_t stream{};
        Check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        Check(cudaStreamDestroy(stream));
      });
  return bench::Run(argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::OnGpu([&](ferry::Device& gpu) { return Transitions(argc, argv, gpu); });
}
