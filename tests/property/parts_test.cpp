// SPDX-License-Identifier: BSD-2-Clause
// A random walk through parts of arrays on three simulated GPUs, one of them unified: sets of operands,
// releases, resizes, streams that come and go, and faults, against a model of every byte.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <sstream>
#include <vector>

#include "ferry/backend.hpp"
#include "ferry/detail/take.hpp"
#include "ferry/error.hpp"
#include "ferry/sim.hpp"
#include "scale.hpp"
#include "world.hpp"

namespace ferry::testing {
namespace {

constexpr std::size_t kSize = 48;
constexpr int kDevices = 3, kSteps = 60;

struct Part {
  std::size_t memory, first, bytes;
  Access access;
};

/// What a user does in one step; numbers are drawn beforehand, so that a walk can be cut.
struct Move {
  enum class Kind : std::uint8_t { kAccess, kPrefetch, kRelease, kResize, kNewStream, kForget, kRenew } kind;
  int device;  ///< -1: the host
  unsigned stream;
  std::vector<Part> parts;
};

std::string Describe(const std::vector<Move>& moves) {
  constexpr const char* kKinds[] = {"access",     "prefetch", "release", "resize",
                                    "new stream", "forget",   "renew"};
  std::ostringstream text;
  for (const Move& move : moves) {
    text << "  " << kKinds[static_cast<unsigned>(move.kind)] << " device " << move.device << " stream "
         << move.stream;
    for (const Part& part : move.parts)
      text << ", " << Name(part.access) << " memory " << part.memory << " [" << part.first << ", "
           << part.first + part.bytes << ')';
    text << '\n';
  }
  return text.str();
}

Part DrawPart(std::mt19937& random) {
  Part part{random() % 2, random() % kSize, 0, static_cast<Access>(random() % 3)};
  // Ends that meet, as those of slices do, and the whole.
  if (random() % 4 == 0) part.first = 0;
  if (random() % 2 == 0) part.first &= ~std::size_t{7};
  part.bytes = random() % (kSize - part.first + 1);
  if (random() % 4 == 0) part.bytes = kSize - part.first;
  if (random() % 2 == 0) part.bytes &= ~std::size_t{7};
  return part;
}

std::vector<Move> Draw(std::mt19937& random) {
  std::vector<Move> moves(kSteps);
  for (Move& move : moves) {
    using enum Move::Kind;
    static constexpr Move::Kind kOften[] = {kAccess,  kAccess, kAccess,   kAccess, kAccess,
                                            kAccess,  kAccess, kPrefetch, kResize, kNewStream,
                                            kRelease, kForget, kRenew};
    move.kind = kOften[random() % std::size(kOften)];
    if (move.kind == kRenew && random() % 4 != 0) move.kind = kAccess;
    move.device = static_cast<int>(random() % (kDevices + 1)) - 1;
    move.stream = static_cast<unsigned>(random() % 3);
    move.parts.resize(move.kind == kAccess ? 1 + random() % 3 : 1);
    for (Part& part : move.parts) part = DrawPart(random);
  }
  return moves;
}

class PartsWorld {
 public:
  explicit PartsWorld(const sim::Options& options) {
    sim::Reset(options);
    const auto backends = Backends();
    const auto sim = std::find_if(backends.begin(), backends.end(), [](const Backend& backend) {
      return std::string_view(backend.name) == "sim";
    });
    for (int i = 0; i < kDevices; ++i) {
      devices_[static_cast<std::size_t>(i)] = sim->make(i);
      Device& device = *devices_[static_cast<std::size_t>(i)];
      streams_[static_cast<std::size_t>(i)] = {Stream::Main(device)};
    }
    for (std::size_t i = 0; i < memories_.size(); ++i) Renew(i, options.seed);
  }
  ~PartsWorld() { Finish(); }
  PartsWorld(const PartsWorld&) = delete;
  PartsWorld& operator=(const PartsWorld&) = delete;

  void Apply(const Move& move) {
    for (const bool again : {false, true}) {
      try {
        return Try(move);
      } catch (const Error& error) {
        if (again) Wrong(std::string("a second fault: ") + error.what());
      } catch (const std::bad_alloc& error) {
        if (again) Wrong(std::string("a second fault: ") + error.what());
      }
    }
  }
  std::string Finish() {
    for (auto& memory : memories_) memory.reset();
    for (auto& streams : streams_) streams.clear();
    for (auto& device : devices_) device.reset();
    if (auto complaint = Complaint(); !complaint.empty()) Wrong(std::move(complaint));
    return wrong_;
  }

 private:
  void Wrong(std::string what) {
    if (wrong_.empty()) wrong_ = std::move(what);
  }
  void Renew(std::size_t i, std::uint64_t draw) {
    memories_[i].reset();
    models_[i] = {};
    memories_[i] = std::make_unique<SyncedMemory>(kSize, *devices_[(i + draw) % kDevices]);
    sizes_[i] = kSize;
  }
  const Stream& StreamOf(const Move& move) const {
    const auto& streams = streams_[static_cast<std::size_t>(move.device)];
    return streams[move.stream % streams.size()];
  }
  ByteRange RangeOf(const Part& part) const {
    const std::size_t size = sizes_[part.memory], first = std::min(part.first, size);
    if (first == 0 && part.bytes >= size) return {};
    return {first, std::min(part.bytes, size - first)};
  }

