// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/strips/strips.hpp"

#include <algorithm>
#include <cfloat>
#include <cstddef>
#include <utility>

namespace ferry::detail::strips {
namespace {

template <class T, int kLanes>
struct VectorOf {
  // NOLINTNEXTLINE(modernize-use-using): the attribute is for a typedef
  typedef T Type __attribute__((vector_size(kLanes * sizeof(T))));
};

/// to[i] = array[at + i], or 0 where there is none.
template <class T>
[[gnu::cold, gnu::noinline]] void CopyInside(const T* array, std::int64_t count, std::int64_t at,
                                             std::int64_t span, T* to) {
  for (std::int64_t i = 0; i < span; ++i) to[i] = at + i >= 0 && at + i < count ? array[at + i] : T(0);
}

}  // namespace
}  // namespace ferry::detail::strips

#define FERRY_SET baseline
#define FERRY_LANES 4
#define FERRY_FOR
#include "core/nets/vision/strips/one_set.inc"

#if defined(__x86_64__) && defined(__GNUC__)
#define FERRY_SET avx2
#define FERRY_LANES 8
#define FERRY_FOR gnu::target("avx2,fma")
#include "core/nets/vision/strips/one_set.inc"

#define FERRY_SET avx512
#define FERRY_LANES 16
#define FERRY_FOR gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")
#include "core/nets/vision/strips/one_set.inc"
#endif

namespace ferry::detail::strips {
namespace {

/// use(code for this processor and so many columns beside each other)
template <class Use>
auto With([[maybe_unused]] InstructionSet set, [[maybe_unused]] std::int64_t columns, Use use) {
#if defined(__x86_64__) && defined(__GNUC__)
  // A vector that is filled by half takes longer than the whole one of half its length.
  if (set == InstructionSet::kAvx512 && columns > avx2::kLanes) return use(avx512::Set());
  if (set >= InstructionSet::kAvx2) return use(avx2::Set());
#endif
  return use(baseline::Set());
}

}  // namespace

template <class Index>
Run<const float, float, Index> Largest(const Windows& windows, InstructionSet set) {
  return With(set, windows.columns, [&](auto code) { return code.template Largest<Index>(windows); });
}

Run<const float, float> Mean(const Windows& windows, InstructionSet set) {
  return With(set, windows.columns, [&](auto code) { return code.Mean(windows); });
}

Run<const float, float> MeanOfAll(std::int64_t elements, InstructionSet set) {
  return With(set, elements, [](auto code) { return code.MeanOfAll(); });
}

Run<const float, float> Shares(const Windows& windows, InstructionSet set) {
  const std::int64_t lanes = windows.stride == 2 ? windows.columns / 2 : windows.columns;
  return With(set, lanes, [&](auto code) { return code.Shares(windows); });
}

template <class Index>
Run<const float, const Index, float> LargestGradient(const Windows& windows, InstructionSet set) {
  return With(set, windows.columns, [&](auto code) { return code.template LargestGradient<Index>(windows); });
}

template Run<const float, float, std::uint16_t> Largest(const Windows&, InstructionSet);
template Run<const float, float, int> Largest(const Windows&, InstructionSet);
template Run<const float, float, float> Largest(const Windows&, InstructionSet);
template Run<const float, const std::uint16_t, float> LargestGradient(const Windows&, InstructionSet);
template Run<const float, const int, float> LargestGradient(const Windows&, InstructionSet);

}  // namespace ferry::detail::strips
