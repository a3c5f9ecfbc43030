// SPDX-License-Identifier: BSD-2-Clause
// A random walk over blobs that share storage, take other shapes, adopt bytes and copy from each other, while
// calls fail.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ferry/blob.hpp"
#include "ferry/error.hpp"
#include "scale.hpp"
#include "world.hpp"

namespace ferry::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// What a storage must hold: the bytes in use, and room for more.
struct Storage {
  Bytes bytes;
  std::size_t capacity;
};
/// The bytes of a blob begin somewhere in it.
struct ModelPart {
  std::shared_ptr<Storage> storage;
  std::size_t first = 0;

  auto begin() const { return storage->bytes.begin() + static_cast<std::ptrdiff_t>(first); }
};

struct ModelBlob {
  explicit ModelBlob(Device& device) : blob({kFirst}, device) {
    for (auto& part : parts) part = {std::make_shared<Storage>(Storage{Bytes(kFirst), kFirst})};
  }
  static constexpr std::size_t kFirst = 8;

  void Reshape(std::size_t next) {
    blob.Reshape({static_cast<std::int64_t>(next)});
    if (next != count) Resize(next);
  }
  void Resize(std::size_t next) {
    for (auto& [storage, first] : parts) {
      if (first + next > storage->capacity) {
        storage = std::make_shared<Storage>(Storage{Bytes(next), next});
        first = 0;
      } else if (storage.use_count() == 1) {
        storage->bytes.resize(first + std::min(count, next));
        storage->bytes.resize(first + next);
      } else if (first + next > storage->bytes.size()) {
        storage->bytes.resize(first + next);
      }
    }
    count = next;
  }

  Blob<std::uint8_t> blob;
  std::size_t count = kFirst;
  std::array<ModelPart, 2> parts;  // data and diff
};

class BlobWalk {
 public:
  BlobWalk(const sim::Options& machine, bool stacked)
      : random_(static_cast<unsigned>(machine.seed)), machine_(machine) {
    sim::Reset(machine);
    device_ = MakeSim(stacked);
    streams_ = {Stream::Main(*device_), Stream(*device_), Stream(*device_)};
    for (int i = 0; i < 4; ++i) blobs_.push_back(std::make_unique<ModelBlob>(*device_));
  }

  /// Says what was wrong and after which steps, or nothing.
  std::string Run(int steps) {
    for (int i = 0; i < steps && wrong_.empty(); ++i) Step();
    blobs_.clear();
    lent_.clear();
    streams_.clear();
    device_.reset();
    if (auto complaint = Complaint(); wrong_.empty()) wrong_ = complaint;
    return wrong_.empty() ? wrong_ : wrong_ + " after" + steps_.str();
  }

  unsigned failures() const { return failures_; }

 private:
  std::size_t Draw(std::size_t below) { return random_() % below; }

  /// A fault strikes once. What failed is made again or given up, and then has changed nothing; but a copy
  /// that was made and called failed may have cost elements that only the device had.
  void Step() {
    const std::mt19937 random = random_;
    const bool again = Draw(2) == 0;
    try {
      return TryStep();
    } catch (const Error&) {
    } catch (const std::bad_alloc&) {
    }
    ++failures_;
    steps_ << (again ? " failed, again:" : " failed");
    const bool only_copy =
        copied_to_ != nullptr && (machine_.unified || copied_to_->head() == Head::HEAD_AT_GPU);
    if (!again && !(only_copy && machine_.fail_late)) return;
    random_ = random;
    Draw(2);
    TryStep();
  }

  void TryStep() {
    const std::size_t which = Draw(blobs_.size()), other = Draw(blobs_.size()), part = Draw(2);
    ModelBlob &blob = *blobs_[which], &source = *blobs_[other];
    const std::size_t verb = Draw(18);
    copied_to_ = nullptr;
    steps_ << "\n  " << verb << ' ' << which << ' ' << other << ' ' << part;
    if (verb < 9) return Access(blob, part, static_cast<Verb>(verb % 3));
    if (verb < 12) return blob.Reshape(Draw(20));
    if (verb == 12) return Share(blob, source, part);
    if (verb == 13) return CopyFrom(blob, source, part);
    if (verb == 14) return Adopt(blob, part == 0);
    if (verb > 15) return Slice(blob, source);
    if (Draw(2) == 0) return ShrinkToFit(blob);
    blobs_[which] = std::make_unique<ModelBlob>(*device_);
  }

