// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "ferry/backend.hpp"
#include "ferry/kernels.hpp"
#include "ferry/sim.hpp"
#include "ferry/synced_memory.hpp"
#include "tests/unit/devices.hpp"

namespace ferry::testing {

/// A place on a device of its own, "<device> cpu", "<device> main" or "<device> stream". On the simulated
/// one, all that was misused is a failure at the end.
class World {
 public:
  explicit World(const std::string& where, const sim::Options& options = {}) {
    sim::Reset(options);
    device_ = MakeDevice(where.substr(0, where.find(' ')));
    if (where.ends_with("cpu"))
      place_ = std::make_unique<Place>(Place::Cpu(*device_));
    else if (where.ends_with("main"))
      place_ = std::make_unique<Place>(Place::On(Stream::Main(*device_)));
    else
      place_ = std::make_unique<Place>(Place::On(Stream(*device_)));
  }
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Device& device() const { return *device_; }
  const Place& place() const { return *place_; }
  const Stream& stream() const { return place_->stream(); }

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<Place> place_;
};

// Outside the class, where its CHECK sends nvcc 13.0 into an endless loop.
inline World::~World() {
  place_.reset();
  device_.reset();
  CHECK(sim::Inspect().misuse.empty());
  CHECK(sim::Inspect().leaks.empty());
}

/// A test that calls this runs for each place of each device: everywhere that a kernel can run.
inline std::string Everywhere() {
  const std::string device = GENERATE(from_range(Devices()));
  return device + GENERATE(as<std::string>(), " cpu", " main", " stream");
}

/// Elements in memory that goes where it is used.
template <class T>
class Elements {
 public:
  Elements(const World& world, const std::vector<T>& values)
      : place_(world.place()), memory_(values.size() * sizeof(T), world.device()) {
    if (!values.empty()) std::memcpy(memory_.overwrite_cpu_data(), values.data(), memory_.size());
  }
  std::int64_t n() const { return static_cast<std::int64_t>(memory_.size() / sizeof(T)); }
  const T* read() const { return place_.Read<T>(memory_); }
  T* read_write() { return place_.ReadWrite<T>(memory_); }
  T* overwrite() { return place_.Overwrite<T>(memory_); }
  std::vector<T> values() const {
    const T* const data = static_cast<const T*>(memory_.cpu_data());
    return std::vector<T>(data, data + n());
  }

 private:
  Place place_;
  SyncedMemory memory_;
};

/// The same numbers in -1 ... 1 for the same seed, on every machine.
template <class T>
std::vector<T> Numbers(std::int64_t n, std::uint64_t seed) {
  std::vector<T> numbers(static_cast<std::size_t>(n));
  for (T& number : numbers) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    number = static_cast<T>(static_cast<std::int64_t>(seed) >> 11) / T(std::int64_t{1} << 52);
  }
  return numbers;
}

/// Small sizes one by one, and a few on both sides of where loops and blocks end.
inline std::vector<std::int64_t> Sizes() {
  std::vector<std::int64_t> sizes;
  for (std::int64_t n = 0; n <= 300; ++n) sizes.push_back(n);
  for (const std::int64_t n : {8191, 8192, 8193, 100003, 1 << 20}) sizes.push_back(n);
  return sizes;
}

}  // namespace ferry::testing
