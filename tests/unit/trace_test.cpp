// SPDX-License-Identifier: BSD-2-Clause
// What a trace says of records.
#include "tools/report/trace.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/sim_fixture.hpp"
#include "tests/unit/trace_fixture.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("A trace has each copy on its stream, with the label, the bytes and both sites") {
  TraceFixture f;
  Blob<float> blob({100}, *f.device);
  blob.set_name("weight7");
  WriteIt(blob), ReadItThere(blob);
  const auto copies = Only(f.Events(), "X", "copy");
  REQUIRE(copies.size() == 1);
  CHECK(copies[0].Text("name") == "copy weight7");
  const Json& args = ArgsOf(copies[0]);
  CHECK(args.Text("label") == "weight7");
  CHECK(args.Number("bytes") == 400);
  CHECK(args.Text("from") == "the host");
  CHECK(args.Text("to") == "sim:0");
  CHECK_THAT(std::string(args.Text("stale_by")), ContainsSubstring("WriteIt (trace_fixture.hpp:"));
  CHECK(args.Text("stale_as") == "mutable");
  CHECK_THAT(std::string(args.Text("asked_by")), ContainsSubstring("ReadItThere (trace_fixture.hpp:"));
  CHECK(args.Text("asked_as") == "read");
}

TEST_CASE("A process of a trace is the host or a device, and a track of it is a thread or a stream") {
  TraceFixture f;
  Blob<float> blob({100}, *f.device);
  const Stream stream(*f.device);
  Set(Place(*f.device), 1.0F, blob);
  Set(Place(stream), 2.0F, blob);
  Set(Place::Cpu(*f.device), 3.0F, blob);
  std::vector<std::string> names;
  for (const Json& event : f.Events())
    if (event.Text("ph") == "M" && event.Text("name") != "ferry_trace")
      names.emplace_back(ArgsOf(event).Text("name"));
  REQUIRE(names.size() == 7);  // each stream has a second track, by the device's clock
  CHECK(names[0] == "the host");
  CHECK(std::count(names.begin(), names.end(), "sim:0") == 1);
  CHECK(std::count(names.begin(), names.end(), "main stream") == 1);
  CHECK(std::count(names.begin(), names.end(), "stream 2") == 1);
  CHECK(std::any_of(names.begin(), names.end(),
                    [](const std::string& name) { return name.starts_with("thread "); }));
}

TEST_CASE(
    "A kernel on a stream lasts until the next work of the stream, and one on the CPU as long as it runs") {
  TraceFixture f;
  Array<float> x(100, *f.device, "x"), y(100, *f.device, "y");
  const Place gpu(*f.device);
  Set(gpu, 1.0F, x);
  Set(gpu, 2.0F, y);
  Axpy(gpu, 2.0F, x, y);
  Scale(Place::Cpu(*f.device), 2.0F, y);
  const auto kernels = Only(f.Events(), "X", "kernel");
  REQUIRE(kernels.size() == 4);
  std::vector<Json> queued;
  for (const Json& kernel : kernels)
    if (kernel.Number("pid") == 2) queued.push_back(kernel);
  REQUIRE(queued.size() == 3);
  CHECK(ArgsOf(queued[2]).Text("operands") == R"(read "x", mutable "y")");
  CHECK(ArgsOf(queued[2]).Number("bytes") == 800);
  for (std::size_t i = 0; i + 1 < queued.size(); ++i) {
    CHECK(OnOneTrack(queued[i], queued[i + 1]));
    CHECK(EndOf(queued[i]) <= queued[i + 1].Number("ts") + 0.002);  // of decimal places that are cut off
  }
}

TEST_CASE("A copy within a device is a call, and no kernel") {
  TraceFixture f;
  Blob<float> x({100}, *f.device), y({100}, *f.device);
  Set(Place(*f.device), 1.0F, x);
  y.CopyFrom(x, false, true);
  const auto events = f.Events();
  CHECK(Only(events, "X", "kernel").size() == 1);
  CHECK(Only(events, "X", "device kernel").size() == 1);
  CHECK(Only(events, "X", "device call").size() == 1);
}

TEST_CASE("A program's own work on a pointer is a slice of its access") {
  TraceFixture f;
  Blob<float> x({100}, *f.device), y({100}, *f.device);
  x.set_name("x"), y.set_name("y");
  x.mutable_gpu_data(), y.mutable_gpu_data();  // one line: one slice
  x.mutable_cpu_data();
  x.gpu_data();
  const auto accesses = Only(f.Events(), "X", "access");
  REQUIRE(accesses.size() == 2);
  CHECK(ArgsOf(accesses[0]).Text("operands") == R"(mutable "x", mutable "y")");
  CHECK(ArgsOf(accesses[1]).Text("operands") == R"(read "x")");
}

TEST_CASE("Live bytes are counted for each space, and prefetches and evictions are marks") {
  TraceFixture f;
  {
    SyncedMemory memory(4000, *f.device, "x");
    memory.mutable_cpu_data();
    memory.Prefetch(Side::kGpu, Stream::Main(*f.device));
    memory.mutable_gpu_data();
    memory.Release(Side::kGpu);
    std::array<char, 4000> given{};
    memory.set_cpu_data(given.data());  // are not counted
  }
  const auto events = f.Events();
  std::vector<double> live;
  for (const Json& event : events)
    if (event.Text("ph") == "C") live.push_back(ArgsOf(event).Number("bytes") + event.Number("pid"));
  CHECK(live == std::vector<double>{4001, 4002, 2, 1});
  CHECK(Only(events, "i", "prefetch").size() == 1);
  const auto changes = Only(events, "i", "memory");
  CHECK(std::any_of(changes.begin(), changes.end(),
                    [](const Json& event) { return event.Text("name") == "evict x"; }));
}

