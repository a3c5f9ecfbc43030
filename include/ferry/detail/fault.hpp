// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>

#include "ferry/detail/language.hpp"

namespace ferry::detail {

/// One line for stderr, made without allocating: it is for a signal's handler.
class FaultLine {
 public:
  FaultLine& operator<<(std::string_view text) noexcept {
    const std::size_t n = std::min(text.size(), buffer_.size() - size_);
    std::copy_n(text.data(), n, buffer_.data() + size_);
    size_ += n;
    return *this;
  }
  template <class Integer>
  FaultLine& Number(Integer value, int base = 10) noexcept {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
    return *this << std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data()));
  }
  FaultLine& Bytes(std::ptrdiff_t count) noexcept {
    return Number(count) << (count == 1 ? " byte" : " bytes");
  }
  void Write() const noexcept;

 private:
  std::array<char, 1024> buffer_;
  std::size_t size_ = 0;
};

void PauseInHandler() noexcept;  ///< for a millisecond

/// For a signal's handler, which needs locks that its own thread may hold: calls attempt() for up to a
/// second, until it returns true. Returns whether it did.
template <class Attempt>
bool TryInHandler(Attempt attempt) noexcept {
  for (int tries = 0; tries < 1000; ++tries, PauseInHandler())
    if (attempt()) return true;
  return false;
}
inline bool TryLockInHandler(std::mutex& mutex) noexcept {
  return TryInHandler([&] { return mutex.try_lock(); });
}

enum class FaultAccess : std::uint8_t { kUnknown, kRead, kWrite };

/// Who knows addresses that nobody may touch. Called in a signal's handler: allocates nothing, and waits for
/// nobody who may be the thread at fault. Must never go.
class FaultReporter {
 public:
  virtual bool Owns(const void* address) const noexcept = 0;
  /// Says on stderr what the address is. Returns whether the access may be made again, since it is allowed by
  /// now.
  virtual bool Report(const void* address, FaultAccess access) noexcept = 0;

 protected:
  ~FaultReporter() = default;
};

/// From now on a SIGSEGV at an address of the reporter's is reported, and then takes the way that it would
/// have taken: to the handler that the program had, or to the process' end.
///
/// May be called again, as test frameworks put handlers away and set them again. It leaves alone a handler
/// that the program has set since.
void ReportFaults(FaultReporter& reporter) noexcept;

}  // namespace ferry::detail
