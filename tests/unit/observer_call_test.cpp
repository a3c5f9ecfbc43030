// SPDX-License-Identifier: BSD-2-Clause
// What observers are told of the calls that Ferry runs: their start, and their end or failure.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "ferry/detail/kernel_place.hpp"
#include "ferry/ferry.hpp"
#include "synced_memory_device.hpp"

namespace ferry::testing {
namespace {

/// Keeps what it is told of calls, and in which order.
struct Calling : Observer {
  using Observer::On;
  using Observer::OnFailure;
  using Observer::OnStart;
  void Before(const CopyRecord&) override {
    if (refuses) throw std::runtime_error("refused");
  }
  void OnStart(const CallRecord& call) override {
    order += "start ";
    CHECK(call.took_ns == 0);
    Keep(call);
  }
  void On(const CallRecord& call) override {
    order += "end ";
    Keep(call);
    calls.push_back(call);
  }
  void OnFailure(const CallRecord&) override { order += "failure "; }
  void On(const CopyRecord&) override { order += "copy "; }
  void On(const AccessRecord& access) override {
    if (access.action == Action::kNone && access.before == access.after) order += "needless access ";
  }
  void OnFailure(const CopyRecord& copy) override {
    order += "failure of a copy ";
    failed = copy.range.bytes;
  }
  void Keep(const CallRecord& call) { operands.assign(call.operands.begin(), call.operands.end()); }

