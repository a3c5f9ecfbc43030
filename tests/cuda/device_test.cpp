// SPDX-License-Identifier: BSD-2-Clause
// What only hardware shows: what a GPU says of itself, streams of the program's own, several GPUs, memory
// that runs out.
#include <cstring>
#include <optional>
#include <vector>

#include "ferry/cuda.hpp"
#include "ferry/error.hpp"
#include "ferry/synced_memory.hpp"
#include "gpus.hpp"

namespace ferry::cuda {
namespace {

int CurrentDevice() {
  int index = -1;
  REQUIRE(cudaGetDevice(&index) == cudaSuccess);
  return index;
}

TEST_CASE("A GPU says what it is") {
  const auto device = EachGpu();
  const DeviceProperties& gpu = device->properties();
  CHECK_FALSE(gpu.name.empty());
  CHECK(gpu.memory > 0);
  CHECK(gpu.architecture.starts_with("sm_"));
  CHECK(gpu.main_stream == StreamHandle{reinterpret_cast<std::uintptr_t>(cudaStreamLegacy)});
  int same = -1;
  REQUIRE(cudaDeviceGetByPCIBusId(&same, gpu.pci_id.c_str()) == cudaSuccess);
  CHECK(same == gpu.index);
}

TEST_CASE("The default stream and a stream of the program's own are borrowed") {
  const auto device = EachGpu();
  CHECK(Borrow(*device, nullptr) == Stream::Main(*device));
  REQUIRE(cudaSetDevice(device->properties().index) == cudaSuccess);
  cudaStream_t mine{};
  REQUIRE(cudaStreamCreate(&mine) == cudaSuccess);
  {
    const Stream stream = Borrow(*device, mine);
    CHECK(Native(stream) == mine);
    SyncedMemory memory(1000, *device);
    REQUIRE(cudaMemsetAsync(memory.overwrite_gpu_data(stream), 7, 1000, mine) == cudaSuccess);
    CHECK(static_cast<const char*>(memory.cpu_data())[999] == 7);
  }
  CHECK(cudaStreamDestroy(mine) == cudaSuccess);
}

TEST_CASE("GPUs work side by side, and the current device of the thread stays") {
  const int count = CountGpus();
  const int before = CurrentDevice();
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<std::unique_ptr<SyncedMemory>> memories;
  for (int gpu = 0; gpu < count; ++gpu) {
    devices.push_back(MakeDevice("cuda:" + std::to_string(gpu)));
    memories.push_back(std::make_unique<SyncedMemory>(1000, *devices.back()));
    std::memset(memories.back()->overwrite_cpu_data(), gpu + 1, 1000);
  }
  for (int gpu = 0; gpu < count; ++gpu) {
    const Stream stream(*devices[static_cast<std::size_t>(gpu)]);
    SyncedMemory& memory = *memories[static_cast<std::size_t>(gpu)];
    cudaPointerAttributes where{};
    REQUIRE(cudaPointerGetAttributes(&where, memory.mutable_gpu_data(stream)) == cudaSuccess);
    CHECK(where.device == gpu);
    CHECK(static_cast<const char*>(memory.cpu_data())[500] == gpu + 1);
    CHECK(CurrentDevice() == before);
  }
  memories.clear();
  devices.clear();
  CHECK(CurrentDevice() == before);
}

TEST_CASE("More than a GPU has is OutOfMemory; nothing is lost, and a later try works") {
  const auto device = EachGpu();
  SyncedMemory small(1000, *device);
  std::memset(small.overwrite_cpu_data(), 5, 1000);
  {
    SyncedMemory large(2 * device->properties().memory, *device);
    CHECK_THROWS_AS(large.overwrite_gpu_data(), OutOfMemory);
    CHECK(large.head() == SyncedMemory::UNINITIALIZED);
  }
  CHECK(LastError() == "");
  CHECK(small.mutable_gpu_data() != nullptr);
  CHECK(static_cast<const char*>(small.cpu_data())[999] == 5);
}

TEST_CASE("On a stream under graph capture an access throws, and the capture goes on") {
  const auto device = EachGpu();
  const Stream stream(*device);
  SyncedMemory memory(1000, *device);
  std::memset(memory.overwrite_cpu_data(), 5, 1000);
  REQUIRE(cudaStreamBeginCapture(Native(stream), cudaStreamCaptureModeRelaxed) == cudaSuccess);
  CHECK_THROWS_AS(memory.gpu_data(stream), DeviceError);
  cudaGraph_t graph{};
  REQUIRE(cudaStreamEndCapture(Native(stream), &graph) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
  CHECK(memory.gpu_data(stream) != nullptr);
}

}  // namespace
}  // namespace ferry::cuda
