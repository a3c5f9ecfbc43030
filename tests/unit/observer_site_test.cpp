// SPDX-License-Identifier: BSD-2-Clause
// Which lines of the program observers are told.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <string>
#include <vector>

#include "ferry/ferry.hpp"
#include "observer_fixture.hpp"

namespace ferry::testing {
namespace {

TEST_CASE("Each kind of call tells its own site") {
  ObserverFixture f;
  std::vector<int> lines;
  const Watch watch([&](const AccessRecord& record) {
    CHECK(std::string(record.site.file()) == __FILE__);
    lines.push_back(record.site.line());
  });
  const Place cpu = Place::Cpu(*f.device), gpu(*f.device);
  Blob<float> blob({2, 2}, *f.device), other({2, 2}, *f.device);
  std::vector<int> calls;
  const auto call = [&](int line) { calls.push_back(line); };
  blob.mutable_cpu_data(), call(__LINE__);
  blob.gpu_data(), call(__LINE__);
  cpu.ReadWrite(blob), call(__LINE__);
  blob.Prefetch(Side::kGpu), call(__LINE__);
  Scale(gpu, 2.0F, blob), call(__LINE__);
  blob.data_at({0, 0}), call(__LINE__);
  blob.scale_data(2.0F, gpu.stream()), call(__LINE__);
  cpu.Overwrite(Diff(blob)), call(__LINE__);
  blob.gpu_diff(gpu.stream()), call(__LINE__);
  other.CopyFrom(blob), call(__LINE__);
  blob.data()->cpu_data({0, 4}), call(__LINE__);
  CHECK(lines == calls);
}

TEST_CASE("A blob's memories begin where the blob was made, or asked for another size") {
  ObserverFixture f;
  const Watch watch(f.notes);
  std::vector<int> calls;
  const auto call = [&](int line) { calls.insert(calls.end(), 2, line); };  // data and diff
  Blob<float> blob({2, 3}, *f.device), other(2, 3, 4, 5, *f.device);
  call(__LINE__ - 1), call(__LINE__ - 1);
  const std::vector<int> dims{30, 40};
  const Blob<float> ranged(dims, *f.device);
  call(__LINE__ - 1);
  blob.Reshape({10, 20}), call(__LINE__);
  blob.Reshape(10, 20, 30, 1), call(__LINE__);
  blob.Reshape(Shape({10, 20, 30, 40}, "test")), call(__LINE__);
  other.Reshape(dims), call(__LINE__);
  Blob<float> like(*f.device), copied(*f.device);
  like.ReshapeLike(other), call(__LINE__);
  like.ShrinkToFit();  // nothing
  copied.CopyFrom(other, false, true), call(__LINE__);
  like.gpu_shape(), calls.push_back(__LINE__);
  other.Reshape({2}), other.ShrinkToFit(), call(__LINE__);
  std::vector<float> values(2);
  Blob<float> part(other.Slice(0, 1));
  part.set_cpu_data(values.data()), calls.push_back(__LINE__);
  std::vector<int> lines;
  for (const LifeRecord& life : f.notes->lives)
    if (life.what == LifeRecord::What::kMemory && life.begins) {
      CHECK(std::string(life.site->file()) == __FILE__);
      lines.push_back(life.site->line());
    }
  CHECK(lines == calls);
}

TEST_CASE("Who writes first what a reader found as zeros has made it stale elsewhere") {
  ObserverFixture f;
  const Watch watch(f.notes);
  const bool there = GENERATE(false, true), part = GENERATE(false, true);
  const Stream main = Stream::Main(*f.device);
  SyncedMemory memory(40, *f.device);
  const ByteRange range = part ? ByteRange{8, 32} : ByteRange{};
  there ? memory.gpu_data() : memory.cpu_data();
  const int first = __LINE__ + 1;
  there ? memory.mutable_gpu_data(range, main) : memory.mutable_cpu_data(range);
  there ? memory.mutable_gpu_data(range, main) : memory.mutable_cpu_data(range);  // in place
  there ? memory.cpu_data(range) : memory.gpu_data(range, main);
  REQUIRE(f.notes->copies.size() == 1);
  REQUIRE(f.notes->copies[0].written.has_value());
  CHECK(f.notes->copies[0].written->site.line() == first);
  CHECK(f.notes->accesses.size() == 3);
}

TEST_CASE("Who writes in place has not, be it an operand of a call whose others are not in place") {
  ObserverFixture f;
  const Watch watch(f.notes, GENERATE(Told::kFromStart, Told::kEachWrite));
  const Place cpu = Place::Cpu(*f.device), gpu(*f.device);
  Array<float> x(10, *f.device), y(10, *f.device);
  Set(gpu, 1.0F, y);
  const int first = __LINE__ + 1;
  Set(cpu, 1.0F, x);
  Axpy(cpu, 1.0F, y, x);
  Dot(gpu, x, x);
  REQUIRE(f.notes->copies.size() == 2);
  REQUIRE(f.notes->copies[1].written.has_value());
  CHECK(f.notes->copies[1].written->site.line() == first);
}

TEST_CASE("An Assign that adds bytes has written them all, whoever had written the old ones") {
  ObserverFixture f;
  const SyncedMemory few(16, *f.device), many(64, *f.device);
  few.cpu_data(), many.cpu_data();
  const Watch watch(f.notes);
  SyncedMemory memory(64, *f.device);
  memory.overwrite_cpu_data();
  memory.Assign(few, 16);
  memory.Assign(many, 64);
  const int last = __LINE__ - 1;
  memory.gpu_data();
  REQUIRE(f.notes->copies.size() == 1);
  REQUIRE(f.notes->copies[0].written.has_value());
  CHECK(f.notes->copies[0].written->site.line() == last);
}

TEST_CASE("So has who writes first in a part of it, whoever has written the rest") {
  ObserverFixture f;
  const Watch watch(f.notes);
  SyncedMemory memory(40, *f.device);
  memory.cpu_data();
  memory.mutable_cpu_data({0, 30});
  memory.mutable_cpu_data();
  const int last = __LINE__ - 1;
  memory.gpu_data({30, 10}, Stream::Main(*f.device));
  REQUIRE(f.notes->copies.size() == 1);
  REQUIRE(f.notes->copies[0].written.has_value());
  CHECK(f.notes->copies[0].written->site.line() == last);
}

}  // namespace
}  // namespace ferry::testing
