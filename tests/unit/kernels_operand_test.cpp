// SPDX-License-Identifier: BSD-2-Clause
// Kernels of arrays, slices, temporaries, blobs and diffs, in every mix; and what they refuse.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <functional>
#include <stdexcept>

#include "ferry/blob.hpp"
#include "ferry/error.hpp"
#include "ferry/forwarding_device.hpp"
#include "tests/unit/kernels_world.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::Message;

using Floats = std::vector<float>;

void Fill(const Place& place, const Floats& values, std::span<float> to) {
  REQUIRE(place.side() == Side::kCpu);
  std::copy(values.begin(), values.end(), to.begin());
}

/// Calls use(x) for each kind of thing that has `values` as elements and may be written, and checks that what
/// lies beside them has not been.
template <class Use>
void WithEachWritable(Device& device, const Floats& values, Use use) {
  const Place cpu = Place::Cpu(device);
  const auto n = static_cast<std::int64_t>(values.size());
  {
    Array<float> array(values, device, "array");
    use(array);
  }
  {
    Array<float> around(Floats(values.size() + 5, 77), device, "around");
    Fill(cpu, values, cpu.ReadWrite(around.Slice(2, n)));
    use(around.Slice(2, n));
    const Floats after = ValuesOf(around);
    CHECK((after[0] == 77 && after[1] == 77 && after[values.size() + 2] == 77 && after.back() == 77));
  }
  {
    Blob<float> blob({n}, device);
    Fill(cpu, values, cpu.Overwrite(blob));
    use(blob);
    CHECK(ValuesOf(Diff(blob), device) == Floats(values.size()));
  }
  {
    Blob<float> blob({n + 3}, device);  // more storage than shape
    blob.Reshape({n});
    Fill(cpu, values, cpu.Overwrite(Diff(blob)));
    use(Diff(blob));
    CHECK(ValuesOf(blob, device) == Floats(values.size()));
  }
}

/// Those that may be read are these as well.
template <class Use>
void WithEach(Device& device, const Floats& values, Use use) {
  WithEachWritable(device, values, use);
  const Array<float> array(values, device, "const array");
  use(array);
  use(array.Share());
  Blob<float> blob({static_cast<std::int64_t>(values.size())}, device);
  Fill(Place::Cpu(device), values, Place::Cpu(device).Overwrite(blob));
  const Blob<float>& view = blob;
  use(view);
  Fill(Place::Cpu(device), values, Place::Cpu(device).Overwrite(Diff(blob)));
  use(Diff(view));
}

TEST_CASE("Each kernel takes each mix of arrays, slices, temporaries, blobs and diffs", "[kernels]") {
  const World world(Everywhere());
  const Place& place = world.place();
  Device& device = world.device();
  const Floats one = {1, 2, 3}, two = {10, 20, 30};
  WithEachWritable(device, one, [&](auto&& x) {
    Scale(place, 2, x);
    CHECK(ValuesOf(x, device) == Floats{2, 4, 6});
    Set(place, 5, x);
    CHECK(ValuesOf(x, device) == Floats{5, 5, 5});
  });
  WithEach(device, one, [&](auto&& x) {
    CHECK(Asum(place, x) == 6);
    CHECK(Sumsq(place, x) == 14);
    WithEach(device, two, [&](auto&& y) { CHECK(Dot(place, x, y) == 140); });
    WithEachWritable(device, two, [&](auto&& y) {
      Axpy(place, 2, x, y);
      CHECK(ValuesOf(y, device) == Floats{12, 24, 36});
      Axpby(place, 1, x, 0.5F, y);
      CHECK(ValuesOf(y, device) == Floats{7, 14, 21});
      Copy(place, x, y);
      CHECK(ValuesOf(y, device) == one);
      Gemm(place, Transpose::kNo, Transpose::kNo, 3, 1, 1, 2, x, Array<float>(Floats{4}, device), 1, y);
      CHECK(ValuesOf(y, device) == Floats{9, 18, 27});
      CHECK(ValuesOf(x, device) == one);
    });
  });
}

