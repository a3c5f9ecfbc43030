// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/detail/pages.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <system_error>
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

/// Whether it holds in a process of its own, which locks all memory that it maps.
bool HoldsWhereLocked(const std::function<bool()>& condition) {
  const pid_t child = fork();
  if (child == 0) _exit(mlockall(MCL_FUTURE) == 0 && condition() ? 0 : 1);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status == 0;
}

TEST_CASE("Where all memory is locked that is mapped, pages have none before they are used") {
  CHECK(HoldsWhereLocked([] {
    const std::size_t bytes = 4 * Pages::page();
    Pages pages("pages", bytes);
    std::byte* const work = pages.Work(pages.seen());
    const bool none = Resident(work, bytes) == 0;
    work[0] = std::byte{1};
    return none && Resident(work, bytes) == 1;
  }));
}

TEST_CASE("Where all memory is locked that is mapped, a limit of it is named") {
  if (kSanitized) SKIP("mlockall does nothing with a sanitizer");
  CHECK(HoldsWhereLocked([] {
    constexpr std::size_t kLimit = 1 << 20;
    const rlimit limit{kLimit, kLimit};
    if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0) return false;
    if (getuid() == 0 && setuid(65534) != 0) return false;  // nobody, as the limit does not hold for root
    try {
      const Pages pages("pages", 2 * kLimit);
      return false;
    } catch (const std::system_error& error) {
      return std::string(error.what()).starts_with("pages: a limit (ulimit -l) denies it");
    }
  }));
}

}  // namespace
}  // namespace ferry::testing
