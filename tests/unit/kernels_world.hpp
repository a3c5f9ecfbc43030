// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "ferry/array.hpp"
#include "ferry/backend.hpp"
#include "ferry/kernels.hpp"
#include "ferry/sim.hpp"
#include "tests/unit/devices.hpp"

namespace ferry::testing {

/// A place on a device of its own, "<device> cpu", "<device> main", "<device> stream", or "sim fine stream",
/// whose kernels are cut as for a GPU. On the simulated one, all that was misused is a failure at the end.
class World {
 public:
  explicit World(const std::string& where, sim::Options options = {}) : on_sim_(where.starts_with("sim")) {
    options.fine_kernels |= where.starts_with("sim fine ");
    if (on_sim_) sim::Reset(options);
    device_ = MakeDevice(where.substr(0, where.find(' ')));
    if (where.ends_with("cpu"))
      place_ = std::make_unique<Place>(Place::Cpu(*device_));
    else if (where.ends_with("main"))
      place_ = std::make_unique<Place>(*device_);
    else
      place_ = std::make_unique<Place>(Stream(*device_));
  }
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Device& device() const { return *device_; }
  const Place& place() const { return *place_; }
  const Stream& stream() const { return place_->stream(); }

 private:
  bool on_sim_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Place> place_;
};

// Outside the class, where its CHECK sends nvcc 13.0 into an endless loop.
inline World::~World() {
  place_.reset();
  device_.reset();
  if (!on_sim_) return;
  CHECK(sim::Inspect().misuse.empty());
  CHECK(sim::Inspect().leaks.empty());
}

/// Everywhere that a kernel can run: the places of each device.
inline std::vector<std::string> AllPlaces() {
  std::vector<std::string> places;
  for (const std::string& device : Devices()) {
    for (const char* const where : {" cpu", " main", " stream"}) places.push_back(device + where);
    if (device == "sim") places.push_back(device + " fine stream");
  }
  return places;
}
/// A test that calls this runs for each of them.
inline std::string Everywhere() { return GENERATE(from_range(AllPlaces())); }

/// On the CPU.
template <ArrayLike X>
auto ValuesOf(const X& x, Device& device) {
  const auto elements = Place::Cpu(device).Read(x);
  return std::vector<std::remove_cv_t<typename decltype(elements)::element_type>>(elements.begin(),
                                                                                  elements.end());
}
template <class T>
auto ValuesOf(const Array<T>& x) {
  return ValuesOf(x, x.device());
}

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

/// 0 to n - 1.
inline std::vector<int> Indices(std::int64_t n) {
  std::vector<int> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

/// Small sizes one by one, and a few on both sides of where loops and blocks end.
inline std::vector<std::int64_t> Sizes() {
  std::vector<std::int64_t> sizes;
  for (std::int64_t n = 0; n <= 300; ++n) sizes.push_back(n);
  for (const std::int64_t n : {8191, 8192, 8193, 100003, 1 << 20}) sizes.push_back(n);
  return sizes;
}

}  // namespace ferry::testing