  void Try(const Move& move) {
    const Part& part = move.parts.front();
    SyncedMemory& memory = *memories_[part.memory];
    switch (move.kind) {
      case Move::Kind::kAccess:
        return AccessAll(move);
      case Move::Kind::kPrefetch:
        if (move.device >= 0)
          memory.Prefetch(part.access == Access::kRead ? Side::kCpu : Side::kGpu, StreamOf(move),
                          RangeOf(part));
        return;
      case Move::Kind::kRelease:
        return move.device < 0 ? memory.Release(Side::kCpu)
                               : memory.Release(*devices_[static_cast<std::size_t>(move.device)]);
      case Move::Kind::kResize: {
        memory.Resize(part.first);
        auto& model = models_[part.memory];
        for (std::size_t i = sizes_[part.memory]; i < part.first; ++i) model[i] = 0;
        sizes_[part.memory] = part.first;
        return;
      }
      case Move::Kind::kNewStream:
        if (move.device >= 0) NewStream(move);
        return;
      case Move::Kind::kForget:
        if (move.device >= 0) memory.Forget(StreamOf(move));
        return;
      case Move::Kind::kRenew:
        return Renew(part.memory, part.first);
    }
  }

  /// In the place of an old one, which goes.
  void NewStream(const Move& move) {
    auto& streams = streams_[static_cast<std::size_t>(move.device)];
    const Stream fresh(*devices_[static_cast<std::size_t>(move.device)]);
    if (streams.size() < 3)
      streams.push_back(fresh);
    else
      streams[1 + move.stream % 2] = fresh;
  }

  void AccessAll(const Move& move) {
    std::vector<detail::Request> requests;
    for (const Part& part : move.parts)
      requests.push_back({memories_[part.memory].get(), RangeOf(part), part.access});
    std::vector<void*> ptrs(requests.size());
    const Stream* const on = move.device < 0 ? nullptr : &StreamOf(move);
    try {
      detail::Take(requests, on, ptrs);
    } catch (const std::invalid_argument&) {
      return;  // a partial overlap
    }
    const std::uint8_t version = ++version_;
    std::vector<Touch> touches;
    std::vector<std::function<void()>> work;
    auto after = models_;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const Part& part = move.parts[i];
      const std::size_t first = requests[i].range.first;
      const std::size_t count = std::min(requests[i].range.bytes, sizes_[part.memory] - first);
      if (count == 0) continue;
      const bool reads = part.access != Access::kOverwrite || Joint(requests, i);
      const bool writes = part.access != Access::kRead || Joint(requests, i);
      auto* const bytes = static_cast<std::uint8_t*>(ptrs[i]);
      if (writes)
        touches.emplace_back(bytes, static_cast<std::int64_t>(count));
      else
        touches.emplace_back(static_cast<const std::uint8_t*>(bytes), static_cast<std::int64_t>(count));
      if (part.access != Access::kRead)
        std::fill_n(after[part.memory].begin() + static_cast<std::ptrdiff_t>(first), count, version);
      work.emplace_back([this, bytes, count, reads, was = models_[part.memory], first] {
        if (reads && std::memcmp(bytes, was.data() + first, count) != 0) Wrong("the bytes are not current");
      });
    }
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const Part& part = move.parts[i];
      const std::size_t count =
          std::min(requests[i].range.bytes, sizes_[part.memory] - requests[i].range.first);
      if (part.access != Access::kRead && count != 0)
        work.emplace_back([ptr = ptrs[i], count, version] { std::memset(ptr, version, count); });
    }
    models_ = after;
    const auto all = [work] {
      for (const auto& one : work) one();
    };
    if (on == nullptr) return all();
    sim::Launch(*on, touches, all);
  }
  /// Whether another operand of the same bytes has another access.
  static bool Joint(const std::vector<detail::Request>& requests, std::size_t i) {
    return std::any_of(requests.begin(), requests.end(), [&](const detail::Request& other) {
      return other.memory == requests[i].memory && other.range.first == requests[i].range.first &&
             other.range.bytes == requests[i].range.bytes && other.access != requests[i].access;
    });
  }

  std::array<std::unique_ptr<Device>, kDevices> devices_;
  std::array<std::vector<Stream>, kDevices> streams_;
  std::array<std::unique_ptr<SyncedMemory>, 2> memories_;
  std::array<std::array<std::uint8_t, kSize>, 2> models_{};
  std::array<std::size_t, 2> sizes_{};
  std::uint8_t version_ = 0;
  std::string wrong_;
};

std::string RunParts(const sim::Options& options, const std::vector<Move>& moves) {
  PartsWorld world(options);
  for (const Move& move : moves) world.Apply(move);
  return world.Finish();
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
    sim::Options options{.seed = random(), .devices = kDevices, .unified_devices = 1};
    options.peers = random() % 2 == 0;
    options.memory_pools = random() % 2 == 0;
    if (random() % 2 == 0) {
      options.fail_at = static_cast<long>(1 + random() % 200);
      options.fail_late = random() % 2 == 0;
    }
    const auto moves = Draw(random);
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
