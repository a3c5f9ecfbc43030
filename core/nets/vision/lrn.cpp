// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/lrn.hpp"

#include <cmath>
#include <type_traits>

#include "core/nets/vision/chunk.hpp"
#include "core/nets/vision/lanes.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

/// x^-beta by std::pow.
template <class T>
struct AnyPower {
  T beta;
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T x) const { return std::pow(x, -beta); }
};
/// x^-0.75 by what vectors have. Negative bases give no number, as with std::pow.
template <class T>
struct ThreeQuarters {
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T x) const {
    const T root = std::sqrt(x);
    return T(1) / (root * std::sqrt(root));
  }
};

/// Calls use(power) with the fastest way to x^-beta.
template <class T, class Use>
void WithPower(T beta, const Use& use) {
  if (beta == T(0.75))
    use(ThreeQuarters<T>{});
  else
    use(AnyPower<T>{beta});
}

/// Calls use(lanes) with how many pixels run beside each other over all channels, as an integral_constant.
template <class Use>
void WithLanes(const Place& place, const Use& use) {
  if (OnGpuThreads(place))
    use(std::integral_constant<int, 1>());
  else
    use(std::integral_constant<int, 256>());
}

/// The rows of channels lie too far apart for a CPU to read them ahead by itself.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void ReadAhead(const T* row, int count) {
  constexpr int kLine = 64 / sizeof(T);
  if constexpr (kHostParts != 0)
    for (int i = 0; i < count; i += kLine) __builtin_prefetch(row + i);
}

constexpr int kKept = 8;  ///< channels' terms of sums, for windows of fewer

/// Sums over windows of channels, for pixels beside each other: one more channel in front, one fewer behind.
template <class T, int kLanes, class Power>
struct LrnForward {
  LrnSizes sizes;
  Chunks chunks;
  T factor, k;
  Power power;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t index, const T* x, T* scale, T* y) const {
    const auto [image, first, last] = chunks[index];
    const std::int64_t start = image * sizes.channels * sizes.pixels + first, half = sizes.window / 2;
    if (last - first == kLanes)
      Run(x + start, scale + start, y + start, half, kLanes);
    else
      Run(x + start, scale + start, y + start, half, static_cast<int>(last - first));
  }

  KOKKOS_FORCEINLINE_FUNCTION void Run(const T* x, T* scale, T* y, std::int64_t half, int lanes) const {
    T sums[kLanes];
    for (T& sum : sums) sum = k;
    for (std::int64_t c = 0; c < half && c < sizes.channels; ++c) Add(x + c * sizes.pixels, lanes, sums);
    for (std::int64_t c = 0; c < sizes.channels; ++c) {
      if (c + half < sizes.channels) Add(x + (c + half) * sizes.pixels, lanes, sums);
      if (c - half > 0) Subtract(x + (c - half - 1) * sizes.pixels, lanes, sums);
      const std::int64_t at = c * sizes.pixels;
      for (int i = 0; i < lanes; ++i) {
        scale[at + i] = sums[i];
        y[at + i] = x[at + i] * power(sums[i]);
      }
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void Add(const T* x, int lanes, T* sums) const {
    for (int i = 0; i < lanes; ++i) sums[i] += factor * (x[i] * x[i]);
  }
  KOKKOS_FORCEINLINE_FUNCTION void Subtract(const T* x, int lanes, T* sums) const {
    for (int i = 0; i < lanes; ++i) sums[i] -= factor * (x[i] * x[i]);
  }
};

/// dx = dy * scale^-beta - 2 alpha beta / window * x * the sum over the window of dy * y / scale.
template <class T, int kLanes, class Power>
struct LrnBackward {
  LrnSizes sizes;
  Chunks chunks;
  T factor;
  Power power;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t index, const T* x, const T* scale, const T* y,
                                              const T* dy, T* dx) const {
    const auto [image, first, last] = chunks[index];
    const std::int64_t start = image * sizes.channels * sizes.pixels + first;
    const int lanes = static_cast<int>(last - first);
    if (lanes == kLanes)
      Run(x + start, scale + start, y + start, dy + start, dx + start, kLanes);
    else
      Run(x + start, scale + start, y + start, dy + start, dx + start, lanes);
  }

  KOKKOS_FORCEINLINE_FUNCTION void Run(const T* x, const T* scale, const T* y, const T* dy, T* dx,
                                       int lanes) const {
    const std::int64_t half = sizes.window / 2, step = sizes.pixels;
    T sums[kLanes] = {}, kept[kKept][kLanes];
    const auto terms_of = [&](std::int64_t c) {
      T* const terms = kept[c % kKept];
      if (c + 1 < sizes.channels)
        for (const T* const of : {x, scale, y, dy}) ReadAhead(of + (c + 1) * step, lanes);
      for (int i = 0; i < lanes; ++i) terms[i] = dy[c * step + i] * y[c * step + i] / scale[c * step + i];
      return terms;
    };
    const auto add = [&](const T* terms) {
      for (int i = 0; i < lanes; ++i) sums[i] += terms[i];
    };
    for (std::int64_t c = 0; c < half && c < sizes.channels; ++c) add(terms_of(c));
    for (std::int64_t c = 0; c < sizes.channels; ++c) {
      if (c + half < sizes.channels) add(terms_of(c + half));
      if (const std::int64_t gone = c - half - 1; gone >= 0) {
        const T* const terms = sizes.window < kKept ? kept[gone % kKept] : terms_of(gone);
        for (int i = 0; i < lanes; ++i) sums[i] -= terms[i];
      }
      const std::int64_t at = c * step;
      for (int i = 0; i < lanes; ++i)
        dx[at + i] = dy[at + i] * power(scale[at + i]) - factor * x[at + i] * sums[i];
    }
  }
};

}  // namespace

