// SPDX-License-Identifier: BSD-2-Clause
// Who initialises Kokkos? One process for each answer: Kokkos is initialised at most once in a process.
#include <Kokkos_Core.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "ferry/backend.hpp"
#include "ferry/kernels.hpp"
#include "tests/unit/kokkos_lacks_gpu.hpp"

namespace {

void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::_Exit(1);
}

void RequireKernelsRight() {
  const ferry::Place cpu = ferry::Place::Cpu(ferry::DefaultDevice());
  std::vector<double> x(1000);
  ferry::Set(cpu, 1000, 2.0, x.data());
  Require(ferry::Asum(cpu, 1000, x.data()) == 2000, "kernels are right");
}

/// Its kernels run after main, and after what main's end has finalised.
struct Global {
  bool used = false;
  ~Global() {
    if (!used) return;
    Require(!Kokkos::is_initialized(), "Kokkos is finalised at exit");
    RequireKernelsRight();
    std::puts("after the end");
  }
} global;

void Nobody() { Require(!Kokkos::is_initialized(), "Kokkos is left alone where no kernel runs"); }

void Library() {
  global.used = true;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back(RequireKernelsRight);
  for (std::thread& thread : threads) thread.join();
  Require(Kokkos::is_initialized(), "the first kernel initialises Kokkos");
}

void Program() {
  global.used = true;
  Kokkos::initialize();
  RequireKernelsRight();
  Kokkos::finalize();
  RequireKernelsRight();
  Require(!Kokkos::is_initialized(), "Kokkos is not initialised again");
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
  Kokkos::finalize();
  RequireKernelsRight();
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int kSkipped = 4;
  if (ferry::testing::KokkosLacksGpu()) return kSkipped;
  const struct {
    const char* name;
    void (*run)();
  } answers[] = {{"nobody", Nobody},
                 {"library", Library},
                 {"program", Program},
                 {"program-at-exit", ProgramAtExit},
                 {"shared", Shared}};
  for (const auto& answer : answers)
    if (argc == 2 && std::strcmp(argv[1], answer.name) == 0) return answer.run(), 0;
  return 2;
}
