// SPDX-License-Identifier: BSD-2-Clause
// One memory on several GPUs: how many copies it takes, and of how many bytes, where they are peers and where
// they are not.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "ferry/statistics_device.hpp"
#include "ferry/synced_memory.hpp"
#include "tests/gpu/gpus.hpp"

namespace ferry::testing {
namespace {

constexpr std::size_t kBytes = 1000;

/// The first GPUs. The test is skipped where there are fewer.
struct Gpus {
  explicit Gpus(int count) {
    if (CountGpus() < count) SKIP("needs " << count << " GPUs");
    for (int gpu = 0; gpu < count; ++gpu) device.push_back(MakeDevice(NameOf(gpu)));
  }
  ~Gpus() { CHECK(LastError() == ""); }
  Gpus(const Gpus&) = delete;
  Gpus& operator=(const Gpus&) = delete;

  Stream Main(std::size_t gpu) { return Stream::Main(*device[gpu]); }
  /// Whether copies of `to` read the memory of `from`.
  bool Direct(std::size_t to, std::size_t from) const {
    const auto& peers = device[to]->properties().peers;
    return std::find(peers.begin(), peers.end(), static_cast<int>(from)) != peers.end();
  }
  bool Unified() const { return device.front()->properties().unified; }

  std::vector<std::unique_ptr<Device>> device;
};

/// The copies of all GPUs since it was made.
class Moved {
 public:
  explicit Moved(const Gpus& gpus) : gpus_(gpus) {
    for (const auto& device : gpus.device) before_.push_back(GetStatistics(*device));
  }
  /// That they are `direct` copies between GPUs of `bytes` each, or as many by way of the host.
  void CheckMoves(std::uint64_t direct, std::uint64_t by_host, std::uint64_t bytes) const {
    Statistics all;
    for (std::size_t i = 0; i < before_.size(); ++i) {
      const Statistics its = GetStatistics(*gpus_.device[i]) - before_[i];
      Add(all.host_to_device, its.host_to_device);
      Add(all.device_to_host, its.device_to_host);
      Add(all.device_to_device, its.device_to_device);
    }
    CHECK(CountAndBytes(all.device_to_device) == std::pair(direct, direct * bytes));
    CHECK(CountAndBytes(all.device_to_host) == std::pair(by_host, by_host * bytes));
    CHECK(CountAndBytes(all.host_to_device) == std::pair(by_host, by_host * bytes));
  }