template <Real T>
void LrnAcross(const At& at, const LrnSizes& sizes, const LrnFactors<T>& factors, const Operand<const T>& x,
               const Operand<T>& scale, const Operand<T>& y) {
  if (y.count() == 0) return;
  const T factor = factors.alpha / static_cast<T>(sizes.window);
  WithPower(factors.beta, [&]<class Power>(const Power& power) {
    WithLanes(at.place(), [&]<int kLanes>(std::integral_constant<int, kLanes> /*lanes*/) {
      const Chunks chunks(at.place(), sizes.pixels, kLanes);
      ParallelFor(at, sizes.images * chunks.per_line, x, scale, y,
                  LrnForward<T, kLanes, Power>{sizes, chunks, factor, factors.k, power});
    });
  });
}

template <Real T>
void LrnAcrossGradient(const At& at, const LrnSizes& sizes, const LrnFactors<T>& factors,
                       const Operand<const T>& x, const Operand<const T>& scale, const Operand<const T>& y,
                       const Operand<const T>& dy, const Operand<T>& dx) {
  if (dx.count() == 0) return;
  const T factor = T(2) * factors.alpha * factors.beta / static_cast<T>(sizes.window);
  WithPower(factors.beta, [&]<class Power>(const Power& power) {
    WithLanes(at.place(), [&]<int kLanes>(std::integral_constant<int, kLanes> /*lanes*/) {
      const Chunks chunks(at.place(), sizes.pixels, kLanes);
      ParallelFor(at, sizes.images * chunks.per_line, x, scale, y, dy, dx,
                  LrnBackward<T, kLanes, Power>{sizes, chunks, factor, power});
    });
  });
}

template <Real T>
void LrnWithin(const At& at, const LrnFactors<T>& factors, const Operand<const T>& x,
               const Operand<const T>& mean, const Operand<T>& y) {
  const AnyPower<T> power{factors.beta};
  const T alpha = factors.alpha;
  ParallelFor(
      at, y.count(), x, mean, y, KOKKOS_LAMBDA(std::int64_t i, const T* from, const T* of, T* to) {
        to[i] = from[i] * power(1 + alpha * of[i]);
      });
}

template <Real T>
void LrnMeanGradient(const At& at, const LrnFactors<T>& factors, const Operand<const T>& x,
                     const Operand<const T>& mean, const Operand<const T>& dy, const Operand<T>& dmean) {
  const AnyPower<T> power{factors.beta};
  const T alpha = factors.alpha, factor = -factors.alpha * factors.beta;
  ParallelFor(
      at, dmean.count(), x, mean, dy, dmean,
      KOKKOS_LAMBDA(std::int64_t i, const T* from, const T* of, const T* gradient, T* to) {
        const T base = 1 + alpha * of[i];
        to[i] = gradient[i] * from[i] * (factor * power(base) / base);
      });
}

template <Real T>
void LrnWithinGradient(const At& at, const LrnFactors<T>& factors, const Operand<const T>& x,
                       const Operand<const T>& mean, const Operand<const T>& dsquares,
                       const Operand<const T>& dy, const Operand<T>& dx) {
  const AnyPower<T> power{factors.beta};
  const T alpha = factors.alpha;
  ParallelFor(
      at, dx.count(), x, mean, dsquares, dy, dx,
      KOKKOS_LAMBDA(std::int64_t i, const T* from, const T* of, const T* squares, const T* gradient, T* to) {
        to[i] = gradient[i] * power(1 + alpha * of[i]) + 2 * from[i] * squares[i];
      });
}

#define FERRY_INSTANTIATE(T)                                                                                 \
  template void LrnAcross(const At&, const LrnSizes&, const LrnFactors<T>&, const Operand<const T>&,         \
                          const Operand<T>&, const Operand<T>&);                                             \
  template void LrnAcrossGradient(const At&, const LrnSizes&, const LrnFactors<T>&, const Operand<const T>&, \
                                  const Operand<const T>&, const Operand<const T>&, const Operand<const T>&, \
                                  const Operand<T>&);                                                        \
  template void LrnWithin(const At&, const LrnFactors<T>&, const Operand<const T>&, const Operand<const T>&, \
                          const Operand<T>&);                                                                \
  template void LrnMeanGradient(const At&, const LrnFactors<T>&, const Operand<const T>&,                    \
                                const Operand<const T>&, const Operand<const T>&, const Operand<T>&);        \
  template void LrnWithinGradient(const At&, const LrnFactors<T>&, const Operand<const T>&,                  \
                                  const Operand<const T>&, const Operand<const T>&, const Operand<const T>&, \
                                  const Operand<T>&)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry::detail
