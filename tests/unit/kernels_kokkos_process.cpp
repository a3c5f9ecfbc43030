// SPDX-License-Identifier: BSD-2-Clause
// Who initialises Kokkos? One process for each answer: Kokkos is initialised at most once in a process.
//   kernels_kokkos_process <answer> [<device>]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "ferry/array.hpp"
#include "ferry/backend.hpp"
#include "ferry/error.hpp"
#include "ferry/kernels.hpp"
#include "ferry/kokkos.hpp"

namespace {

constexpr int kSkipped = 4;

void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::_Exit(1);
}

/// A Kokkos that was built for a GPU can be initialised only where there is one.
bool KokkosWorks() {
  using ferry::detail::DeviceSpace;
  const auto backends = ferry::Backends();
  return !ferry::detail::kHasDeviceSpace ||
         std::any_of(backends.begin(), backends.end(), [](const ferry::Backend& backend) {
           return backend.name == ferry::detail::BackendOf<DeviceSpace>() && backend.count() > 0;
         });
}

std::string name = "host";

/// Whether the first kernel on the device initialises Kokkos.
bool KernelsUseKokkos() {
  using namespace ferry::detail;
  return KokkosWorks() && (kHostLoopsByKokkos || OnDeviceSpace(ferry::MakeDevice(name)->properties()));
}

ferry::Device& TheDevice() {
  static ferry::Device* const device = ferry::MakeDevice(name).release();
  return *device;
}
ferry::Place ThePlace() { return ferry::Place(TheDevice()); }

void RequireKernelsRight() {
  const ferry::Place place = ThePlace();
  ferry::Array<double> x(1000, TheDevice());
  ferry::Set(place, 2, x);
  Require(ferry::Asum(place, x) == 2000, "kernels are right");
}

struct NoteThatItRan {
  bool* ran;
  template <class Space, class... Arguments>
  void operator()(const Space&, const Arguments&...) const {
    *ran = true;
  }
};

/// Kernels of the host do without Kokkos; those of a GPU, and launches, need it.
void RequireEnd(ferry::Array<double>& x) {
  Require(!Kokkos::is_initialized(), "Kokkos is over");
  const ferry::Place cpu = ferry::Place::Cpu(TheDevice());
  ferry::Set(cpu, 2, x);
  Require(ferry::Asum(cpu, x) == 2000, "kernels of the host are right");
  bool ran = false, launched = true;
  try {
    ferry::Launch(ThePlace(), Overwrite(x), NoteThatItRan{&ran});
  } catch (const std::logic_error&) {
    launched = false;
  }
  Require(!launched && !ran, "a launch throws after the end");
  Require(ferry::Asum(cpu, x) == 2000, "and leaves its operands alone");
  if (!ferry::detail::OnDeviceSpace(TheDevice().properties())) return;
  bool refused = false;
  try {
    ferry::Set(ThePlace(), 3, x);
  } catch (const std::logic_error&) {
    refused = true;
  }
  Require(refused, "a kernel of a GPU throws after the end");
  Require(ferry::Asum(cpu, x) == 2000, "and leaves its operands alone");
}

/// Its kernels run after main, and after what main's end has finalised: by then a vendor's runtime may be
/// gone, too, and give no memory.
struct Global {
  std::optional<ferry::Array<double>> x;
  void Use() { ferry::Set(ferry::Place::Cpu(TheDevice()), 1, x.emplace(1000, TheDevice())); }
  ~Global() {
    if (!x) return;
    RequireEnd(*x);
    std::puts("after the end");
  }
} global;

void Nobody() { Require(!Kokkos::is_initialized(), "Kokkos is left alone where no kernel runs"); }

void Library() {
  global.Use();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back(RequireKernelsRight);
  for (std::thread& thread : threads) thread.join();
  Require(Kokkos::is_initialized() == KernelsUseKokkos(),
          "the first kernel initialises Kokkos if it needs it");
}

void Launch() {
  bool ran = false, refused = false;
  try {
    ferry::Launch(ThePlace(), NoteThatItRan{&ran});
  } catch (const ferry::NoDevice& error) {
    refused = std::string_view(error.what()).find("GPU") != std::string_view::npos;
  }
  Require(ran == KokkosWorks(), "a launch runs where Kokkos can be initialised");
  Require(ran != refused, "elsewhere it throws, and says what is missing");
}

void Program() {
  global.Use();
  Kokkos::initialize();
  RequireKernelsRight();
  Kokkos::finalize();
  ferry::Array<double> x(1000, TheDevice());
  RequireEnd(x);
}

/// The program's own finalise is the last thing that it does.
void ProgramAtExit() {
  Kokkos::initialize();
  RequireKernelsRight();
  std::atexit([] {
    Require(Kokkos::is_initialized(), "Kokkos is not finalised for a program that owns it");
    Kokkos::finalize();
  });
}

/// The library initialised it, the program finalises it.
void Shared() {
  RequireKernelsRight();
  bool ran = false;
  ferry::Launch(ThePlace(), NoteThatItRan{&ran});
  Kokkos::finalize();
  ferry::Array<double> x(1000, TheDevice());
  RequireEnd(x);
}

}  // namespace

int main(int argc, char** argv) try {
  const struct {
    std::string_view name;
    void (*run)();
    bool needs_kokkos;
  } answers[] = {{"nobody", Nobody, false},
                 {"library", Library, false},
                 {"launch", Launch, false},
                 {"program", Program, true},
                 {"program-at-exit", ProgramAtExit, true},
                 {"shared", Shared, true}};
  if (argc > 2) name = argv[2];
  for (const auto& answer : answers)
    if (argc > 1 && answer.name == argv[1]) {
      if (answer.needs_kokkos && !KokkosWorks()) return std::puts("Kokkos needs a GPU"), kSkipped;
      TheDevice();
      return answer.run(), 0;
    }
  return 2;
} catch (const ferry::NoDevice& error) {
  std::puts(error.what());
  return kSkipped;
}
