// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "ferry/nets/random.hpp"

namespace ferry::detail {

/// Random numbers as a function of a key and an index, the same at every place: Philox4x32-10, from Salmon
/// et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011. A value; kernels copy it.
class Philox {
 public:
  /// 128 random bits.
  struct Block {
    std::uint32_t word[4];
  };

  explicit Philox(const RandomKey& key) noexcept
      : iteration_(key.iteration), key_(Mix(key.seed + 0x9E3779B97F4A7C15U * (key.layer + 1))) {}

  /// The function itself: what it makes of a counter of 128 bits under a key of 64. A loop would not be
  /// unrolled, and then not vectorised.
  template <int kRounds = 10>
  KOKKOS_FORCEINLINE_FUNCTION static Block Rounds(const Block& counter, std::uint32_t k0, std::uint32_t k1) {
    if constexpr (kRounds == 0) {
      return counter;
    } else {
      const std::uint32_t(&c)[4] = counter.word;
      const std::uint64_t p0 = std::uint64_t{0xD2511F53U} * c[0];
      const std::uint64_t p1 = std::uint64_t{0xCD9E8D57U} * c[2];
      return Rounds<kRounds - 1>({{High(p1) ^ c[1] ^ k0, Low(p1), High(p0) ^ c[3] ^ k1, Low(p0)}},
                                 k0 + 0x9E3779B9U, k1 + 0xBB67AE85U);
    }
  }

  /// 128 random bits for each index.
  KOKKOS_FORCEINLINE_FUNCTION Block At(std::uint64_t index) const {
    return Rounds({{Low(index), High(index), Low(iteration_), High(iteration_)}}, Low(key_), High(key_));
  }
  /// 64 of them.
  KOKKOS_INLINE_FUNCTION std::uint64_t Bits(std::uint64_t index) const {
    const Block block = At(index);
    return (std::uint64_t{block.word[1]} << 32U) | block.word[0];
  }
  /// In [0, 1), of 53 bits.
  KOKKOS_INLINE_FUNCTION double Uniform(std::uint64_t index) const {
    return static_cast<double>(Bits(index) >> 11U) * 0x1p-53;
  }

 private:
  KOKKOS_INLINE_FUNCTION static std::uint32_t Low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
  KOKKOS_INLINE_FUNCTION static std::uint32_t High(std::uint64_t x) {
    return static_cast<std::uint32_t>(x >> 32U);
  }
  /// SplitMix64's finaliser: keys that differ little become keys that differ much.
  static std::uint64_t Mix(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31U);
  }

  std::uint64_t iteration_;
  std::uint64_t key_;
};

}  // namespace ferry::detail
