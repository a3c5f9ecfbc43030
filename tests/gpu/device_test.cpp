// SPDX-License-Identifier: BSD-2-Clause
// What only hardware shows: what a GPU says of itself, streams of the program's own, several GPUs, memory
// that runs out.
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "ferry/array.hpp"
#include "ferry/error.hpp"
#include "ferry/kernels.hpp"
#include "ferry/synced_memory.hpp"
#include "tests/gpu/gpus.hpp"

namespace ferry::testing {
namespace {

using vendor::Borrow;
using vendor::Native;

TEST_CASE("A GPU says what it is") {
  const auto device = EachGpu();
  const DeviceProperties& gpu = device->properties();
  CHECK_FALSE(gpu.name.empty());
  CHECK(gpu.memory > 0);
  CHECK(gpu.architecture.starts_with(vendor::kArchitecture));
  CHECK((gpu.wavefront == 32 || gpu.wavefront == 64));
  int same = -1;
  REQUIRE(vendor::DeviceByPciId(&same, gpu.pci_id.c_str()) == Runtime::kSuccess);
  CHECK(same == gpu.index);
}

TEST_CASE("The default stream and a stream of the program's own are borrowed") {
  const auto device = EachGpu();
  CHECK(Borrow(*device, nullptr) == Stream::Main(*device));
  REQUIRE(Runtime::SetDevice(device->properties().index) == Runtime::kSuccess);
  Runtime::Stream mine{};
  REQUIRE(Runtime::StreamCreate(&mine) == Runtime::kSuccess);
  {
    const Stream stream = Borrow(*device, mine);
    CHECK(Native(stream) == mine);
    SyncedMemory memory(1000, *device);
    REQUIRE(Runtime::MemsetAsync(memory.overwrite_gpu_data(stream), 7, 1000, mine) == Runtime::kSuccess);
    CHECK(static_cast<const char*>(memory.cpu_data())[999] == 7);
  }
  CHECK(Runtime::StreamDestroy(mine) == Runtime::kSuccess);
}

TEST_CASE("GPUs work side by side, and the current device of the thread stays") {
  const int count = CountGpus();
  const int before = CurrentGpu();
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<std::unique_ptr<SyncedMemory>> memories;
  for (int gpu = 0; gpu < count; ++gpu) {
    devices.push_back(MakeDevice(NameOf(gpu)));
    memories.push_back(std::make_unique<SyncedMemory>(1000, *devices.back()));
    std::memset(memories.back()->overwrite_cpu_data(), gpu + 1, 1000);
  }
  for (int gpu = 0; gpu < count; ++gpu) {
    const Stream stream(*devices[static_cast<std::size_t>(gpu)]);
    SyncedMemory& memory = *memories[static_cast<std::size_t>(gpu)];
    int where = -1;
    REQUIRE(vendor::DeviceOf(memory.mutable_gpu_data(stream), &where) == Runtime::kSuccess);
    CHECK(where == gpu);
    CHECK(static_cast<const char*>(memory.cpu_data())[500] == gpu + 1);
    CHECK(CurrentGpu() == before);
  }
  memories.clear();
  devices.clear();
  CHECK(CurrentGpu() == before);
}

TEST_CASE("More than a GPU has is OutOfMemory; nothing is lost, and a later try works") {
  const auto device = EachGpu();
  if (device->properties().unified && !AreSimulated()) SKIP("a request that may hang a unified GPU");
  SyncedMemory small(1000, *device);
  std::memset(small.overwrite_cpu_data(), 5, 1000);
  {
    const DeviceProperties& gpu =
        device->properties();  // where it is unified, the host's memory serves it too
    SyncedMemory large(gpu.unified ? std::size_t{1} << 50 : 2 * gpu.memory, *device);
    CHECK_THROWS_AS(large.overwrite_gpu_data(), OutOfMemory);
    CHECK(large.head() == SyncedMemory::UNINITIALIZED);
  }
  CHECK(LastError() == "");
  CHECK(small.mutable_gpu_data() != nullptr);
  CHECK(static_cast<const char*>(small.cpu_data())[999] == 5);
}

TEST_CASE("An access that would make a stream under graph capture wait throws, and the capture goes on") {
  const auto device = EachGpu();
  const Stream stream(*device), writer(*device);
  SyncedMemory memory(1000, *device);
  memory.overwrite_gpu_data(writer);
  REQUIRE(vendor::BeginCapture(Native(stream), 2) == Runtime::kSuccess);
  CHECK_THROWS_AS(memory.gpu_data(stream), DeviceError);
  REQUIRE(vendor::EndCapture(Native(stream)) == Runtime::kSuccess);
  CHECK(memory.gpu_data(stream) != nullptr);
}

TEST_CASE(
    "a capture on another stream of the program survives Ferry's calls, in each mode and from each thread") {
  const auto device = EachGpu();
  const auto use = [&] {
    const Stream stream(*device);
    for (int i = 0; i < 2; ++i) {
      SyncedMemory memory(1 << 20, *device);
      std::memset(memory.overwrite_cpu_data(), 5, memory.size());
      memory.mutable_gpu_data(stream);
      CHECK(static_cast<const char*>(memory.cpu_data())[999] == 5);
    }
    Array<float> x(16, *device), y(16, *device);
    const Place place(stream);
    Set(place, 1, x);
    Gemm(place, Transpose::kNo, Transpose::kNo, 4, 4, 4, 1, x, x, 0, y);
    CHECK(Asum(place, y) == 64);
    stream.Synchronize();
  };
  use();  // which may initialise Kokkos: that waits for the device, and so ends each capture
  for (const int mode : {0, 1, 2})
    for (const bool elsewhere : {false, true}) {
      INFO("mode " << mode << (elsewhere ? ", on another thread" : ""));
      const Stream captured(*device);
      REQUIRE(vendor::BeginCapture(Native(captured), mode) == Runtime::kSuccess);
      if (elsewhere)
        std::thread(use).join();
      else
        use();
      CHECK(vendor::EndCapture(Native(captured)) == Runtime::kSuccess);
    }
}

}  // namespace
}  // namespace ferry::testing
