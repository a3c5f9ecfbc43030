// SPDX-License-Identifier: BSD-2-Clause
// Every sequence of five accesses of two ranges, by the host, two streams of the memory's device and one of a
// second device: the bytes are current, nothing races, and no byte moves that need not.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "ferry/synced_memory.hpp"
#include "tests/property/clock_model.hpp"
#include "tests/property/necessary.hpp"
#include "tests/property/scale.hpp"

namespace ferry::testing {
namespace {

constexpr std::size_t kSize = 8, kLength = 5;
constexpr unsigned kPlaces = 4, kAccesses = 3, kLetters = 2 * kPlaces * kAccesses;

struct Letter {
  unsigned range, place;
  Access access;
};
constexpr Letter LetterOf(unsigned number) {
  return {number / (kPlaces * kAccesses), number / kAccesses % kPlaces,
          static_cast<Access>(number % kAccesses)};
}

/// Made once, for all sequences.
class SequenceRunner {
 public:
  /// Says what was wrong, or nothing.
  std::string Run(const std::array<ByteRange, 2>& ranges, const std::array<unsigned, kLength>& letters) {
    machine_.Reset();
    model_.Reset();
    const Necessary& necessary = NecessaryFor(ranges, letters);
    {
      SyncedMemory memory(kSize, own_);
      for (const unsigned number : letters) {
        const Letter letter = LetterOf(number);
        const Stream* const on = letter.place == 0 ? nullptr : &streams_[letter.place - 1];
        model_.Use(memory, ranges[letter.range], letter.access, on);
      }
    }
    if (!machine_.idle()) machine_.Wrong("a block was not given back");
    if (machine_.copied != necessary.bytes()) machine_.Wrong("bytes moved that need not");
    if (machine_.copies > necessary.runs()) machine_.Wrong("neighbours of one source moved one by one");
    return machine_.wrong;
  }

 private:
  static unsigned SpaceOf(unsigned place) { return place == 0 ? 0 : place == 3 ? 2 : 1; }
  /// Of all the letters; what it knows of the first ones, which the last sequence had too, is still right.
  const Necessary& NecessaryFor(const std::array<ByteRange, 2>& ranges,
                                const std::array<unsigned, kLength>& letters) {
    const auto same = std::mismatch(letters.begin(), letters.end(), last_.begin()).first - letters.begin();
    for (auto i = static_cast<std::size_t>(same); i < kLength; ++i) {
      const Letter letter = LetterOf(letters[i]);
      necessary_[i + 1] = necessary_[i];
      necessary_[i + 1].Access(ranges[letter.range], SpaceOf(letter.place), letter.access);
    }
    last_ = letters;
    return necessary_[kLength];
  }

  ClockMachine machine_{kSize};
  ClockDevice own_{machine_, 0, 0, {1}}, second_{machine_, 0, 1, {0}};
  const std::array<Stream, 3> streams_{Stream::Main(own_), Stream(own_), Stream(second_)};
  ClockModel model_{machine_, kSize};
  std::array<unsigned, kLength> last_{kLetters};
  std::vector<Necessary> necessary_{kLength + 1, Necessary(kSize, Necessary::Peers::kYes)};  ///< of so many
};

std::string Describe(const std::array<ByteRange, 2>& ranges, const std::array<unsigned, kLength>& letters) {
  constexpr const char* kNames[] = {"host", "main stream", "own stream", "second device"};
  std::ostringstream text;
  for (const unsigned number : letters) {
    const Letter letter = LetterOf(number);
    const auto [first, bytes] = ranges[letter.range];
    text << "\n  " << Name(letter.access) << " [" << first << ", " << first + bytes << ") by the "
         << kNames[letter.place];
  }
  return text.str();
}

/// What a sequence does is checked after each step, so that the shorter ones are among these.
void RunAll(const std::array<ByteRange, 2>& ranges) {
  SequenceRunner world;
  std::array<unsigned, kLength> letters{};
  std::uint64_t total = 1, ran = 0;
  for (std::size_t i = 0; i < kLength; ++i) total *= kLetters;
  const std::uint64_t stride = Stride(kLetters);
  for (std::uint64_t code = 0; code < total; code += stride, ++ran) {
    std::uint64_t rest = code;
    for (std::size_t i = kLength; i-- > 0; rest /= kLetters)
      letters[i] = static_cast<unsigned>(rest % kLetters);
    if (const auto wrong = world.Run(ranges, letters); !wrong.empty())
      FAIL(wrong << ", sequence " << code << Describe(ranges, letters));
  }
  CHECK(ran > 0);
  std::printf("ran %llu of %llu sequences\n", static_cast<unsigned long long>(ran),
              static_cast<unsigned long long>(total));
}

TEST_CASE("all sequences over two ranges that overlap keep the bytes current and move none in vain") {
  RunAll({ByteRange{0, 5}, ByteRange{3, 5}});
}
TEST_CASE("all sequences over the whole and a part of it keep the bytes current and move none in vain") {
  RunAll({ByteRange{0, 8}, ByteRange{2, 4}});
}
TEST_CASE("all sequences over two ranges that touch keep the bytes current and move none in vain") {
  RunAll({ByteRange{0, 4}, ByteRange{4, 4}});
}

}  // namespace
}  // namespace ferry::testing
