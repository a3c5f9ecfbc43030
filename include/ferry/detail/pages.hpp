// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <string>

#include "ferry/detail/language.hpp"

namespace ferry::detail {

/// A stretch of address space that is mapped twice. Programs see the one mapping, whose pages are out of
/// reach until they are opened; we work through the other one, whose pages never are. Thread-safe, except
/// that who opens and closes the same pages at once does not know what comes of it.
class Pages {
 public:
  enum class Access : unsigned char { kNone, kRead, kReadWrite };

  /// `name` is for errors, and for the system's tables. Takes no memory yet. Throws std::system_error.
  Pages(const std::string& name, std::size_t bytes);
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  static std::size_t page() noexcept;  ///< in bytes
  static std::size_t RoundUp(std::size_t bytes) noexcept { return (bytes + page() - 1) / page() * page(); }

  std::byte* seen() const noexcept { return seen_; }
  std::size_t size() const noexcept { return size_; }  ///< in bytes
  bool Owns(const void* ptr) const noexcept { return ptr >= seen_ && ptr < seen_ + size_; }
  /// Where we find the byte that programs see at `ptr`.
  std::byte* Work(const void* ptr) const noexcept {
    return work_ + (static_cast<const std::byte*>(ptr) - seen_);
  }
  /// Of whole pages that programs see. False where the system has no mappings left for what is to differ from
  /// its neighbours; to make it like them again needs none.
  [[nodiscard]] static bool Open(std::byte* begin, std::size_t bytes, Access access) noexcept;
  /// Gives the system the memory behind whole pages. Where this fails, it keeps what they have.
  void Discard(const std::byte* begin, std::size_t bytes) noexcept;

 private:
  std::size_t size_;
  std::byte *seen_ = nullptr, *work_ = nullptr;
};

}  // namespace ferry::detail
