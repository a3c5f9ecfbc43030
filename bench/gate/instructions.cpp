// SPDX-License-Identifier: BSD-2-Clause
// How many instructions has an access that finds its bytes in place, and one that copies? Callgrind counts
// them, and puts each count down under "name calls".
#include <cstdio>

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ == 12
#include <valgrind/callgrind.h>

#include <string>
#include <vector>

#include "ferry/blob.hpp"
#include "ferry/forwarding_device.hpp"
#include "ferry/ledger.hpp"

namespace {

using ferry::Array;
using ferry::Blob;
using ferry::Place;
using ferry::SyncedMemory;

/// The host, as a device with memory of its own.
struct Apart : ferry::FullForwardingDevice {
  Apart() : FullForwardingDevice(ferry::MakeDevice("host")) { own.unified = false; }
  const ferry::DeviceProperties& properties() const noexcept override { return own; }
  ferry::DeviceProperties own = next().properties();
};

/// The loop counts too: 3 instructions a call.
template <class Access>
[[gnu::noinline]] void Repeat(int calls, const Access& access) {
  for (int i = 0; i < calls; ++i) {
    const auto result = access();
    asm volatile("" : : "r"(result) : "memory");
  }
}

template <class Access>
void Count(const char* name, const Access& access) {
  constexpr int kCalls = 1000;
  const std::string description = std::string(name) + ' ' + std::to_string(kCalls);
  access();  // which is the first: what follows is in place
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
  Repeat(kCalls, access);
  CALLGRIND_STOP_INSTRUMENTATION;
  CALLGRIND_DUMP_STATS_AT(description.c_str());
}

/// Of parts, and of what copies or allocates: on the slower ways. Nobody watches.
void CountSlow() {
  Apart device;
  const ferry::Stream main = ferry::Stream::Main(device);
  const ferry::ByteRange half{0, 32};
  SyncedMemory whole(64, device), mixed(64, device), copied(64, device);
  whole.mutable_cpu_data(), whole.gpu_data();
  Count("cpu_data_of_a_part", [&] { return whole.cpu_data(half); });
  mixed.mutable_cpu_data(), mixed.gpu_data(), mixed.mutable_cpu_data({32, 32});
  Count("gpu_data_of_a_part_of_several", [&] { return mixed.gpu_data(half, main); });
  Count("mutable_cpu_data_and_gpu_data", [&] {
    copied.mutable_cpu_data();
    return copied.gpu_data();
  });
  Count("mutable_gpu_data_and_cpu_data", [&] {
    copied.mutable_gpu_data();
    return copied.cpu_data();
  });
  Count("a_memory_a_host_write_and_its_end", [&] {
    SyncedMemory memory(64, device);
    memory.overwrite_cpu_data();
    return 0;
  });
  Blob<float> from({16}, device), to({16}, device);
  from.mutable_cpu_data(), to.mutable_cpu_data();
  Count("Blob::CopyFrom_of_64_bytes", [&] {
    to.CopyFrom(from);
    return 0;
  });
  Count("Stream::Synchronize", [&] {
    main.Synchronize();
    return 0;
  });
  const ferry::Event point(main);
  Count("Event::HostWait", [&] {
    point.HostWait();
    return 0;
  });
  Count("a_memory_in_both_spaces_and_its_end", [&] {
    SyncedMemory memory(64, device);
    memory.mutable_cpu_data(), memory.gpu_data();
    return 0;
  });
  copied.set_label("weights of conv1");
  const ferry::Ledger ledger;
  Count("mutable_cpu_data_and_gpu_data_in_a_ledger", [&] {
    copied.mutable_cpu_data();
    return copied.gpu_data();
  });
}

}  // namespace

int main() {
  CountSlow();
  ferry::Device& device =
      ferry::GetDevice("host");  // as valgrind has no room for the simulated GPU's addresses
  const ferry::Stream stream(device);
  SyncedMemory read(64, device), host(64, device), gpu(64, device);
  read.overwrite_cpu_data(), read.gpu_data(stream);
  Count("cpu_data", [&] { return read.cpu_data(); });
  Count("gpu_data", [&] { return read.gpu_data(stream); });
  Count("mutable_cpu_data", [&] { return host.mutable_cpu_data(); });
  Count("mutable_gpu_data", [&] { return gpu.mutable_gpu_data(stream); });
  Count("overwrite_cpu_data", [&] { return host.overwrite_cpu_data(); });

  Count("Resize_to_the_same_size_and_cpu_data", [&] {
    read.Resize(64);
    return read.cpu_data();
  });

  Blob<float> blob({2, 3, 4, 5}, device);
  const Blob<float>& seen = blob;
  Count("Blob::cpu_data", [&] { return seen.cpu_data(); });
  Count("Blob::mutable_cpu_data", [&] { return blob.mutable_cpu_data(); });
  Blob<float> there({2, 3, 4, 5}, device);
  there.gpu_data(stream);
  const Blob<float>& seen_there = there;
  Count("Blob::gpu_data", [&] { return seen_there.gpu_data(stream); });
  Count("Blob::mutable_gpu_data", [&] { return there.mutable_gpu_data(stream); });

  // What a place adds to the memory's own accesses: it says where.
  Array<float> x(120, device), y(120, device), z(120, device);
  const Place cpu = Place::Cpu(device), gpu_place(stream);
  cpu.Overwrite(x), gpu_place.Read(x);
  Count("Place::Read_on_the_cpu", [&] { return cpu.Read(x).data(); });
  Count("Place::Read_on_a_stream", [&] { return gpu_place.Read(x).data(); });
  Count("Place::ReadWrite_on_the_cpu", [&] { return cpu.ReadWrite(y).data(); });
  Count("Place::ReadWrite_on_a_stream", [&] { return gpu_place.ReadWrite(z).data(); });
  Count("Place::Overwrite_on_the_cpu", [&] { return cpu.Overwrite(y).data(); });
  Count("Place::Read_of_a_Blob", [&] { return cpu.Read(seen).data(); });
  Blob<float> copy({2, 3, 4, 5}, device);
  Count("Blob::CopyFrom", [&] {
    copy.CopyFrom(blob);
    return 0;
  });
  const std::vector<int> shape{2, 3, 4, 5};
  Count("Blob::Reshape_to_the_same_list", [&] {
    blob.Reshape({2, 3, 4, 5});
    return 0;
  });
  Count("Blob::Reshape_to_the_same_vector", [&] {
    blob.Reshape(shape);
    return 0;
  });
}

#else
int main() {
  std::puts("instructions are compared for g++ 12 alone; this is another compiler");
  return 4;
}
#endif
