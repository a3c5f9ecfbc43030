// SPDX-License-Identifier: BSD-2-Clause
// What the tests of this folder run: each scenario needs a process of its own.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <fstream>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "ferry/backend.hpp"
#include "ferry/error.hpp"
#include "ferry/log.hpp"
#include "ferry/pointer_guard.hpp"
#include "ferry/sim.hpp"
#include "ferry/synced_memory.hpp"

namespace {

using namespace ferry;

constexpr std::size_t kBytes = 1 << 16;

/// Made before main, so destroyed after all that the library makes on first use.
struct Globals {
  bool says_goodbye = false;
  std::optional<SyncedMemory> memory;
  std::optional<Stream> stream;

  ~Globals() {
    if (!says_goodbye) return;
    memory.reset();
    stream.reset();
    Log(LogLevel::kError, "goodbye");
  }
} globals;

/// Leaves work in flight on both sides of the memory.
void QueueWork(SyncedMemory& memory, const Stream& stream) {
  std::memset(memory.overwrite_cpu_data(), 1, kBytes);
  void* const ptr = memory.mutable_gpu_data(stream);
  memory.device().Fill(ptr, std::byte{2}, kBytes, stream.handle());
  memory.Prefetch(Side::kCpu, stream);
}

int GlobalMemory() {
  globals.says_goodbye = true;
  globals.memory.emplace(kBytes);
  globals.stream.emplace(DefaultDevice());
  QueueWork(*globals.memory, *globals.stream);
  return 0;
}

/// The globals end after the device of main's own.
int OutlivesDevice() {
  globals.says_goodbye = true;
  const auto device = MakeDevice(DefaultDevice().properties().backend);
  globals.memory.emplace(kBytes, *device, "weights");
  globals.stream.emplace(*device);
  QueueWork(*globals.memory, *globals.stream);
  return 0;
}

int Unwinding() {
  try {
    const Stream stream(DefaultDevice());
    SyncedMemory outer(kBytes), inner(kBytes);
    QueueWork(outer, stream);
    QueueWork(inner, Stream::Main(DefaultDevice()));
    throw std::runtime_error("in flight");
  } catch (const std::exception& error) {
    std::cout << error.what() << '\n';
  }
  SyncedMemory after(kBytes);
  QueueWork(after, Stream::Main(DefaultDevice()));
  std::cout << static_cast<int>(*static_cast<const char*>(after.cpu_data())) << '\n';
  return 0;
}

int PrintDevice() {
  try {
    const DeviceProperties& device = DefaultDevice().properties();
    std::cout << device.backend << ':' << device.index << '\n';
    return 0;
  } catch (const NoDevice& error) {
    std::cout << error.what() << '\n';
    return 3;
  }
}

int DeviceAtSecondTry() {
  if (PrintDevice() != 3) return 1;
  setenv("FERRY_DEVICE", "host", 1);
  if (PrintDevice() != 0) return 1;
  setenv("FERRY_DEVICE", "nonsense", 1);  // the device is there to stay
  return PrintDevice();
}

int LogAtEachLevel() {
  Log(LogLevel::kTrace, "a trace");
  Log(LogLevel::kDebug, "a debug");
  Log(LogLevel::kInfo, "an info");
  Log(LogLevel::kWarning, "a warning");
  Log(LogLevel::kError, "an error");
  return 0;
}

/// The operating system refuses more, as where a machine is full.
int HostOutOfMemory() {
  Device& device = DefaultDevice();
  std::size_t pages = 0;  // that are mapped by now
  std::ifstream("/proc/self/statm") >> pages;
  const rlimit limit{pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + (std::size_t{1} << 30),
                     RLIM_INFINITY};
  if (setrlimit(RLIMIT_AS, &limit) != 0) return 1;
  SyncedMemory large(std::size_t{1} << 31, device);
  try {
    large.overwrite_cpu_data();
    return 1;
  } catch (const std::bad_alloc& error) {
    std::cout << error.what() << '\n';
  }
  if (large.head() != Head::UNINITIALIZED) return 1;
  SyncedMemory small(kBytes, device);
  std::memset(small.overwrite_cpu_data(), 1, kBytes);
  const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
  if (setrlimit(RLIMIT_AS, &none) != 0) return 1;
  return large.overwrite_cpu_data() == nullptr;
}

/// Something for a trace and a ledger. Returns the number of bytes.
std::size_t CopyThere(SyncedMemory& memory) {
  std::memset(memory.mutable_cpu_data(), 1, kBytes);
  static_cast<void>(memory.gpu_data());
  return kBytes;
}

/// The child makes more copies than its parent, and ends first.
int Fork() {
  SyncedMemory memory(kBytes, GetDevice("sim"), "parents");
  CopyThere(memory);
  const pid_t child = fork();
  if (child == 0) {
    memory.set_label("childs");
    for (int i = 0; i < 1000; ++i) CopyThere(memory);
    std::exit(0);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) return 1;
  CopyThere(memory);
  return 0;
}

/// Has another program run, in the middle of its own work.
int RunsItself(const std::string& program) {
  SyncedMemory memory(kBytes, GetDevice("sim"), "parents");
  CopyThere(memory);
  const int status = std::system((program + " moves").c_str());  // NOLINT(cert-env33-c): is what is tested
  CopyThere(memory);
  return status;
}

/// Ends in another folder than it began in.
int Moves() {
  SyncedMemory memory(kBytes, GetDevice("sim"), "x");
  CopyThere(memory);
  return chdir("/");
}

/// Two memories are there to the end, of which it has read one where it was copied to.
int Prefetches() {
  static const auto* const read = new SyncedMemory(kBytes, GetDevice("sim"), "read");
  static const auto* const unread = new SyncedMemory(kBytes, GetDevice("sim"), "unread");
  for (const SyncedMemory* const memory : {read, unread}) {
    memory->cpu_data();
    memory->Prefetch(Side::kGpu, Stream::Main(memory->device()));
  }
  read->gpu_data();
  return 0;
}

/// One memory is never destroyed, and one that was is there for longer than main.
int Leaks() {
  static SyncedMemory global(kBytes, GetDevice("sim"), "global");
  static const auto* const leaked = new SyncedMemory(kBytes, GetDevice("sim"), "leaked");
  for (const SyncedMemory* const memory : {&std::as_const(global), leaked}) memory->gpu_data();
  return 0;
}

/// Logs while bytes are on a device.
int Speaks() {
  SyncedMemory memory(kBytes, DefaultDevice(), "x");
  CopyThere(memory);
  for (int i = 0; i < 50'000; ++i) Log(LogLevel::kError, "said where nobody hears it");
  static_cast<void>(memory.mutable_gpu_data());
  const auto* const bytes = static_cast<const char*>(memory.cpu_data());
  return std::all_of(bytes, bytes + kBytes, [](char byte) { return byte == 1; }) ? 0 : 1;
}

/// Wants pointers guarded once no large file can be made any more.
int LimitsFiles() {
  SyncedMemory memory(kBytes, GetDevice("sim"), "x");
  const rlimit limit{1 << 20, 1 << 20};
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
  SetPointerGuard(PointerGuard::kOn);
  CopyThere(memory);
  return 0;
}

/// Locks all memory that is mapped from now on, as programs do that may not wait for it.
int LocksMemory() {
  if (mlockall(MCL_FUTURE) != 0) return 1;
  SyncedMemory memory(kBytes, GetDevice("sim"), "x");
  CopyThere(memory);
  return 0;
}

/// A device cannot be made, and the log's sink asks for another one at the end.
int FailsToMake() {
  sim::Reset({.fail_at = 1, .fail_call = "Describe"});
  try {
    GetDevice("sim");
    return 1;
  } catch (const Error&) {
  }
  SetLogSink([](LogLevel, std::string_view line) {
    GetDevice("host");
    std::cout << line << std::endl;
  });
  static const auto* const leaked = new SyncedMemory(kBytes, GetDevice("host"), "leaked");
  leaked->cpu_data();
  return 0;
}

/// By a stream of wide characters, which takes no others.
int PrintsWide() {
  std::wprintf(L"before\n");
  return Moves();
}

/// Its file is said to be /dev/full.
int EndAtWarning() {
  SetLogSink([](LogLevel, std::string_view line) {
    std::cout << line << std::endl;
    std::exit(7);
  });
  SyncedMemory memory(kBytes, GetDevice("sim"), "x");
  for (int i = 0; i < 1000; ++i) CopyThere(memory);
  return 0;
}

/// As a daemon does, and has files of its own then. Whether they are as it wrote them.
int ClosesFiles() {
  std::optional<SyncedMemory> memory(std::in_place, kBytes, GetDevice("sim"), "x");
  CopyThere(*memory);
  for (int file = STDERR_FILENO + 1; file < 64; ++file) close(file);
  const std::string own(1 << 20, 'a');
  std::array<int, 8> files{};
  for (int& file : files) {
    file = memfd_create("own", 0);
    if (pwrite(file, own.data(), own.size(), 0) != static_cast<ssize_t>(own.size())) return 2;
  }
  for (int i = 0; i < 1000; ++i) CopyThere(*memory);
  memory.reset();
  sim::Reset();
  return std::all_of(files.begin(), files.end(),
                     [&](int file) {
                       std::string now(own.size() + 1, 'b');
                       now.resize(static_cast<std::size_t>(pread(file, now.data(), now.size(), 0)));
                       return now == own;
                     })
             ? 0
             : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string scenario = argc == 2 ? argv[1] : "";
  if (scenario == "global-memory") return GlobalMemory();
  if (scenario == "outlives-device") return OutlivesDevice();
  if (scenario == "unwinding") return Unwinding();
  if (scenario == "device") return PrintDevice();
  if (scenario == "second-try") return DeviceAtSecondTry();
  if (scenario == "log") return LogAtEachLevel();
  if (scenario == "fork") return Fork();
  if (scenario == "moves") return Moves();
  if (scenario == "prefetches") return Prefetches();
  if (scenario == "leaks") return Leaks();
  if (scenario == "speaks") return Speaks();
  if (scenario == "limits-files") return LimitsFiles();
  if (scenario == "locks-memory") return LocksMemory();
  if (scenario == "fails-to-make") return FailsToMake();
  if (scenario == "prints-wide") return PrintsWide();
  if (scenario == "runs-itself") return RunsItself(argv[0]);
  if (scenario == "closes-files") return ClosesFiles();
  if (scenario == "end-at-warning") return EndAtWarning();
  if (scenario == "out-of-memory") return HostOutOfMemory();
  std::cerr << "no such scenario\n";
  return 2;
}
