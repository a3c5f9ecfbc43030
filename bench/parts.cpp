// SPDX-License-Identifier: BSD-2-Clause
// What do parts, further devices and many streams cost an access that finds its bytes in place? The reference
// is a whole read on one stream of the memory's device.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/compare.hpp"
#include "ferry/array.hpp"
#include "ferry/backend.hpp"
#include "ferry/blob.hpp"
#include "ferry/sim.hpp"

namespace {

using ferry::Array;
using ferry::Stream;
using ferry::SyncedMemory;

constexpr int kCalls = 1000;  // a measurement

/// The ratio to a whole read, of 0.6 ns, that stands for so many nanoseconds.
constexpr double Within(double nanoseconds) { return 0.6 / nanoseconds; }

template <class Access>
auto Often(Access access) {
  return [access, turn = std::make_shared<std::size_t>(0)] {
    for (int i = 0; i < kCalls; ++i) benchmark::DoNotOptimize(access(*turn = *turn + 1));
  };
}

/// A whole read, the unit of all that follows.
auto Unit(ferry::Device& device) {
  const auto memory = std::make_shared<SyncedMemory>(64, device);
  memory->overwrite_cpu_data(), memory->gpu_data();
  return Often([memory](std::size_t) { return memory->gpu_data(); });
}

/// A memory whose every second part is on the device, too.
class Mixed {
 public:
  Mixed(std::size_t parts, ferry::Device& device)
      : parts_(parts), memory_(std::make_shared<SyncedMemory>(parts * kBytes, device)) {
    memory_->overwrite_cpu_data();
    for (std::size_t i = 0; i < parts; i += 2) memory_->gpu_data(Part(i), Stream::Main(device));
  }
  /// Reads parts that are there, far from each other.
  const void* Read(std::size_t turn) const {
    constexpr std::size_t kStride = 7919;
    return memory_->gpu_data(Part(turn * kStride % parts_ & ~std::size_t{1}),
                             Stream::Main(memory_->device()));
  }

 private:
  static constexpr std::size_t kBytes = 64;
  static ferry::ByteRange Part(std::size_t i) { return {i * kBytes, kBytes}; }
  std::size_t parts_;
  std::shared_ptr<SyncedMemory> memory_;
};

auto PartOf(std::size_t parts, ferry::Device& device) {
  return Often([mixed = Mixed(parts, device)](std::size_t turn) { return mixed.Read(turn); });
}

void Parts(ferry::Device& device) {
  bench::Compare("a part of 1,000/1000", Within(100), PartOf(1000, device), Unit(device));
  bench::Compare("a part of 100,000 (unit: of 1,000)/1000", 1. / 5, PartOf(100'000, device),
                 PartOf(1000, device));
  const auto x = std::make_shared<Array<float>>(1000, device);
  bench::Compare("Slice/1000", Within(35), Often([x](std::size_t turn) {
                   return x->Slice(static_cast<std::int64_t>(turn & 511), 400).size();
                 }),
                 Unit(device));
}

void OtherDevice(ferry::Device& own, ferry::Device& second) {
  const auto memory = std::make_shared<SyncedMemory>(64, own);
  memory->overwrite_cpu_data(), memory->gpu_data(Stream::Main(second));
  bench::Compare("read on a second device/1000", Within(40),
                 Often([memory, on = Stream::Main(second)](std::size_t) { return memory->gpu_data(on); }),
                 Unit(own));
}

void Readers(std::size_t count, double required, ferry::Device& device) {
  const auto memory = std::make_shared<SyncedMemory>(64, device);
  memory->overwrite_cpu_data();
  const auto streams = std::make_shared<std::vector<Stream>>();
  for (std::size_t i = 0; i < count; ++i) memory->gpu_data(streams->emplace_back(device));
  bench::Compare(std::to_string(count) + " streams read in turn/1000", required,
                 Often([memory, streams, mask = count - 1](std::size_t turn) {
                   return memory->gpu_data((*streams)[turn & mask]);
                 }),
                 Unit(device));
}

/// Makes, uses and destroys a blob among `live` others.
auto BlobAmong(std::size_t live, ferry::Device& device) {
  const auto others = std::make_shared<std::vector<std::unique_ptr<ferry::Blob<float>>>>();
  const auto make = [&device] {
    auto blob = std::make_unique<ferry::Blob<float>>(ferry::Shape{16}, device);
    blob->mutable_cpu_data(), blob->gpu_data(), blob->gpu_data();
    return blob;
  };
  for (std::size_t i = 0; i < live; ++i) others->push_back(make());
  return [others, make] { benchmark::DoNotOptimize(make()); };
}

void Blobs(ferry::Device& sim, ferry::Device& host) {
  for (ferry::Device* device : {&sim, &host})
    bench::Compare("a blob among 100,000 (unit: among 100) on " + device->properties().backend, 1 / 1.3,
                   BlobAmong(100'000, *device), BlobAmong(100, *device));
}

}  // namespace

int main(int argc, char** argv) {
  ferry::sim::Reset({.devices = 2});
  const auto sim = ferry::MakeDevice("sim:0"), second = ferry::MakeDevice("sim:1"),
             host = ferry::MakeDevice("host");
  Parts(*sim);
  OtherDevice(*sim, *second);
  Readers(2, Within(4), *sim);
  Readers(4096, Within(60), *sim);
  Blobs(*sim, *host);
  return bench::Run(argc, argv);
}
