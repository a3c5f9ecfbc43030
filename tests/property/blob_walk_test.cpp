// SPDX-License-Identifier: BSD-2-Clause
// A random walk over blobs that share storage, take other shapes, adopt bytes and copy from each other.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "ferry/blob.hpp"
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

struct ModelBlob {
  explicit ModelBlob(Device& device) : blob({kFirst}, device) {
    for (auto& part : parts) part = std::make_shared<Storage>(Storage{Bytes(kFirst), kFirst});
  }
  static constexpr std::size_t kFirst = 8;

  void Reshape(std::size_t next) {
    blob.Reshape({static_cast<std::int64_t>(next)});
    for (auto& part : parts) {
      if (next > part->capacity) {
        part = std::make_shared<Storage>(Storage{Bytes(next), next});
      } else if (part.use_count() == 1) {
        part->bytes.resize(std::min(count, next));
        part->bytes.resize(next);
      } else if (next > part->bytes.size()) {
        part->bytes.resize(next);
      }
    }
    count = next;
  }

  Blob<std::uint8_t> blob;
  std::size_t count = kFirst;
  std::array<std::shared_ptr<Storage>, 2> parts;  // data and diff
};

class BlobWalk {
 public:
  BlobWalk(const sim::Options& machine, bool stacked) : random_(static_cast<unsigned>(machine.seed)) {
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

 private:
  std::size_t Draw(std::size_t below) { return random_() % below; }

  void Step() {
    const std::size_t which = Draw(blobs_.size()), other = Draw(blobs_.size()), part = Draw(2);
    ModelBlob &blob = *blobs_[which], &source = *blobs_[other];
    const std::size_t verb = Draw(16);
    steps_ << "\n  " << verb << ' ' << which << ' ' << other << ' ' << part;
    if (verb < 9) return Access(blob, part, static_cast<Verb>(verb % 3));
    if (verb < 12) return blob.Reshape(Draw(20));
    if (verb == 12) return Share(blob, source, part);
    if (verb == 13) return CopyFrom(blob, source, part);
    if (verb == 14) return Adopt(blob);
    if (Draw(2) == 0) return ShrinkToFit(blob);
    blobs_[which] = std::make_unique<ModelBlob>(*device_);
  }

  void Access(ModelBlob& blob, std::size_t part, Verb verb) {
    const bool host = Draw(3) == 0;
    const Stream on = streams_[Draw(streams_.size())];
    std::uint8_t* const ptr = Ask(blob.blob, part == 0, verb, host, on);
    const std::size_t count = blob.count;
    if (count == 0) return;
    Bytes& now = blob.parts[part]->bytes;
    const Bytes before(now.begin(), now.begin() + static_cast<std::ptrdiff_t>(count));
    if (verb != Verb::kRead) Write(now, count, verb);
    const Bytes after(now.begin(), now.begin() + static_cast<std::ptrdiff_t>(count));
    auto body = [this, ptr, before, after, verb] {
      if (verb != Verb::kOverwrite && !std::equal(before.begin(), before.end(), ptr))
        wrong_ = "the bytes are not current";
      if (verb != Verb::kRead) std::copy(after.begin(), after.end(), ptr);
    };
    host ? body() : sim::Launch(on, {ptr}, body);
  }

  void Write(Bytes& bytes, std::size_t count, Verb verb) {
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

  static void CopyFrom(ModelBlob& blob, ModelBlob& source, std::size_t part) {
    blob.blob.CopyFrom(source.blob, part == 1, true);
    const Bytes& from = source.parts[part]->bytes;
    const Bytes copied(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(source.count));
    blob.Reshape(source.count);  // the blob itself has that shape by now
    std::copy(copied.begin(), copied.end(), blob.parts[part]->bytes.begin());
  }

  void Adopt(ModelBlob& blob) {
    if (blob.count == 0) return;
    const Bytes bytes(blob.count, ++version_);
    lent_.push_back(Bring(blob.count));
    std::copy(bytes.begin(), bytes.end(), lent_.back().get());
    blob.blob.set_cpu_data(lent_.back().get());
    auto& data = blob.parts[0];
    if (data->bytes.size() != blob.count) data = std::make_shared<Storage>();
    data->capacity = blob.count;
    data->bytes = bytes;
  }
  /// Pageable bytes, or where both sides use one buffer, such as both can use.
  std::shared_ptr<std::uint8_t[]> Bring(std::size_t count) {
    if (!device_->properties().unified) return std::make_shared<std::uint8_t[]>(count);
    Device* const device = device_.get();
    void* const ptr = device->Allocate(MemoryKind::kManaged, count, {});
    return {static_cast<std::uint8_t*>(ptr),
            [=](std::uint8_t* bytes) { device->Deallocate(MemoryKind::kManaged, bytes, count, {}); }};
  }

  static void ShrinkToFit(ModelBlob& blob) {
    blob.blob.ShrinkToFit();
    for (auto& part : blob.parts) {
      if (part.use_count() != 1) continue;
      part->bytes.resize(blob.count);
      part->capacity = blob.count;
    }
  }

  std::mt19937 random_;
  std::unique_ptr<Device> device_;
  std::vector<Stream> streams_;
  std::vector<std::shared_ptr<std::uint8_t[]>> lent_;
  std::vector<std::unique_ptr<ModelBlob>> blobs_;
  std::uint8_t version_ = 0;
  std::string wrong_;
  std::ostringstream steps_;
};

TEST_CASE("a random walk over blobs never meets a wrong byte, a misuse or a leak") {
  const auto walks = static_cast<unsigned>(4000 * Scale());
  for (unsigned seed = 0; seed < walks; ++seed) {
    const sim::Options machine{.seed = seed, .unified = seed % 4 == 3, .pageable_late = seed % 2 == 1};
    INFO("seed " << seed);
    REQUIRE(BlobWalk(machine, seed % 3 == 0).Run(60) == "");
  }
  std::printf("%u walks of 60 steps, of 4000\n", walks);
}

}  // namespace
}  // namespace ferry::testing
