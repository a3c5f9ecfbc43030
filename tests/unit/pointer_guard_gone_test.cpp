// SPDX-License-Identifier: BSD-2-Clause
// What is said of a pointer to host bytes that a memory does not have any more.
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "pointer_guard_fixture.hpp"

namespace ferry::testing {
namespace {

#ifdef __x86_64__
/// Of a read of the first byte.
std::string Reported(const std::string& why) {
  return "[ferry] [error] FERRY_GUARD: host code read byte 0 of \"w\", which has 8192: " + why + '\n';
}

/// As called by Step.
Site Here() { return Site::Caller("a.cpp", 34, "Step"); }

TEST_CASE("bytes that were released name the line that did so, and which access is right") {
  CHECK(Report([](Guarded& g) {
          const void* const old = g.memory.cpu_data();
          g.memory.gpu_data();
          g.memory.Release(Side::kCpu, Here());
          Touch(old);
        }) == Reported("Step (a.cpp:34) has released its host bytes. Call cpu_data again after that."));
}

TEST_CASE("bytes of a memory that was given others name the line that gave those") {
  const std::string errors = Report([](Guarded& g) {
    void* const old = g.memory.mutable_cpu_data();
    std::vector<unsigned char> given(kTwoPages);
    g.memory.set_cpu_data(given.data(), {}, Here());
    Write(old);
  });
  CHECK(errors.ends_with(
      "wrote byte 0 of \"w\", which has 8192: Step (a.cpp:34) has given the memory other bytes. Call "
      "mutable_cpu_data again after that.\n"));
}

/// What is said of a pointer to a blob's data that was asked for before this was done with the blob.
template <class Deed>
std::string AfterDeed(Deed deed) {
  return Report([&](Guarded& g) {
    Blob<float> blob({static_cast<std::int64_t>(kTwoPages / sizeof(float))}, g.device);
    blob.set_name("w");
    const void* const old = blob.cpu_data();
    deed(blob);
    Touch(old);
  });
}

TEST_CASE("a blob whose memory was replaced names the line that did so") {
  const std::string replaced =
      Reported("Step (a.cpp:34) has given its blob other bytes. Call cpu_data again after that.");
  CHECK(AfterDeed([](Blob<float>& blob) { blob.Reshape({5000}, Here()); }) == replaced);
  CHECK(AfterDeed([](Blob<float>& blob) { blob.ReshapeLike(Blob<float>({5000}, blob.device()), Here()); }) ==
        replaced);
  CHECK(AfterDeed([](Blob<float>& blob) {
          blob.Reshape({10});
          blob.ShrinkToFit(Here());
        }) == replaced);
  CHECK(AfterDeed([](Blob<float>& blob) {
          blob.CopyFrom(Blob<float>({5000}, blob.device()), false, true, Here());
        }) == replaced);
}

TEST_CASE("a memory that ends says so, and names no line of what had become of its blob before") {
  const std::string ended = Reported("the memory has ended, and its pointers with it.");
  CHECK(Report([](Guarded& g) {
          const void* const old = SyncedMemory(kTwoPages, g.device, "w").cpu_data();
          Touch(old);
        }) == ended);
  CHECK(AfterDeed([](Blob<float>& blob) { const Blob<float> gone(std::move(blob)); }) == ended);
  CHECK(AfterDeed([](Blob<float>& blob) {
          Blob<float> other(blob.shape(), blob.device());
          other.ShareData(blob);
          blob.Reshape({5000});
        }) == ended);
}

TEST_CASE("what is shared stays within reach when one blob gets other bytes") {
  CheckPasses([](Guarded& g) {
    Blob<float> blob({2048}, g.device);
    const Blob<float> part = blob.Slice(0, 2048);
    const void* const old = blob.cpu_data();
    blob.Reshape({5000});
    Touch(old);
  });
}
#endif

}  // namespace
}  // namespace ferry::testing
