// SPDX-License-Identifier: BSD-2-Clause
// A random walk through parts of arrays on three simulated GPUs, one of them unified, and on the host device:
// sets of operands, releases, resizes, streams that come and go, some of them borrowed, and faults, against a
// model of every byte.
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ferry/sim.hpp"
#include "parts_world.hpp"
#include "scale.hpp"

namespace ferry::testing {
namespace {

constexpr int kMoves = 60;

Part DrawPart(std::mt19937& random) {
  Part part{random() % 2, random() % Part::kSize, 0, static_cast<Access>(random() % 3)};
  // Ends that meet, as those of slices do, and the whole.
  if (random() % 4 == 0) part.first = 0;
  if (random() % 2 == 0) part.first &= ~std::size_t{7};
  part.bytes = random() % (Part::kSize - part.first + 1);
  if (random() % 4 == 0) part.bytes = Part::kSize - part.first;
  if (random() % 2 == 0) part.bytes &= ~std::size_t{7};
  return part;
}

std::vector<Move> DrawMoves(std::mt19937& random) {
  std::vector<Move> moves(kMoves);
  for (Move& move : moves) {
    using enum Move::Kind;
    static constexpr Move::Kind kOften[] = {kAccess, kAccess,   kAccess, kAccess,    kAccess,  kAccess,
                                            kAccess, kPrefetch, kResize, kNewStream, kRelease, kForget,
                                            kRenew,  kAssign,   kAssign, kAdopt};
    move.kind = kOften[random() % std::size(kOften)];
    if (move.kind == kRenew && random() % 4 != 0) move.kind = kAccess;
    move.device = static_cast<int>(random() % (PartsWorld::kDevices + 1)) - 1;
    move.stream = static_cast<unsigned>(random() % 3);
    move.parts.resize(move.kind == kAccess ? 1 + random() % 3 : 1);
    for (Part& part : move.parts) part = DrawPart(random);
  }
  return moves;
}

std::vector<Move> Fewest(const sim::Options& options, std::vector<Move> moves) {
  for (std::size_t length = moves.size() / 2; length != 0; length /= 2)
    for (std::size_t at = 0; at + length <= moves.size();) {
      auto fewer = moves;
      const auto first = fewer.begin() + static_cast<std::ptrdiff_t>(at);
      fewer.erase(first, first + static_cast<std::ptrdiff_t>(length));
      if (RunParts(options, fewer).empty())
        at += length;
      else
        moves = std::move(fewer);
    }
  return moves;
}

TEST_CASE("a random walk through parts and devices never meets a wrong byte, a misuse or a leak") {
  std::mt19937 random(13);
  const int walks = static_cast<int>(17000 * Scale());
  for (int walk = 0; walk < walks; ++walk) {
    sim::Options options{.seed = random(), .devices = PartsWorld::kGpus, .unified_devices = 1};
    options.peers = random() % 2 == 0;
    options.memory_pools = random() % 2 == 0;
    options.pageable_late = random() % 2 == 0;
    options.events_need_stream = random() % 2 == 0;
    if (random() % 2 == 0) {
      options.fail_at = static_cast<long>(1 + random() % 200);
      options.fail_late = random() % 2 == 0;
    }
    const auto moves = DrawMoves(random);
    if (const auto wrong = RunParts(options, moves); !wrong.empty())
      FAIL(wrong << ", walk " << walk << ", seed " << options.seed << ", fault " << options.fail_at
                 << (options.fail_late ? " late" : "") << (options.peers ? ", peers" : "")
                 << "; the fewest steps:\n"
                 << Describe(Fewest(options, moves)));
  }
  CHECK(walks > 0);
}

}  // namespace
}  // namespace ferry::testing
