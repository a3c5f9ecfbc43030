// SPDX-License-Identifier: BSD-2-Clause
#include "tests/property/host_memory.hpp"

#include <cstdlib>
#include <new>

namespace ferry::testing {

long allocations = 0, fails_at = 0;

}  // namespace ferry::testing

void* operator new(std::size_t bytes) {
  using namespace ferry::testing;
  if (InFerry::now() && ++allocations == fails_at) throw std::bad_alloc();
  if (void* const ptr = std::malloc(bytes)) return ptr;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  using namespace ferry::testing;
  return InFerry::now() && ++allocations == fails_at ? nullptr : std::malloc(bytes);
}
void operator delete(void* ptr) noexcept { std::free(ptr); }
void operator delete(void* ptr, std::size_t) noexcept { std::free(ptr); }
