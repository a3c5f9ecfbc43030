// SPDX-License-Identifier: BSD-2-Clause
// A tool of Kokkos', by the C interface of its tools: notes what it is told.
#include <cstdint>
#include <string>

namespace {

std::string& notes() {
  static auto* const instance = new std::string;
  return *instance;
}

struct Space {
  char name[64];
};

std::string Named(const Space& space, const char* label) { return std::string(space.name) + ':' + label; }

}  // namespace

extern "C" {

const char* kokkos_tool_notes() { return notes().c_str(); }
void kokkos_tool_forget() { notes().clear(); }

void kokkosp_begin_deep_copy(Space to, const char* to_label, const void* /*to*/, Space from,
                             const char* from_label, const void* /*from*/, std::uint64_t bytes) {
  notes() +=
      "copy " + Named(from, from_label) + " to " + Named(to, to_label) + ' ' + std::to_string(bytes) + '\n';
}
void kokkosp_end_deep_copy() { notes() += "end of copy\n"; }
void kokkosp_allocate_data(Space space, const char* label, const void* first, std::uint64_t bytes) {
  notes() += "allocate " + Named(space, label) + ' ' + std::to_string(bytes) +
             (first == nullptr ? " at null\n" : "\n");
}
void kokkosp_deallocate_data(Space space, const char* label, const void* first, std::uint64_t bytes) {
  notes() +=
      "free " + Named(space, label) + ' ' + std::to_string(bytes) + (first == nullptr ? " at null\n" : "\n");
}
void kokkosp_push_profile_region(const char* name) { notes() += std::string("push ") + name + '\n'; }
void kokkosp_pop_profile_region() { notes() += "pop\n"; }
void kokkosp_profile_event(const char* name) { notes() += std::string("event ") + name + '\n'; }
}
