// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "ferry/backend.hpp"
#include "ferry/blob.hpp"
#include "ferry/sim.hpp"
#include "ferry/statistics_device.hpp"
#include "tests/unit/devices.hpp"

namespace ferry::testing {

using Catch::Matchers::Message;

/// A fresh simulated machine and one device of it or the host. What the machine found wrong fails the test.
class BlobWorld {
 public:
  explicit BlobWorld(const sim::Options& options = {}, const std::string& device = "sim") {
    sim::Reset(options);
    device_ = MakeDevice(device);
  }
  ~BlobWorld() {
    device_.reset();
    sim::Drain();
    const sim::Report report = sim::Inspect();
    for (const std::string& misuse : report.misuse) FAIL_CHECK(misuse);
    for (const std::string& leak : report.leaks) FAIL_CHECK(leak);
  }
  BlobWorld(const BlobWorld&) = delete;
  BlobWorld& operator=(const BlobWorld&) = delete;

  Device& device() const { return *device_; }
  Statistics statistics() const { return GetStatistics(*device_); }

 private:
  std::unique_ptr<Device> device_;
};

/// A test that makes one runs on each device.
struct EachWorld : BlobWorld {
  EachWorld() : BlobWorld({}, GENERATE(from_range(Devices()))) {}
};

template <class T>
std::vector<T> Counted(std::int64_t count, T first = T{1}) {
  std::vector<T> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), first);
  return values;
}

template <class T>
std::vector<T> Data(const Blob<T>& blob) {
  return std::vector<T>(blob.cpu_data(), blob.cpu_data() + blob.count());
}
template <class T>
std::vector<T> DiffValues(const Blob<T>& blob) {
  return std::vector<T>(blob.cpu_diff(), blob.cpu_diff() + blob.count());
}

/// Writes first, first + 1, ... where the test says.
template <class T>
void Fill(Blob<T>& blob, T first = T{1}) {
  std::iota(blob.overwrite_cpu_data(), blob.overwrite_cpu_data() + blob.count(), first);
}
template <class T>
void FillDiff(Blob<T>& blob, T first = T{1}) {
  std::iota(blob.overwrite_cpu_diff(), blob.overwrite_cpu_diff() + blob.count(), first);
}
/// Leaves the bytes on the GPU alone; what the CPU had is spoilt, so that nobody can take it for them.
template <class T>
void ToGpu(Blob<T>& blob) {
  T *const data = blob.mutable_cpu_data(), *const diff = blob.mutable_cpu_diff();
  const bool apart = blob.mutable_gpu_data() != data;
  blob.mutable_gpu_diff();
  if (!apart) return;
  Stream::Main(blob.device()).Synchronize();
  std::fill_n(data, blob.count(), T{99});
  std::fill_n(diff, blob.count(), T{99});
}

/// Six elements of data and diff; what a call that threw must have left as it was.
struct Victim {
  explicit Victim(Device& device) : blob({2, 3}, device) {
    Fill(blob);
    FillDiff(blob, 11.f);
  }
  void CheckUntouched() const {
    CHECK(blob.shape() == Shape{2, 3});
    CHECK(blob.count() == 6);
    CHECK(blob.data()->size() == 6 * sizeof(float));
    CHECK(blob.diff()->size() == 6 * sizeof(float));
    CHECK(Data(blob) == Counted<float>(6));
    CHECK(DiffValues(blob) == Counted<float>(6, 11));
  }
  Blob<float> blob;
};

}  // namespace ferry::testing
