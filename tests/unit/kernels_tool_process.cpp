// SPDX-License-Identifier: BSD-2-Clause
// What a tool of Kokkos' is told. One process for each answer to: when is Kokkos initialised?
//   kernels_tool_process <answer>, with the tool in KOKKOS_TOOLS_LIBS and KOKKOS_PROFILE_LIBRARY
#include <dlfcn.h>

#include <Kokkos_Core.hpp>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "ferry/ferry.hpp"
#include "ferry/kokkos.hpp"

namespace {

void Require(bool condition, const char* what, const std::string& notes) {
  if (condition) return;
  std::fprintf(stderr, "not so: %s\n%s", what, notes.c_str());
  std::_Exit(1);
}

/// What the tool has been told since the last time; nothing where Kokkos has not loaded it.
std::string Told() {
  void* const tool = dlopen(std::getenv("KOKKOS_TOOLS_LIBS"), RTLD_NOW | RTLD_NOLOAD);
  if (tool == nullptr) return {};
  std::string told = reinterpret_cast<const char* (*)()>(dlsym(tool, "kokkos_tool_notes"))();
  reinterpret_cast<void (*)()>(dlsym(tool, "kokkos_tool_forget"))();
  dlclose(tool);
  return told;
}

ferry::Device& Sim() {
  static ferry::Device& device = ferry::GetDevice("sim");
  return device;
}

/// Before the first record, in all answers.
void Program() {
  std::optional<ferry::Array<float>> early(std::in_place, 16, Sim(), "early");
  ferry::Place(Sim()).ReadWrite(*early);
  Kokkos::initialize();
  Told();
  early.reset();
  Require(Told().find("free") == std::string::npos, "no block ends that has not begun", "");
  {
    ferry::Array<float> x(16, Sim(), "x");
    ferry::Place(Sim()).ReadWrite(x);
    Scale(ferry::Place::Cpu(Sim()), 2.0F, x);
    const std::string line = std::to_string(__LINE__ - 1);
    const std::string notes = Told();
    Require(notes.find("allocate Host:x on sim:0 64\n") != std::string::npos, "blocks of devices are told",
            notes);
    Require(notes.find("allocate Host:x 64\n") != std::string::npos, "blocks of the host are told", notes);
    Require(notes.find("copy Host:x on sim:0 to Host:x 64\nend of copy\n") != std::string::npos,
            "copies begin and end", notes);
    Require(notes.find("event read-write \"x\" on the host by Program") != std::string::npos,
            "accesses are events", notes);
    Require(notes.find("event waited ") != std::string::npos, "waits are events", notes);
    const std::size_t push = notes.find("(kernels_tool_process.cpp:" + line + ")\npop\n");
    Require(push != std::string::npos && notes.rfind("push ", push) != std::string::npos,
            "calls are regions with their lines", notes);
  }
  const std::string end = Told();
  Require(end.find("free Host:x on sim:0 64\n") != std::string::npos, "blocks end", end);
  Kokkos::finalize();
  ferry::Array<float> late(16, Sim(), "late");
  ferry::Place(Sim()).ReadWrite(late);
  Require(Told().find("late") == std::string::npos, "nothing is told after the end", "");
}

/// Kokkos is initialised within a call, and the end that has no begin is not told.
void Within() {
  ferry::Array<float> x(16, Sim(), "x");
  {
    const ferry::detail::Request request = ferry::Overwrite(x).request();
    void* ptr = nullptr;
    const ferry::detail::KernelCall call(ferry::Place::Cpu(Sim()), {&request, 1}, {&ptr, 1});
    Kokkos::initialize();
    Told();
  }
  Require(Told().empty(), "an end without its begin is not told", "");
  Kokkos::finalize();
}

/// The first record of all is a call without operands.
void First() {
  Kokkos::initialize();
  Told();
  { const ferry::detail::KernelCall call(ferry::Place::Cpu(Sim()), {}, {}); }
  const std::string notes = Told();
  Require(notes.starts_with("push ") && notes.ends_with("\npop\n"), "a call is a region", notes);
  Kokkos::finalize();
}

void Nobody() {
  ferry::Array<float> x(16, Sim(), "x");
  ferry::Place(Sim()).ReadWrite(x);
  ferry::Place::Cpu(Sim()).Read(x);
  Require(Told().empty(), "a tool that Kokkos has not loaded is told nothing", "");
}

void Threads() {
  Kokkos::initialize();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      for (int j = 0; j < 100; ++j) {
        ferry::Array<float> x(16, Sim(), "x");
        ferry::Place(Sim()).ReadWrite(x);
        ferry::Place::Cpu(Sim()).Read(x);
      }
    });
  for (std::thread& thread : threads) thread.join();
  const std::string notes = Told();
  std::size_t begins = 0, ends = 0;
  for (std::size_t at = 0; (at = notes.find("\ncopy ", at)) != std::string::npos; ++at) ++begins;
  for (std::size_t at = 0; (at = notes.find("\nend of copy", at)) != std::string::npos; ++at) ++ends;
  Require(begins == 400 && ends == 400, "each copy is told once", notes);
  Kokkos::finalize();
}

}  // namespace

int main(int, char** argv) {
  const std::string_view answer = argv[1];
  if (answer == "program") Program();
  if (answer == "within") Within();
  if (answer == "first") First();
  if (answer == "nobody") Nobody();
  if (answer == "threads") Threads();
  std::printf("%s: fine\n", argv[1]);
}
