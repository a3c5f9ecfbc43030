// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/nets/random.hpp"

#include <mutex>
#include <random>

namespace ferry {
namespace {

struct Seeds {
  std::mutex mutex;
  std::mt19937_64 next{std::random_device()()};
};

Seeds& All() {
  static Seeds seeds;
  return seeds;
}

}  // namespace

void SetRandomSeed(std::uint64_t seed) {
  const std::lock_guard lock(All().mutex);
  All().next.seed(seed);
}

RandomSeed FreshSeed() {
  const std::lock_guard lock(All().mutex);
  return {All().next()};
}

}  // namespace ferry
