// SPDX-License-Identifier: BSD-2-Clause
// pipeline: one array in six slices on three streams. While one slice is computed, the next is on its way to
// the device and the last on its way back. Prints what the device is asked for, in order, and checks the
// copies.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <stdexcept>
#include <vector>

#include "ferry/ferry.hpp"
#include "ferry/forwarding_device.hpp"
#include "ferry/kokkos.hpp"

namespace {

constexpr std::int64_t kSlices = 6, kSlice = 256, kElements = kSlices * kSlice;

/// Prints each copy and each wait of a stream for another, with what was queued there before the point.
class Narrator final : public ferry::ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;

  void Copy(ferry::CopyKind kind, void* to, const void* from, std::size_t bytes,
            ferry::StreamHandle on) override {
    Lane& lane = LaneOf(on);
    ++lane.copies;
    const bool up = kind == ferry::CopyKind::kHostToDevice;
    std::printf("stream %d: %zu bytes to the %s\n", lane.number, bytes, up ? "device" : "host");
    ForwardingDevice::Copy(kind, to, from, bytes, on);
  }
  ferry::EventHandle Record(ferry::StreamHandle on) override {
    const ferry::EventHandle event = ForwardingDevice::Record(on);
    points_[event] = LaneOf(on);
    return event;
  }
  void StreamWait(ferry::StreamHandle on, ferry::EventHandle event) override {
    const Lane& point = points_.at(event);
    std::printf("stream %d: waits for a point of stream %d, with %d copies before it\n", LaneOf(on).number,
                point.number, point.copies);
    waited_for_ = std::max(waited_for_, point.copies);
    ForwardingDevice::StreamWait(on, event);
  }

  /// Numbered from 1, in the order in which they are first seen.
  int NumberOf(ferry::StreamHandle stream) { return LaneOf(stream).number; }
  /// The most copies of another stream that a stream has waited for.
  int waited_for() const { return waited_for_; }

 private:
  struct Lane {
    int number = 0;
    int copies = 0;
  };
  Lane& LaneOf(ferry::StreamHandle stream) {
    return lanes_.try_emplace(stream, Lane{static_cast<int>(lanes_.size()) + 1}).first->second;
  }

  std::map<ferry::StreamHandle, Lane> lanes_;
  std::map<ferry::EventHandle, Lane> points_;
  int waited_for_ = 0;
};

void Require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

void Run() {
  Narrator device(ferry::MakeDevice("sim"));
  const ferry::Place streams[] = {ferry::Place(ferry::Stream(device)), ferry::Place(ferry::Stream(device)),
                                  ferry::Place(ferry::Stream(device))};
  ferry::Array<float> x(std::vector<float>(kElements, 1), device, "x");

  for (std::int64_t i = 0; i < kSlices; ++i) {
    const ferry::TransferGuard meant(ferry::TransferPolicy::kAllow);  // each slice goes up and comes back
    const ferry::Place& place = streams[i % 3];
    auto slice = x.Slice(i * kSlice, kSlice);
    ferry::ParallelFor(
        place, kSlice, ReadWrite(slice), KOKKOS_LAMBDA(std::int64_t j, float* v) { v[j] += 41; });
    std::printf("stream %d: computes slice %d\n", device.NumberOf(place.stream().handle()),
                static_cast<int>(i));
    slice.Prefetch(ferry::Side::kCpu, place.stream());
  }

  const int waited_for = device.waited_for();
  const auto result = ferry::Place::Cpu(device).Read(x);
  Require(std::ranges::all_of(result, [](float v) { return v == 42; }), "an element is wrong");
  const ferry::Statistics done = ferry::GetStatistics(device);
  constexpr std::uint64_t kBytes = kElements * sizeof(float);
  Require(done.host_to_device.count == kSlices && done.host_to_device.bytes == kBytes,
          "not each byte went to the device once");
  Require(done.device_to_host.count == kSlices && done.device_to_host.bytes == kBytes,
          "not each byte came back once");
  Require(waited_for == 0, "a stream waited for more than the allocation");
  std::printf("%d copies of %zu bytes each way; all that a stream waited for on another is the allocation\n",
              static_cast<int>(kSlices), kSlice * sizeof(float));
}

}  // namespace

int main() try { Run(); } catch (const std::exception& error) {
  std::fprintf(stderr, "pipeline: %s\n", error.what());
  return 1;
}
