// SPDX-License-Identifier: BSD-2-Clause
// eviction: a working set of four times the device's memory. Ferry never gives a buffer back behind the
// program's back, for the program holds pointers into it. When the device is full, Ferry asks the program's
// handler, which evicts the array that was used least recently.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <list>
#include <stdexcept>
#include <string>
#include <vector>

#include "ferry/ferry.hpp"
#include "ferry/sim.hpp"

namespace {

constexpr std::size_t kDeviceMemory = 16 << 20;                  // in bytes
constexpr std::int64_t kArrays = 64, kElements = (1 << 20) / 4;  // of 1 MiB each: 64 MiB
constexpr int kPasses = 3;

/// Arrays in the order of their last use, and the handler that Ferry asks.
class LeastRecentlyUsed {
 public:
  /// As many arrays as one call may have for operands: these stay.
  static constexpr std::size_t kOperands = 1;

  LeastRecentlyUsed() {
    ferry::SetOutOfMemoryHandler([this](ferry::Device& device, std::size_t) { return Evict(device); });
  }
  ~LeastRecentlyUsed() { ferry::SetOutOfMemoryHandler({}); }
  LeastRecentlyUsed(const LeastRecentlyUsed&) = delete;
  LeastRecentlyUsed& operator=(const LeastRecentlyUsed&) = delete;

  /// To be called before the call that uses the array.
  ferry::Array<float>& Use(ferry::Array<float>& array) {
    order_.remove(&array);
    order_.push_back(&array);
    return array;
  }
  int evictions() const { return evictions_; }

 private:
  bool Evict(ferry::Device& device) {
    if (order_.size() <= kOperands) return false;
    order_.front()->Release(device);
    order_.pop_front();
    ++evictions_;
    return true;
  }

  std::list<ferry::Array<float>*> order_;
  int evictions_ = 0;
};

void Run() {
  const ferry::TransferGuard meant(ferry::TransferPolicy::kAllow);  // what does not fit comes and goes
  ferry::sim::Reset({.memory = kDeviceMemory});
  ferry::Device& device = ferry::GetDevice("sim");
  const ferry::Place gpu(device);
  std::vector<ferry::Array<float>> arrays;
  arrays.reserve(kArrays);
  for (int i = 0; i < kArrays; ++i)
    arrays.emplace_back(std::vector<float>(kElements, static_cast<float>(i)), device,
                        'x' + std::to_string(i));

  LeastRecentlyUsed used;
  for (int pass = 0; pass < kPasses; ++pass)
    for (auto& array : arrays) ferry::Scale(gpu, 2, used.Use(array));

  float expected = 0;
  for (const auto& array : arrays) {
    for (const float element : ferry::Place::Cpu(device).Read(array))
      if (element != expected) throw std::runtime_error(array.label() + " is wrong");
    expected += 1 << kPasses;
  }
  const ferry::Statistics done = ferry::GetStatistics(device);
  std::printf("64 MiB of arrays on a device of 16 MiB: %d evictions, %d MiB to the device, %d MiB back\n",
              used.evictions(), static_cast<int>(done.host_to_device.bytes >> 20),
              static_cast<int>(done.device_to_host.bytes >> 20));
}

}  // namespace

int main() try { Run(); } catch (const std::exception& error) {
  std::fprintf(stderr, "eviction: %s\n", error.what());
  return 1;
}