TEST_CASE("A block ends under the label that it was allocated for") {
  TraceFixture f;
  {
    SyncedMemory memory(64, *f.device);
    memory.overwrite_gpu_data();
    memory.set_label("late");
  }
  const auto events = Only(f.Events(), "i", "memory");
  REQUIRE(events.size() == 2);
  CHECK(ArgsOf(events[0]).Text("label").empty());
  CHECK(ArgsOf(events[1]).Text("label").empty());
}

TEST_CASE("What ends in a trace and began before it is not counted") {
  TraceFixture f;
  f.trace.reset();
  auto memory = std::make_unique<SyncedMemory>(4000, *f.device, "x");
  memory->mutable_gpu_data();
  f.trace.emplace(f.file);
  memory.reset();
  CHECK(Only(f.Events(), "i", "memory").empty());
}

TEST_CASE("Any threads may be traced at once, and each has its track") {
  TraceFixture f;
  constexpr std::size_t kThreads = 4, kTurns = 100;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      const Place gpu{Stream(*f.device)};
      Blob<float> blob({16}, *f.device);
      for (std::size_t turn = 0; turn < kTurns; ++turn) WriteIt(blob), Scale(gpu, 2.0F, blob);
    });
  for (std::thread& thread : threads) thread.join();
  const auto events = f.Events();
  CHECK(Only(events, "X", "copy").size() >= kThreads * (2 * kTurns - 1));
  std::set<double> tracks;
  for (const Json& call : Only(events, "X", "call")) tracks.insert(call.Number("tid"));
  CHECK(tracks.size() == kThreads);
}

TEST_CASE("Streams beyond a bound share a track") {
  TraceFixture f;
  SyncedMemory memory(4, *f.device, "x");
  for (int i = 0; i < 1100; ++i) memory.mutable_gpu_data(Stream(*f.device));
  std::set<double> tracks;
  for (const Json& event : Only(f.Events(), "X", "access")) tracks.insert(event.Number("tid"));
  CHECK(tracks.size() == 1025);
}

TEST_CASE("A trace has the times of a borrowed stream that is gone") {
  const Folder folder;
  const std::string file = (folder / "t.json").string();
  sim::Reset({.order = sim::Order::kLate, .events_need_stream = true});
  {
    const auto owner = std::make_unique<SimDevice>(0);  // ThreadSanitizer mixes up locks of one stack address
    SimDevice& device = *owner;
    const Trace trace(file);
    Array<float> x(100, device, "x");
    Set(Place::Cpu(device), 1.0F, x);
    const StreamHandle handle = sim::CreateBlockingStream(device);
    {
      const Stream lent = Stream::Borrow(device, handle);
      Scale(Place(lent), 2.0F, x);
      x.memory()->Forget(lent);
    }
    device.DestroyStream(handle);
    CHECK(Place::Cpu(device).Read(x)[99] == 2);
  }
  const auto events = EventsOf(file);
  CHECK(Only(events, "X", "device copy").size() == 2);
  CHECK(Only(events, "X", "device kernel").size() == 1);
  CHECK(sim::Inspect().leaks.empty());
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("A label of any length leaves a trace that can be read: 1000 bytes of it, and dots") {
  TraceFixture f;
  const std::string begin(999, 'x');
  {
    Array<float> x(100, *f.device, begin + "\u00fc" + std::string(2'000'000, 'y')),
        z(100, *f.device, begin + 'z');
    Place cpu = Place::Cpu(*f.device), gpu(*f.device);
    static_cast<void>(cpu.Overwrite(x));
    x.Prefetch(Side::kGpu, gpu.stream());
    Axpy(gpu, 2.0F, x, z);
    static_cast<void>(gpu.ReadWrite(x));
    static_cast<void>(cpu.ReadWrite(x));
    x.Prefetch(Side::kGpu, gpu.stream());
    x.Release(Side::kCpu);
    static_cast<void>(cpu.Read(z));
  }
  f.trace.reset();
  CHECK(std::filesystem::file_size(f.file) < 100'000);
  std::ifstream in(f.file, std::ios::binary);
  CHECK_NOTHROW(report::ReadTrace(in));
  const auto copies = Queued(EventsOf(f.file), "copy"), kernels = Queued(EventsOf(f.file), "kernel");
  REQUIRE((copies.size() == 4 && kernels.size() == 1));
  CHECK(ArgsOf(copies[0]).Text("label") == begin + "...");
  CHECK(copies[0].Text("name") == "copy " + begin + "...");
  CHECK(ArgsOf(copies[3]).Text("label") == begin + 'z');
  CHECK(ArgsOf(kernels[0]).Text("operands") == "read \"" + begin + "...\", mutable \"" + begin + "z\"");
}

TEST_CASE("A trace that is attached in a call of an observer replaces no file") {
  TraceFixture f;
  const std::string other = (f.folder / "precious.json").string();
  std::ofstream(other) << "precious";
  int refused = 0;
  {
    const Watch watch([&](const AccessRecord&) {
      try {
        const Trace trace(other);
      } catch (const std::logic_error&) {
        ++refused;
      }
    });
    SyncedMemory(4, *f.device).cpu_data();
  }
  CHECK(refused == 1);
  std::string text;
  std::getline(std::ifstream(other), text);
  CHECK(text == "precious");
}

}  // namespace
}  // namespace ferry::testing
