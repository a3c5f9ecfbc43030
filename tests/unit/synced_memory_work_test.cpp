// SPDX-License-Identifier: BSD-2-Clause
// What a call need not do: nothing that it spares would change a byte.
#include <catch2/catch_test_macros.hpp>
#include <cstring>

#include "ferry/detail/in_place.hpp"
#include "ferry/observer.hpp"
#include "ferry/synced_memory.hpp"
#include "synced_memory_device.hpp"

namespace ferry::testing {
namespace {

/// Counts the accesses that do not find their bytes in place.
class SlowAccesses {
 public:
  int count() const { return count_; }

 private:
  int count_ = 0;
  Watch watch_{[this](const AccessRecord&) { ++count_; }};
};

TEST_CASE("Assign of all bytes does not fetch those that it replaces") {
  for (const Head from : {Head::HEAD_AT_CPU, Head::HEAD_AT_GPU}) {
    LogDevice device;
    const Stream stream(device);
    SyncedMemory source(4, device), target(4, device);
    from == Head::HEAD_AT_CPU ? std::memset(source.overwrite_cpu_data(), 7, 4) : source.overwrite_gpu_data();
    from == Head::HEAD_AT_CPU ? target.overwrite_gpu_data() : target.overwrite_cpu_data();
    device.Take();
    target.Assign(source, 4);
    for (const std::string& call : device.Take()) {
      CAPTURE(call);
      CHECK(call.find("to host") == std::string::npos);
      CHECK(call.find("to device") == std::string::npos);
    }
  }
}

TEST_CASE("Resize to the same size leaves all that is in place there") {
  LogDevice device;
  const Stream stream(device);
  SyncedMemory read(4, device), written(4, device);
  read.overwrite_cpu_data(), read.gpu_data(stream);
  written.overwrite_gpu_data(stream);
  const SlowAccesses slow;
  read.Resize(4), written.Resize(4);
  read.cpu_data(), read.gpu_data(stream), written.mutable_gpu_data(stream);
  CHECK(slow.count() == 0);
}

/// Whether a reader finds the bytes by a look at the memory's words.
bool InWords(const SyncedMemory& memory, const Stream& on) {
  bool there = true;
  detail::InPlace(memory).OnGpu<Access::kRead>(on, [&]() -> void* { return there = false, nullptr; });
  return there;
}

TEST_CASE("the two streams that read last are in place by the memory's words") {
  LogDevice device;
  const Stream a(device), b(device), c(device);
  SyncedMemory memory(4, device);
  memory.overwrite_cpu_data();
  memory.gpu_data(a), memory.gpu_data(b);
  CHECK((InWords(memory, a) && InWords(memory, b)));
  memory.gpu_data(c);
  CHECK((!InWords(memory, a) && InWords(memory, b) && InWords(memory, c)));
  device.Take();
  memory.gpu_data(a);
  CHECK(device.Take().empty());
  CHECK((InWords(memory, a) && !InWords(memory, b) && InWords(memory, c)));
}

TEST_CASE("an access of no bytes takes nobody out of the memory's words") {
  LogDevice device;
  const Stream a(device), b(device);
  SyncedMemory memory(4, device);
  memory.overwrite_cpu_data();
  memory.gpu_data(a);
  memory.overwrite_gpu_data({2, 0}, b);
  CHECK(InWords(memory, a));
}

}  // namespace
}  // namespace ferry::testing