TEST_CASE("A unified device copies arrays of another device and of the caller, too", "[kernels][no-gpu]") {
  sim::Reset({.devices = 2, .unified_devices = 1});
  const auto plain = MakeDevice("sim:0"), unified = MakeDevice("sim:1");
  Floats given{7, 8}, taken{0, 0};
  for (Device* const from : {plain.get(), unified.get()})
    for (Device* const to : {plain.get(), unified.get()}) {
      const Array<float> x(Floats{1, 2}, *from);
      Array<float> y(2, *to);
      Copy(Place(*unified), x, y);
      CHECK(ValuesOf(y) == Floats{1, 2});
      auto adopted = Array<float>::Adopt(given.data(), 2, Place::Cpu(*from));
      auto result = Array<float>::Adopt(taken.data(), 2, Place::Cpu(*to));
      Copy(Place(*unified), adopted, y);
      Copy(Place(*unified), y, result);
      CHECK(ValuesOf(result) == given);
    }
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("Operands of one array may be identical or disjoint", "[kernels]") {
  const World world(Everywhere());
  const Place& place = world.place();
  Array<float> x(Floats{1, 2, 3, 4}, world.device());
  Axpy(place, 10, x.Slice(0, 2), x.Slice(2, 2));
  CHECK(ValuesOf(x) == Floats{1, 2, 13, 24});
  Copy(place, x.Slice(2, 2), x.Slice(0, 2));
  CHECK(ValuesOf(x) == Floats{13, 24, 13, 24});
  CHECK(Dot(place, x.Slice(0, 3), x.Slice(1, 3)) == 13 * 24 + 24 * 13 + 13 * 24);
  Axpy(place, 1, x.Slice(1, 2), x.Slice(1, 2));
  CHECK(ValuesOf(x) == Floats{13, 48, 26, 24});
}

TEST_CASE("Copy of an array onto itself keeps its elements, and moves none on the device",
          "[kernels][no-gpu]") {
  const World world("sim stream");
  Array<float> x(Floats{1, 2, 3, 4}, world.device());
  Copy(world.place(), x.Slice(1, 2), x.Slice(1, 2));
  CHECK(sim::Inspect().copies == 1);  // to the device
  CHECK(ValuesOf(x) == Floats{1, 2, 3, 4});
}

TEST_CASE("Operands that overlap in part are refused, and nothing has changed", "[kernels]") {
  const World world(Everywhere());
  const Place& place = world.place();
  Array<float> x(Floats{1, 2, 3, 4}, world.device(), "x");
  const Head before = x.memory()->head();
  CHECK_THROWS_AS(Axpy(place, 10, x.Slice(0, 2), x.Slice(1, 2)), std::invalid_argument);
  CHECK_THROWS_AS(Copy(place, x.Slice(1, 2), x.Slice(2, 2)), std::invalid_argument);
  CHECK_THROWS_AS(
      Gemm(place, Transpose::kNo, Transpose::kNo, 1, 1, 2, 1, x.Slice(0, 2), x.Slice(2, 2), 0, x.Slice(1, 1)),
      std::invalid_argument);
  CHECK(x.memory()->head() == before);
  CHECK(ValuesOf(x) == Floats{1, 2, 3, 4});
}

TEST_CASE("Counts that differ are an error with both labels and counts, before any byte has moved",
          "[kernels]") {
  const World world(Everywhere());
  const Place& place = world.place();
  const Array<float> x(Floats{1, 2, 3}, world.device(), "x");
  Array<float> y(4, world.device(), "y");
  Blob<float> blob({2}, world.device());
  const auto says = [](const std::string& call, const std::string& second) {
    return Message("ferry::" + call + ": x (\"x\") has 3 elements, y (" + second +
                   " elements; the counts must be equal");
  };
  CHECK_THROWS_MATCHES(Copy(place, x, y), ShapeError, says("Copy", "\"y\") has 4"));
  CHECK_THROWS_MATCHES(Axpy(place, 2, x, y), ShapeError, says("Axpy", "\"y\") has 4"));
  CHECK_THROWS_MATCHES(Axpby(place, 2, x, 3, blob), ShapeError, says("Axpby", "no label) has 2"));
  CHECK_THROWS_MATCHES(Dot(place, x, Diff(blob)), ShapeError, says("Dot", "no label) has 2"));
  CHECK_THROWS_MATCHES(Axpy(place, 2, x, Array<float>()), ShapeError, says("Axpy", "no label) has 0"));
  CHECK(x.memory()->head() == Head::HEAD_AT_CPU);
  CHECK(y.memory()->head() == Head::UNINITIALIZED);
  CHECK(blob.data()->head() == Head::UNINITIALIZED);
  CHECK(blob.diff()->head() == Head::UNINITIALIZED);
}

TEST_CASE("Scalars become of the elements' type", "[kernels]") {
  const World world(Everywhere());
  Array<double> x(2, world.device());
  Array<std::uint8_t> bytes(2, world.device());
  Set(world.place(), 1, x);
  Scale(world.place(), 0.1F, x);
  Set(world.place(), 'a', bytes);
  CHECK(ValuesOf(x) == std::vector<double>(2, double{0.1F}));
  CHECK(ValuesOf(bytes) == std::vector<std::uint8_t>(2, 'a'));
}

/// Notes what its kernels say that they use.
class NotingDevice final : public ForwardingDevice {
 public:
  NotingDevice() : ForwardingDevice(MakeDevice("sim")), properties_(next().properties()) {
    touches.clear();
    properties_.launch = [](int, StreamHandle, std::vector<Touch> used,
                            std::function<void()>) {  // NOLINT(performance-unnecessary-value-param)
      touches = std::move(used);
    };
  }
  const DeviceProperties& properties() const noexcept override { return properties_; }

  static inline std::vector<Touch> touches;

 private:
  DeviceProperties properties_;
};

TEST_CASE("A kernel says which bytes it reads and writes: those of its operands and no others",
          "[kernels][no-gpu]") {
  sim::Reset();
  NotingDevice device;
  const Place place(device);
  Array<float> x(8, device), y(8, device);
  const auto used = [&](const auto& array, std::size_t which, bool writes) {
    REQUIRE(which < NotingDevice::touches.size());
    const Touch& touch = NotingDevice::touches[which];
    const auto span = place.Read(array);
    CHECK(touch.ptr == span.data());
    CHECK(touch.bytes == span.size_bytes());
    CHECK(touch.writes == writes);
    return true;
  };
  Axpy(place, 2, x.Slice(1, 3), y.Slice(5, 3));
  CHECK((used(x.Slice(1, 3), 0, false) && used(y.Slice(5, 3), 1, true)));
  Set(place, 2, x.Slice(2, 6));
  CHECK(used(x.Slice(2, 6), 0, true));
  static_cast<void>(Dot(place, x, y.Slice(0, 8)));
  CHECK((used(x, 0, false) && used(y, 1, false)));
  Gemm(place, Transpose::kNo, Transpose::kNo, 2, 2, 1, 1, x.Slice(0, 2), x.Slice(2, 2), 0, y.Slice(4, 4));
  CHECK((used(x.Slice(0, 2), 0, false) && used(x.Slice(2, 2), 1, false) && used(y.Slice(4, 4), 2, true)));
  CHECK(NotingDevice::touches.size() == 3);
}

}  // namespace
}  // namespace ferry::testing
