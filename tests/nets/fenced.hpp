// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <vector>

namespace ferry::nets_test {

enum class Fence { kBefore, kBehind };

/// Elements that begin where a page does, or end where one does; before it, or behind it, no access is
/// allowed.
template <class T>
class Fenced {
 public:
  Fenced(const std::vector<T>& values, Fence fence) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t bytes = (values.size() * sizeof(T) + page - 1) / page * page;
    length_ = bytes + page;
    void* const pages = ::mmap(nullptr, length_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(pages != MAP_FAILED);
    pages_ = static_cast<std::byte*>(pages);
    const bool before = fence == Fence::kBefore;
    REQUIRE(::mprotect(before ? pages_ : pages_ + bytes, page, PROT_NONE) == 0);
    std::byte* const at = before ? pages_ + page : pages_ + bytes - values.size() * sizeof(T);
    data_ = reinterpret_cast<T*>(at);
    std::copy(values.begin(), values.end(), data_);
  }
  ~Fenced() { ::munmap(pages_, length_); }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;

  T* data() const { return data_; }

 private:
  std::byte* pages_ = nullptr;
  std::size_t length_ = 0;
  T* data_ = nullptr;
};

}  // namespace ferry::nets_test