  void Access(ModelBlob& blob, std::size_t part, Verb verb) {
    const bool host = Draw(3) == 0;
    if (Draw(16) == 0) streams_.back() = Stream(*device_);
    const Stream on = streams_[Draw(streams_.size())];
    std::uint8_t* const ptr = Ask(blob.blob, part == 0, verb, host, on);
    const std::size_t count = blob.count;
    if (count == 0) return;
    const auto now = blob.parts[part].begin(), end = now + static_cast<std::ptrdiff_t>(count);
    const Bytes before(now, end);
    if (verb != Verb::kRead) Write(&*now, count, verb);
    const Bytes after(now, end);
    auto body = [this, ptr, before, after, verb] {
      if (verb != Verb::kOverwrite && !std::equal(before.begin(), before.end(), ptr))
        wrong_ = "the bytes are not current";
      if (verb != Verb::kRead) std::copy(after.begin(), after.end(), ptr);
    };
    if (host) return body();
    const auto n = static_cast<std::int64_t>(count);
    sim::Launch(on, {verb == Verb::kRead ? Touch(static_cast<const std::uint8_t*>(ptr), n) : Touch(ptr, n)},
                body);
  }

  void Write(std::uint8_t* bytes, std::size_t count, Verb verb) {
    ++version_;
    for (std::size_t i = 0; i < count; ++i)
      if (verb == Verb::kOverwrite || (i + version_) % 2 == 0) bytes[i] = version_;
  }

  static std::uint8_t* Ask(Blob<std::uint8_t>& blob, bool data, Verb verb, bool host, const Stream& on) {
    if (verb == Verb::kRead && host)
      return const_cast<std::uint8_t*>(data ? blob.cpu_data() : blob.cpu_diff());
    if (verb == Verb::kRead) return const_cast<std::uint8_t*>(data ? blob.gpu_data(on) : blob.gpu_diff(on));
    if (verb == Verb::kReadWrite && host) return data ? blob.mutable_cpu_data() : blob.mutable_cpu_diff();
    if (verb == Verb::kReadWrite) return data ? blob.mutable_gpu_data(on) : blob.mutable_gpu_diff(on);
    if (host) return data ? blob.overwrite_cpu_data() : blob.overwrite_cpu_diff();
    return data ? blob.overwrite_gpu_data(on) : blob.overwrite_gpu_diff(on);
  }

  static void Share(ModelBlob& blob, ModelBlob& source, std::size_t part) {
    if (blob.count != source.count) blob.Reshape(source.count);
    part == 0 ? blob.blob.ShareData(source.blob) : blob.blob.ShareDiff(source.blob);
    blob.parts[part] = source.parts[part];
  }

  /// A part of another blob takes this one's place.
  static void Slice(ModelBlob& blob, ModelBlob& source, std::size_t first, std::size_t count) {
    blob.blob = source.blob.Slice(static_cast<std::int64_t>(first), static_cast<std::int64_t>(count));
    auto parts = source.parts;
    for (ModelPart& part : parts) part.first += first;
    blob.parts = parts;
    blob.count = count;
  }
  void Slice(ModelBlob& blob, ModelBlob& source) {
    const std::size_t first = Draw(source.count + 1);
    Slice(blob, source, first, Draw(source.count - first + 1));
  }

