// SPDX-License-Identifier: BSD-2-Clause
// Which lines a ledger that verifies tells to read alone, where others use the same bytes before they are
// copied.
#include <catch2/catch_test_macros.hpp>

#include "ledger_fixture.hpp"

namespace ferry::testing {
namespace {

TEST_CASE(
    "A line that wrote in place is not blamed for one that asked, nor is that one, if the bytes are the "
    "same") {
  VerifyFixture f;
  Blob<float> ones({100}, *f.device);
  const Place gpu(*f.device);
  Set(gpu, 1.0F, ones), Set(Place::Cpu(*f.device), 1.0F, f.blob);
  f.blob.gpu_data();
  AskThere(f.blob), Scale(gpu, 5.0F, f.blob), Copy(gpu, ones, f.blob), Look(f.blob);
  CHECK(f.unwritten() == 0);
  GrowThere(f.blob), Scale(gpu, 0.5F, f.blob), Look(f.blob);
  CHECK(f.unwritten() == 0);
  AskThere(f.blob), Look(f.blob);
  f.blob.overwrite_gpu_data(), Look(f.blob);
  CHECK(f.unwritten() == 1);
}

TEST_CASE("A line is not told to read alone where another one then asks for the bytes in place") {
  VerifyFixture f;
  SyncedMemory& memory = *f.blob.data();
  const auto ask_again = [&] { memory.mutable_cpu_data(); };
  Step(f.blob), Norm(f.blob), ask_again(), Step(f.blob);
  CHECK(f.unwritten() == 0);
  for (int i = 0; i < 2; ++i) Norm(f.blob);
  ask_again(), Norm(f.blob), Step(f.blob);
  CHECK(f.unwritten() == 0);
  memory.mutable_cpu_data({0, 200}), memory.overwrite_cpu_data({200, 200}), Step(f.blob);
  CHECK(f.unwritten() == 0);
  for (int i = 0; i < 2; ++i) Norm(f.blob);
  Step(f.blob);
  CHECK(f.unwritten() == 1);
  AskThere(f.blob), memory.mutable_gpu_data(), Look(f.blob);
  CHECK(f.unwritten() == 1);
  for (int i = 0; i < 2; ++i) AskThere(f.blob);
  Look(f.blob);
  CHECK(f.unwritten() == 2);
}

TEST_CASE("A line is not told to read alone where an Assign has followed the bytes that it asked for") {
  VerifyFixture f;
  SyncedMemory other(400, *f.device);
  const Stream main = Stream::Main(*f.device);
  const auto assign = [&](const Stream* on) { other.Assign({0, 400}, *f.blob.data(), 0, on); };
  Step(f.blob), Norm(f.blob), assign(nullptr), Step(f.blob);  // by the host, and without Norm on the device
  CHECK(f.unwritten() == 0);
  Norm(f.blob), Step(f.blob), assign(nullptr);
  CHECK(f.unwritten() == 1);
  Norm(f.blob), assign(&main);  // copies it for the Assign, which names its place
  CHECK(f.unwritten() == 2);
  AskThere(f.blob), assign(nullptr), Look(f.blob);  // by the device, in any case
  CHECK(f.unwritten() == 3);
}

TEST_CASE("Lines that write other bytes in place take no advice back") {
  VerifyFixture f;
  SyncedMemory& memory = *f.blob.data();
  const Stream main = Stream::Main(*f.device);
  memory.gpu_data({0, 200}, main), memory.gpu_data({200, 200}, main);
  memory.mutable_cpu_data({200, 200}), memory.mutable_cpu_data({0, 200});
  memory.mutable_cpu_data({200, 200});  // in place
  memory.gpu_data({0, 200}, main);
  CHECK(f.unwritten() == 1);
}

}  // namespace
}  // namespace ferry::testing
