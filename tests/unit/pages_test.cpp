// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/detail/pages.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "tests/sanitized.hpp"

namespace ferry::testing {
namespace {

using detail::Pages;

/// How many of the pages have memory.
std::ptrdiff_t Resident(std::byte* begin, std::size_t bytes) {
  std::vector<unsigned char> pages(bytes / Pages::page());
  REQUIRE(mincore(begin, bytes, pages.data()) == 0);
  return std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return (page & 1) != 0; });
}

/// The line of the process's locked memory.
std::string Locked() {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("VmLck:")) return line;
  return "";
}

TEST_CASE(
    "Discarded pages have no memory, and are zero when they are used again, where they are locked too") {
  const std::size_t bytes = 8 * Pages::page();
  Pages pages("pages", bytes);
  std::byte* const work = pages.Work(pages.seen());
  const bool locks = GENERATE(false, true) && !kSanitized;  // munlock does nothing with a sanitizer
  if (locks) REQUIRE(mlock2(work, bytes, MLOCK_ONFAULT) == 0);
  const std::string locked = Locked();
  std::memset(work, 1, bytes);
  pages.Discard(pages.seen() + 2 * Pages::page(), 3 * Pages::page());
  CHECK(Resident(work, bytes) == 5);
  CHECK(Locked() == locked);
  CHECK(std::all_of(work, work + bytes, [&](const std::byte& byte) {
    const std::size_t page = static_cast<std::size_t>(&byte - work) / Pages::page();
    return byte == std::byte{page < 2 || page >= 5};
  }));
}

}  // namespace
}  // namespace ferry::testing
