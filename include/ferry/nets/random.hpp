// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "ferry/detail/language.hpp"

namespace ferry {

/// What a net's random numbers come from. Two nets of one seed draw the same numbers at every place.
struct RandomSeed {
  std::uint64_t value;
};

/// Makes the seeds that follow in this process a function of `seed`, as Caffe::set_random_seed does; without
/// it they come from the system. Any thread may call.
void SetRandomSeed(std::uint64_t seed);
/// A new seed, for a net or layer that was given none. Any thread may call.
RandomSeed FreshSeed();

/// Which random numbers a layer draws: those of (seed, layer, iteration), and of their index. So they depend
/// neither on the place nor on what was drawn before.
struct RandomKey {
  std::uint64_t seed;       ///< the net's
  std::uint64_t layer;      ///< a number of the layer within its net
  std::uint64_t iteration;  ///< which pass forward
};

}  // namespace ferry