  void CopyFrom(ModelBlob& blob, ModelBlob& source, std::size_t part) {
    copied_to_ = (part == 0 ? blob.blob.data() : blob.blob.diff()).get();
    const auto &from = source.parts[part], &to = blob.parts[part];
    const std::size_t count = source.count;
    const bool stays = from.storage == to.storage && to.first + count <= to.storage->capacity;
    const bool overlap =
        stays && from.first != to.first && from.first < to.first + count && to.first < from.first + count;
    try {
      if (Draw(2) == 0)
        blob.blob.CopyFrom(source.blob, part == 1, true);
      else
        blob.blob.CopyFrom(source.blob, streams_[Draw(streams_.size())], static_cast<BlobPart>(part),
                           WithReshape::kYes);
    } catch (const std::invalid_argument&) {
      if (!overlap) wrong_ = "a copy between parts that do not overlap was refused";
      return;
    }
    if (overlap) wrong_ = "a copy between parts that overlap was made";
    const Bytes copied(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count));
    if (count != blob.count) blob.Resize(count);
    std::copy(copied.begin(), copied.end(), blob.parts[part].begin());
  }

  void Adopt(ModelBlob& blob, bool host) {
    if (blob.count == 0) return;
    const Bytes bytes(blob.count, ++version_);
    const Stream on = streams_[Draw(streams_.size())];
    lent_.push_back(Bring(blob.count, host, on));
    std::uint8_t* const ptr = lent_.back().get();
    const auto write = [=] { std::copy(bytes.begin(), bytes.end(), ptr); };
    host ? write() : sim::Launch(on, {ptr}, write);
    host ? blob.blob.set_cpu_data(ptr) : blob.blob.set_gpu_data(ptr, on);
    auto& [storage, start] = blob.parts[0];
    if (start != 0 || storage->bytes.size() != blob.count) storage = std::make_shared<Storage>();
    start = 0;
    storage->capacity = blob.count;
    storage->bytes = bytes;
  }
  /// Pageable bytes or the device's, or where both sides use one buffer, such as both can use.
  std::shared_ptr<std::uint8_t[]> Bring(std::size_t count, bool host, const Stream& on) {
    const bool unified = device_->properties().unified;
    if (host && !unified) return std::make_shared<std::uint8_t[]>(count);
    Device* const device = device_.get();
    const MemoryKind kind = unified ? MemoryKind::kManaged : MemoryKind::kDevice;
    return {static_cast<std::uint8_t*>(device->Allocate(kind, count, on.handle())), [=](std::uint8_t* bytes) {
              device->Deallocate(kind, bytes, count, device->properties().main_stream);
            }};
  }

  static void ShrinkToFit(ModelBlob& blob) {
    blob.blob.ShrinkToFit();
    for (auto& [storage, first] : blob.parts) {
      if (storage.use_count() != 1 || storage->capacity == blob.count) continue;
      const auto begin = storage->bytes.begin() + static_cast<std::ptrdiff_t>(first);
      storage->bytes = Bytes(begin, begin + static_cast<std::ptrdiff_t>(blob.count));
      storage->capacity = blob.count;
      first = 0;
    }
  }

  std::mt19937 random_;
  const sim::Options machine_;
  const SyncedMemory* copied_to_ = nullptr;  ///< by the step that is being made
  std::unique_ptr<Device> device_;
  std::vector<Stream> streams_;
  std::vector<std::shared_ptr<std::uint8_t[]>> lent_;
  std::vector<std::unique_ptr<ModelBlob>> blobs_;
  std::uint8_t version_ = 0;
  unsigned failures_ = 0;
  std::string wrong_;
  std::ostringstream steps_;
};

TEST_CASE("a random walk over blobs never meets a wrong byte, a misuse or a leak") {
  const auto walks = static_cast<unsigned>(4000 * Scale());
  unsigned failures = 0;
  for (unsigned seed = 0; seed < walks; ++seed) {
    sim::Options machine{.seed = seed,
                         .unified = seed % 4 == 3,
                         .pageable_late = seed % 2 == 1,
                         .memory_pools = seed % 5 != 0};
    if (seed % 8 >= 4) {
      const bool copies = seed % 16 >= 8;
      machine.fail_call = copies ? "MemcpyAsync" : "";
      machine.fail_at = static_cast<long>(copies ? 1 + seed / 32 % 20 : 10 + seed / 32 % 150);
      machine.fail_late = seed % 32 >= 16;
    }
    INFO("seed " << seed << ", fault " << machine.fail_at);
    BlobWalk walk(machine, seed % 3 == 0);
    REQUIRE(walk.Run(60) == "");
    failures += walk.failures();
  }
  CHECK(failures >= walks / 8);  // half of them have a fault, which some come too early for
  std::printf("%u walks of 60 steps, of 4000, and %u calls that failed\n", walks, failures);
}

}  // namespace
}  // namespace ferry::testing
