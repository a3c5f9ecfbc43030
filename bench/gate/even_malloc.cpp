// SPDX-License-Identifier: BSD-2-Clause
// malloc and its like, for the program that counts instructions. Those of the C library take steps that
// depend on how blocks lie, and so on how long the processor's name is, which devices keep. These take the
// same for all blocks of a size. One thread at a time; memory never goes back.
#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t kAlignment = 64, kAll = std::size_t{1} << 28U;

/// Before each block, whose size is a power of two.
struct alignas(kAlignment) Header {
  unsigned power;
  Header* next_free;
};

alignas(kAlignment) std::byte g_all[kAll];  // pages that are not used take no memory
std::size_t g_used = 0;
Header* g_free[64];

void* Take(std::size_t bytes) {
  const auto power = static_cast<unsigned>(std::bit_width(std::max(bytes, kAlignment) - 1));
  if (power >= 64) return nullptr;
  Header* header = g_free[power];
  if (header != nullptr) {
    g_free[power] = header->next_free;
  } else {
    const std::size_t whole = sizeof(Header) + (std::size_t{1} << power);
    if (whole > kAll - g_used) return nullptr;
    header = new (g_all + g_used) Header{power, nullptr};
    g_used += whole;
  }
  return header + 1;
}

}  // namespace

extern "C" {

void* malloc(std::size_t bytes) {
  void* const taken = Take(bytes);
  if (taken == nullptr) errno = ENOMEM;
  return taken;
}

void free(void* ptr) {
  if (ptr == nullptr) return;
  Header* const header = static_cast<Header*>(ptr) - 1;
  header->next_free = g_free[header->power];
  g_free[header->power] = header;
}

void* calloc(std::size_t count, std::size_t bytes) {
  if (bytes != 0 && count > kAll / bytes) return nullptr;
  void* const taken = Take(count * bytes);
  return taken == nullptr ? nullptr : std::memset(taken, 0, count * bytes);
}

void* realloc(void* ptr, std::size_t bytes) {
  void* const taken = malloc(bytes);
  if (ptr == nullptr || taken == nullptr) return taken;
  const std::size_t had = std::size_t{1} << (static_cast<Header*>(ptr) - 1)->power;
  std::memcpy(taken, ptr, std::min(bytes, had));
  free(ptr);
  return taken;
}

int posix_memalign(void** ptr, std::size_t alignment, std::size_t bytes) {
  if (alignment > kAlignment) return EINVAL;
  *ptr = Take(bytes);
  return *ptr == nullptr ? ENOMEM : 0;
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return alignment > kAlignment ? nullptr : malloc(bytes);
}

}  // extern "C"
