// SPDX-License-Identifier: BSD-2-Clause
// Any bytes are a program that uses two memories on the host and on three simulated GPUs, and no such program
// meets a wrong byte, a misuse or a leak.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ferry/log.hpp"
#include "ferry/sim.hpp"
#include "tests/property/parts_world.hpp"

namespace {

using ferry::testing::Move;
using ferry::testing::Part;
using ferry::testing::PartsWorld;

constexpr std::size_t kMost = 60;  // moves

/// The next numbers of the input, and zeros behind its end.
class Bytes {
 public:
  explicit Bytes(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  bool over() const { return bytes_.empty(); }
  /// Less than `bound`, which is at most 256.
  unsigned Below(unsigned bound) {
    if (over()) return 0;
    const unsigned next = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return next % bound;
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

ferry::sim::Options MachineOf(Bytes& bytes) {
  ferry::sim::Options options{.seed = bytes.Below(256), .devices = PartsWorld::kDevices};
  const unsigned bits = bytes.Below(16);
  options.unified_devices = (bits & 1) != 0 ? 1 : 0;
  options.peers = (bits & 2) != 0;
  options.memory_pools = (bits & 4) != 0;
  options.fail_late = (bits & 8) != 0;
  options.fail_at = static_cast<long>(bytes.Below(256));
  return options;
}

/// Of 48 bytes, from a multiple of 8 on where the length is one.
Part PartOf(Bytes& bytes) {
  constexpr unsigned kSize = Part::kSize;
  const unsigned what = bytes.Below(6), first = bytes.Below(kSize);
  const unsigned length = bytes.Below(kSize + 1);
  return {what % 2, first, std::min(length, kSize - first), static_cast<ferry::Access>(what / 2)};
}

Move MoveOf(Bytes& bytes) {
  Move move{static_cast<Move::Kind>(bytes.Below(Move::kKinds)), 0, 0, {}};
  move.device = static_cast<int>(bytes.Below(PartsWorld::kDevices + 1)) - 1;
  move.stream = bytes.Below(3);
  for (unsigned left = 1 + bytes.Below(3); left != 0; --left) move.parts.push_back(PartOf(bytes));
  return move;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  ferry::SetLogSink([](ferry::LogLevel, std::string_view) {});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes({data, size});
  const ferry::sim::Options options = MachineOf(bytes);
  std::vector<Move> moves;
  while (!bytes.over() && moves.size() < kMost) moves.push_back(MoveOf(bytes));
  if (const std::string wrong = ferry::testing::RunParts(options, moves); !wrong.empty()) {
    std::fprintf(stderr, "wrong: %s\n%s", wrong.c_str(), Describe(moves).c_str());
    std::abort();
  }
  return 0;
}