  bool refuses = false;
  std::string order;
  std::vector<CallRecord> calls;
  std::vector<CallRecord::Operand> operands;  ///< of the last one
  std::size_t failed = 0;
};

struct CallFixture {
  CallFixture() { sim::Reset({.seed = 1}); }
  std::unique_ptr<Device> device = MakeDevice("sim:0");
  std::shared_ptr<Calling> notes = std::make_shared<Calling>();
  Place gpu{*device}, cpu = Place::Cpu(*device);
};

TEST_CASE("A call is told with its operands, its stream and its site, though all were in place") {
  CallFixture f;
  Array<float> x(16, *f.device, "x"), y(16, *f.device, "y");
  Set(f.gpu, 1.0F, x);
  Set(f.gpu, 2.0F, y);
  {
    const Watch watch(f.notes);
    Axpy(f.gpu, 2.0F, x, y.Slice(0, 16));
    const int line = __LINE__ - 1;
    REQUIRE(f.notes->calls.size() == 1);
    CHECK(*f.notes->calls[0].on == f.gpu.stream());
    CHECK(f.notes->calls[0].site.file() == std::string(__FILE__));
    CHECK(f.notes->calls[0].site.line() == line);
    CHECK(f.notes->calls[0].took_ns >= 0);
    REQUIRE(f.notes->operands.size() == 2);
    CHECK(f.notes->operands[0].memory == x.memory().get());
    CHECK(f.notes->operands[0].access == Access::kRead);
    CHECK(f.notes->operands[1].access == Access::kReadWrite);
    CHECK(f.notes->operands[1].range.bytes == 64);
    Scale(f.cpu, 2.0F, y);
    REQUIRE(f.notes->calls.size() == 2);
    CHECK(f.notes->calls[1].on == nullptr);
  }
  Scale(f.gpu, 2.0F, y);
  CHECK(f.notes->calls.size() == 2);
}

/// A call that throws after it has taken its operands.
void FailAt(const Place& place, Array<float>& x) {
  const detail::Request request = ReadWrite(x).request();
  std::array<void*, 1> ptrs{};
  const detail::KernelCall call(place, {&request, 1}, ptrs);
  throw std::runtime_error("the work");
}

TEST_CASE("A call that throws after it has taken its operands is told as a failure") {
  CallFixture f;
  Array<float> x(16, *f.device);
  const Watch watch(f.notes);
  CHECK_THROWS_AS(FailAt(f.gpu, x), std::runtime_error);
  CHECK(f.notes->order == "start failure ");
}

TEST_CASE("A call that could not take its operands is not told") {
  CallFixture f;
  Array<float> x(16, *f.device);
  const Watch watch(f.notes);
  f.notes->refuses = true;
  static_cast<void>(f.cpu.Overwrite(x));
  CHECK_THROWS_AS(Scale(f.gpu, 2.0F, x), std::runtime_error);
  CHECK(f.notes->order.empty());
}

TEST_CASE("A call starts when its operands have been copied, and ends with its work queued or done") {
  CallFixture f;
  Array<float> x(16, *f.device), y(16, *f.device);
  Set(f.cpu, 1.0F, x);
  Set(f.gpu, 1.0F, y);
  const Watch watch(f.notes);
  Axpy(f.gpu, 2.0F, x, y);
  CHECK(f.notes->order == "copy start end ");
  f.notes->order.clear();
  Axpy(f.cpu, 2.0F, x, y);
  CHECK(f.notes->order == "copy start end ");
  CHECK(f.notes->calls.back().kind == CallRecord::Kind::kKernel);
}

TEST_CASE("A loop without operands is told, too") {
  CallFixture f;
  const Watch watch(f.notes);
  std::array<void*, 1> ptrs{};
  { const detail::KernelCall call(f.gpu, {}, ptrs); }
  CHECK(f.notes->order == "start end ");
  CHECK(f.notes->operands.empty());
}

TEST_CASE("A copy within one space is told as a call, wherever it is") {
  CallFixture f;
  Array<float> x(16, *f.device, "x"), y(16, *f.device, "y");
  const auto told = [&](const Stream* on, int line) {
    REQUIRE(f.notes->calls.size() == 1);
    const CallRecord& call = f.notes->calls[0];
    CHECK(call.kind == CallRecord::Kind::kCopy);
    CHECK(((call.on == nullptr) == (on == nullptr)));
    CHECK(call.site.line() == line);
    REQUIRE(f.notes->operands.size() == 2);
    CHECK(f.notes->operands[0].memory == x.memory().get());
    CHECK(f.notes->operands[0].access == Access::kRead);
    CHECK(f.notes->operands[1].memory == y.memory().get());
    CHECK(f.notes->operands[1].access == Access::kOverwrite);
    CHECK(f.notes->operands[1].range.first == 16);
    CHECK(f.notes->operands[1].range.bytes == 48);
    CHECK(f.notes->order == "start end ");
    f.notes->calls.clear();
    f.notes->order.clear();
  };
  const ByteRange part{16, 48};
  Set(f.cpu, 1.0F, x);
  Set(f.cpu, 1.0F, y);
  const Watch watch(f.notes);
  Copy(f.cpu, x.Slice(0, 12), y.Slice(4, 12));
  told(nullptr, __LINE__ - 1);
  y.memory()->Assign(part, *x.memory(), 0);  // in place
  told(nullptr, __LINE__ - 1);
  static_cast<void>(f.gpu.Read(x));
  f.notes->order.clear();
  y.memory()->Assign(part, *x.memory(), 0);  // where the source is
  told(&f.gpu.stream(), __LINE__ - 1);
  static_cast<void>(f.gpu.ReadWrite(y));
  f.notes->order.clear();
  Copy(f.gpu, x.Slice(0, 12), y.Slice(4, 12));
  told(&f.gpu.stream(), __LINE__ - 1);
}

TEST_CASE("A copy that cannot be queued is told as a failure after its start") {
  LogDevice device;
  const auto notes = std::make_shared<Calling>();
  SyncedMemory memory(64, device, "x");
  memory.mutable_cpu_data();
  memory.Prefetch(Side::kGpu, Stream::Main(device));
  memory.mutable_cpu_data();
  const Watch watch(notes);
  device.FailAt(1);
  CHECK_THROWS_AS(memory.gpu_data(), DeviceError);
  CHECK(notes->order == "failure of a copy ");
  CHECK(notes->failed == 64);
}

/// And of the starts of copies.
struct Starting : Calling {
  using Calling::OnStart;
  void Before(const CopyRecord&) override { order += "before "; }
  void OnStart(const CopyRecord&) override { order += "start of a copy "; }
};

TEST_CASE("Who is told of things once they are done is told nothing before") {
  CallFixture f;
  const auto once = std::make_shared<Starting>(), whole = std::make_shared<Starting>();
  Array<float> x(16, *f.device);
  Set(f.cpu, 1.0F, x);
  const Watch watch(once, Told::kOnceDone);
  {
    const Watch other(whole, Told::kFromStart);
    Scale(f.gpu, 2.0F, x);
  }
  CHECK(whole->order == "before start of a copy copy start end ");
  CHECK(once->order == "copy end ");
  once->order.clear();
  static_cast<void>(f.cpu.ReadWrite(x));
  Scale(f.gpu, 2.0F, x);
  CHECK(once->order == "copy copy end ");
  CHECK(whole->order == "before start of a copy copy start end ");
}

TEST_CASE("Of two watches of one observer, the one that ends is the one that is over") {
  CallFixture f;
  const auto notes = std::make_shared<Starting>();
  Array<float> x(16, *f.device);
  const auto scale = [&] {
    notes->order.clear();
    static_cast<void>(f.cpu.Overwrite(x));
    Scale(f.gpu, 2.0F, x);
  };
  {
    const Watch stays(notes, Told::kFromStart);
    { const Watch ends(notes, Told::kOnceDone); }
    scale();
    CHECK(notes->order == "before start of a copy copy start end ");
  }
  const Watch stays(notes, Told::kOnceDone);
  { const Watch ends(notes, Told::kFromStart); }
  scale();
  CHECK(notes->order == "copy end ");
}

TEST_CASE("Who is told of things once they are done is not told of a failure") {
  LogDevice device;
  const auto once = std::make_shared<Starting>(), whole = std::make_shared<Starting>();
  SyncedMemory memory(64, device);
  memory.mutable_cpu_data();
  memory.Prefetch(Side::kGpu, Stream::Main(device));
  memory.mutable_cpu_data();
  const Watch watch(once, Told::kOnceDone), other(whole);
  device.FailAt(1);
  CHECK_THROWS_AS(memory.gpu_data(), DeviceError);
  CHECK(whole->order == "before start of a copy failure of a copy ");
  CHECK(once->order.empty());
}

TEST_CASE("Who is told of things once they are done is not told of a call that fails") {
  CallFixture f;
  const auto once = std::make_shared<Starting>();
  Array<float> x(16, *f.device);
  Set(f.cpu, 1.0F, x);
  const Watch watch(once, Told::kOnceDone);
  CHECK_THROWS_AS(FailAt(f.cpu, x), std::runtime_error);
  CHECK(once->order.empty());
}

}  // namespace
}  // namespace ferry::testing
