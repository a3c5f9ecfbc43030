// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/detail/pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "core/write_signals.hpp"

namespace ferry::detail {
namespace {

[[noreturn]] void ThrowErrno(const std::string& name, const char* call) {
  throw std::system_error(errno, std::generic_category(), name + ": " + call);
}

/// A file beyond the limit of a file's size would end the program.
bool Extend(int file, std::size_t bytes) noexcept {
  const WithoutWriteSignals quiet;
  return ftruncate(file, static_cast<off_t>(bytes)) == 0;
}

/// Mapped without access: in a program that uses mlockall, the kernel gives memory to accessible pages at
/// once.
std::byte* Map(const std::string& name, int file, std::size_t bytes) {
  void* const ptr = mmap(nullptr, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (ptr == MAP_FAILED) ThrowErrno(name, errno == EAGAIN ? "a limit (ulimit -l) denies it" : "mmap");
  return static_cast<std::byte*>(ptr);
}

}  // namespace

/// The file is closed once it is mapped. A program that closes all descriptors would close this one too, and
/// what it opens next would have the same number.
Pages::Pages(const std::string& name, std::size_t bytes) : size_(bytes) {
  const int file = memfd_create(name.c_str(), MFD_CLOEXEC);
  if (file < 0) ThrowErrno(name, "memfd_create");
  try {
    if (!Extend(file, bytes))
      ThrowErrno(name, errno == EFBIG ? "a limit (ulimit -f) denies it" : "ftruncate");
    seen_ = Map(name, file, bytes);
    work_ = Map(name, file, bytes);
    if (!Open(work_, bytes, Access::kReadWrite)) ThrowErrno(name, "mprotect");
  } catch (...) {
    for (std::byte* const view : {work_, seen_})
      if (view != nullptr) munmap(view, size_);
    close(file);
    throw;
  }
  close(file);
}

Pages::~Pages() {
  munmap(work_, size_);
  munmap(seen_, size_);
}

std::size_t Pages::page() noexcept {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

bool Pages::Open(std::byte* begin, std::size_t bytes, Access access) noexcept {
  constexpr std::array<int, 3> kFlags = {PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE};
  return mprotect(begin, bytes, kFlags[static_cast<std::size_t>(access)]) == 0;
}

void Pages::Discard(const std::byte* begin, std::size_t bytes) noexcept {
  std::byte* const work = work_ + (begin - seen_);
  if (madvise(work, bytes, MADV_REMOVE) == 0 || errno != EINVAL) return;
  // Pages that mlockall has locked are refused.
  if (munlock(work, bytes) != 0) return;
  (void)madvise(work, bytes, MADV_REMOVE);
  (void)mlock2(work, bytes, MLOCK_ONFAULT);
}

}  // namespace ferry::detail
