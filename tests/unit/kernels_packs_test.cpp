// SPDX-License-Identifier: BSD-2-Clause
// The loops of GPUs, thread by thread on the host: each index once, and packs where all arrays begin at one.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/kernels/packs.hpp"
#include "ferry/detail/kokkos/gpu_loop.hpp"

namespace ferry::detail {
namespace {

constexpr std::int64_t kCounts[] = {1, 3, 4, 7, 8, 9, 31, 32, 33, 100, 1000};

struct Count {
  int* times;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { ++times[i]; }
};

TEST_CASE("threads share the indices of a loop, and none is idle while another one has two") {
  for (const std::int64_t n : kCounts)
    for (const std::int64_t at_once : {1, 16, 64, 5000}) {
      INFO(n << " indices, " << at_once << " threads at once");
      std::vector<int> times(static_cast<std::size_t>(n));
      const ThreadsShare<Count> share({times.data()}, n, at_once);
      const std::int64_t threads = share.threads;
      CHECK(threads >= std::min(n, at_once));
      CHECK(threads <= n);
      CHECK(4 * threads >= n);
      for (std::int64_t thread = 0; thread < threads; ++thread) share(thread);
      CHECK(std::ranges::all_of(times, [](int t) { return t == 1; }));
    }
}

/// y[i] = 2 * x[i] + y[i], and which elements the body was shown where they are, instead of in a register.
template <class T>
struct Add {
  const T *begin, *end;
  std::int64_t* in_place;
  KOKKOS_FUNCTION void operator()(std::int64_t i, const T* x, T* y) const {
    if (y >= begin && y < end) ++*in_place;
    y[i] = static_cast<T>(2 * x[i] + y[i]);
  }
};

template <class T>
void CheckPacks(std::int64_t n, std::int64_t offset_x, std::int64_t offset_y) {
  using Bound = BoundBody<Add<T>, std::index_sequence<0>, std::index_sequence<0, 1>, const T*, T*>;
  struct alignas(16) Sixteen {
    char byte[16];
  };
  const auto bytes = static_cast<std::size_t>(n + 16) * sizeof(T);
  std::vector<Sixteen> room_x(bytes / 16 + 2), room_y(bytes / 16 + 2);
  T* const x = reinterpret_cast<T*>(room_x.data()) + offset_x;
  T* const y = reinterpret_cast<T*>(room_y.data()) + offset_y;
  std::fill(x - offset_x, x + n + 16 - offset_x, T(1));  // so that no neighbour would stay what it is
  std::iota(x, x + n, T(1));
  std::fill(y - offset_y, y + n + 16 - offset_y, T(3));
  std::int64_t in_place = 0;
  const InPacks<Bound> loop(Bound({y, y + n, &in_place}, x, y), n, 1);
  for (std::int64_t thread = 0; thread < loop.threads; ++thread) loop(thread);

  INFO(n << " elements of " << sizeof(T) << " bytes at " << offset_x << " and " << offset_y);
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < n; ++i) wrong += y[i] == static_cast<T>(2 * x[i] + 3) ? 0 : 1;
  CHECK(wrong == 0);
  CHECK(std::all_of(y - offset_y, y, [](T v) { return v == 3; }));
  CHECK(std::all_of(y + n, y + n + 16 - offset_y, [](T v) { return v == 3; }));
  const std::int64_t in_pack = 16 / static_cast<std::int64_t>(sizeof(T));
  const bool packed = offset_x % in_pack == 0 && offset_y % in_pack == 0;
  CHECK(in_place == (packed ? n % in_pack : n));
}

TEST_CASE("a loop in packs does what the loop does, wherever its arrays begin, and leaves their neighbours") {
  for (const std::int64_t n : kCounts)
    for (const std::int64_t x : {0, 1, 4})
      for (const std::int64_t y : {0, 2, 16}) {
        CheckPacks<float>(n, x, y);
        CheckPacks<double>(n, x, y);
        CheckPacks<short>(n, x, y);
        CheckPacks<char8_t>(n, x, y);
      }
}

}  // namespace
}  // namespace ferry::detail