 private:
  static std::pair<std::uint64_t, std::uint64_t> CountAndBytes(const Statistics::Work& work) {
    return {work.count, work.bytes};
  }
  static void Add(Statistics::Work& sum, const Statistics::Work& work) {
    sum.count += work.count;
    sum.bytes += work.bytes;
  }
  const Gpus& gpus_;
  std::vector<Statistics> before_;
};

void Write(SyncedMemory& memory, const Stream& on, int value) {
  on.device().Fill(memory.overwrite_gpu_data(on), static_cast<std::byte>(value), memory.size(), on.handle());
}
/// Whether all bytes of a range are `value` for work on the stream.
bool Sees(const SyncedMemory& memory, const Stream& on, int value, ByteRange range = {0, kBytes}) {
  std::vector<char> seen(range.bytes);
  const void* const ptr = memory.gpu_data(range, on);
  if (on.device().properties().unified) {
    on.Synchronize();
    std::memcpy(seen.data(), ptr, range.bytes);
  } else {
    on.device().Copy(CopyKind::kDeviceToHost, seen.data(), ptr, range.bytes, on.handle());
    on.Synchronize();
  }
  return std::all_of(seen.begin(), seen.end(), [=](char byte) { return byte == value; });
}
/// Fetches what Sees would, and checks how it came to `gpu` from `from`.
void CheckFetch(Gpus& gpus, const SyncedMemory& memory, std::size_t gpu, std::size_t from,
                ByteRange range = {0, kBytes}) {
  const Moved moved(gpus);
  memory.gpu_data(range, gpus.Main(gpu));
  const bool none = gpus.Unified(), direct = !none && gpus.Direct(gpu, from);
  moved.CheckMoves(direct ? 1 : 0, none || direct ? 0 : 1, range.bytes);
}

TEST_CASE("Bytes of one GPU are read on another in one copy, or by way of the host in two, and then stay") {
  Gpus gpus(2);
  SyncedMemory memory(kBytes, *gpus.device[0]);
  for (int round = 1; round < 4; ++round) {
    Write(memory, gpus.Main(0), round);
    CheckFetch(gpus, memory, 1, 0);
    const Moved moved(gpus);
    memory.gpu_data(gpus.Main(1));
    memory.gpu_data(gpus.Main(0));
    moved.CheckMoves(0, 0, kBytes);
    CHECK(Sees(memory, gpus.Main(1), round));
    CHECK(Sees(memory, gpus.Main(0), round));
  }
  CHECK(static_cast<const char*>(memory.cpu_data())[kBytes - 1] == 3);
}

TEST_CASE("A part that a second GPU has written is all that goes back") {
  Gpus gpus(2);
  SyncedMemory memory(kBytes, *gpus.device[0]);
  Write(memory, gpus.Main(0), 1);
  memory.gpu_data(gpus.Main(1));
  const Stream on = gpus.Main(1);
  on.device().Fill(memory.overwrite_gpu_data({200, 100}, on), std::byte{2}, 100, on.handle());
  const Moved moved(gpus);
  memory.gpu_data(gpus.Main(0));
  const bool none = gpus.Unified(), direct = !none && gpus.Direct(0, 1);
  moved.CheckMoves(direct ? 1 : 0, none || direct ? 0 : 1, 100);
  for (std::size_t gpu = 0; gpu < 2; ++gpu) {
    CHECK(Sees(memory, gpus.Main(gpu), 1, {0, 200}));
    CHECK(Sees(memory, gpus.Main(gpu), 2, {200, 100}));
    CHECK(Sees(memory, gpus.Main(gpu), 1, {300, 700}));
  }
}

TEST_CASE("Three GPUs hand bytes on, each to the next, and all hold what was written last") {
  Gpus gpus(3);
  SyncedMemory memory(kBytes, *gpus.device[1]);
  for (std::size_t round = 0; round < 6; ++round) {
    const std::size_t writer = round % 3;
    Write(memory, gpus.Main(writer), static_cast<int>(round));
    const std::size_t next = (writer + 1) % 3, last = (writer + 2) % 3;
    CheckFetch(gpus, memory, next, writer);
    const Moved moved(gpus);
    memory.gpu_data(gpus.Main(last));
    const bool none = gpus.Unified();
    const bool direct = !none && (gpus.Direct(last, writer) || gpus.Direct(last, next));
    if (none || direct) moved.CheckMoves(direct ? 1 : 0, 0, kBytes);  // else the host has the bytes already
    for (std::size_t gpu = 0; gpu < 3; ++gpu) CHECK(Sees(memory, gpus.Main(gpu), static_cast<int>(round)));
  }
}

TEST_CASE("A block that another GPU has yet to read is not used again before") {
  Gpus gpus(2);
  const Stream here(*gpus.device[0]), there(*gpus.device[1]);
  for (int round = 0; round < 8; ++round) {
    SyncedMemory memory(kBytes, *gpus.device[0]);
    Write(memory, here, round);
    memory.gpu_data(there);
    memory.Release(Side::kGpu);
    {
      SyncedMemory gone(kBytes, *gpus.device[0]);
      Write(gone, here, 20 + round);
      gone.gpu_data(there);
    }
    SyncedMemory again(kBytes, *gpus.device[0]), far(kBytes, *gpus.device[1]);
    Write(again, here, 40 + round);
    Write(far, there, 60 + round);
    CHECK(Sees(memory, there, round));
    CHECK(Sees(again, here, 40 + round));
    CHECK(Sees(far, there, 60 + round));
  }
}

TEST_CASE("Bytes that the program has allocated and lends are read by a peer, too") {
  Gpus gpus(2);
  if (gpus.Unified()) return;  // where they would have to be managed
  REQUIRE(Runtime::SetDevice(0) == Runtime::kSuccess);
  void* lent = nullptr;
  REQUIRE(Runtime::Malloc(&lent, kBytes) == Runtime::kSuccess);
  {
    const Stream main = gpus.Main(0);
    gpus.device[0]->Fill(lent, std::byte{6}, kBytes, main.handle());
    SyncedMemory memory(kBytes, *gpus.device[0]);
    memory.set_gpu_data(lent, main);
    CheckFetch(gpus, memory, 1, 0);
    CHECK(Sees(memory, gpus.Main(1), 6));
  }
  gpus.Main(0).Synchronize();
  CHECK(Runtime::Free(lent) == Runtime::kSuccess);
}

TEST_CASE("Access that the program has enabled before is no error") {
  Gpus gpus(2);
  if (!gpus.Direct(1, 0)) return;
  REQUIRE(Runtime::SetDevice(1) == Runtime::kSuccess);
  const bool enabled = Runtime::DeviceEnablePeerAccess(0) == Runtime::kSuccess;
  INFO("by this test: " << enabled);
  (void)LastError();
  SyncedMemory memory(kBytes, *gpus.device[0]);
  Write(memory, gpus.Main(0), 4);
  CheckFetch(gpus, memory, 1, 0);
  CHECK(Sees(memory, gpus.Main(1), 4));
}

}  // namespace
}  // namespace ferry::testing
