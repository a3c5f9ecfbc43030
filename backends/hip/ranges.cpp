// SPDX-License-Identifier: BSD-2-Clause
#include "backends/hip/ranges.hpp"

#ifdef FERRY_ROCTX
#include <dlfcn.h>
#include <roctracer/roctx.h>

namespace ferry::hip {
namespace {

/// Linked to it, no program would start where there is no roctracer.
struct Roctx {
  void* library = dlopen("libroctx64.so.4", RTLD_NOW);
  decltype(&roctxRangeStartA) begin = Function<decltype(begin)>("roctxRangeStartA");
  decltype(&roctxRangeStop) end = Function<decltype(end)>("roctxRangeStop");
  decltype(&roctxMarkA) mark = Function<decltype(mark)>("roctxMarkA");

 private:
  template <class Pointer>
  Pointer Function(const char* name) const noexcept {
    return library == nullptr ? nullptr : reinterpret_cast<Pointer>(dlsym(library, name));
  }
};

const Roctx& roctx() noexcept {
  static const Roctx functions;
  return functions;
}

}  // namespace

const ProfilerRanges* Ranges() noexcept {
  static constexpr ProfilerRanges kRanges = {
      .begin = [](const char* text) noexcept -> std::uint64_t { return roctx().begin(text); },
      .end = [](std::uint64_t range) noexcept { roctx().end(range); },
      .mark = [](const char* text) noexcept { roctx().mark(text); },
  };
  const Roctx& its = roctx();
  return its.begin != nullptr && its.end != nullptr && its.mark != nullptr ? &kRanges : nullptr;
}

}  // namespace ferry::hip
#else
const ferry::ProfilerRanges* ferry::hip::Ranges() noexcept { return nullptr; }
#endif
