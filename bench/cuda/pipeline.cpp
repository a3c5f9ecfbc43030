// SPDX-License-Identifier: BSD-2-Clause
// Are slices on three streams, each copied to the device, computed and copied back, as fast as the longest of
// the three works alone, and as the same copies by hand? A bus may be slower where bytes go both ways at
// once.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "bench/cuda/gpu.hpp"
#include "ferry/array.hpp"
#include "ferry/kernels.hpp"

namespace {

using bench::Check;
using ferry::Place;
using ferry::Side;

constexpr double kRequired = 0.95;
constexpr std::int64_t kElements = std::int64_t{64} << 20;

/// The works of a pipeline, of all slices: together, and each alone.
class Pipeline {
 public:
  Pipeline(ferry::Device& gpu, std::int64_t slices)
      : cpu_(Place::Cpu(gpu)),
        streams_{Place(ferry::Stream(gpu)), Place(ferry::Stream(gpu)), Place(ferry::Stream(gpu))},
        slices_(slices),
        x_(kElements, gpu) {
    Set(cpu_, 1, x_);
  }

  void Together() {
    benchmark::DoNotOptimize(cpu_.ReadWrite(x_).data());  // the host's bytes are the newest
    for (std::int64_t i = 0; i < slices_; ++i) {
      const Place& place = streams_[static_cast<std::size_t>(i % 3)];
      auto slice = Slice(i);
      Scale(place, 1, slice);
      slice.Prefetch(Side::kCpu, place.stream());
    }
    benchmark::DoNotOptimize(cpu_.Read(x_).data());
  }
  /// The copies of all slices on the same streams, by hand, and no kernel.
  void ByHand() {
    for (std::int64_t i = 0; i < slices_; ++i)
      for (const cudaMemcpyKind kind : {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost})
        CopySlice(kind, i, streams_[static_cast<std::size_t>(i % 3)]);
    for (const Place& place : streams_) place.stream().Synchronize();
  }
  void Up() { CopyEach(cudaMemcpyHostToDevice); }
  void Down() { CopyEach(cudaMemcpyDeviceToHost); }
  void Compute() {
    static_cast<void>(streams_[0].Read(x_));
    for (std::int64_t i = 0; i < slices_; ++i) Scale(streams_[0], 1, Slice(i));
    streams_[0].stream().Synchronize();
  }
  [[nodiscard]] std::function<void()> LongestWork() {
    const std::array<std::function<void()>, 3> works{[this] { Up(); }, [this] { Compute(); },
                                                     [this] { Down(); }};
    return *std::ranges::max_element(works, {}, [](const auto& work) {
      work();
      return bench::Seconds(3, work);
    });
  }

 private:
  ferry::Array<float> Slice(std::int64_t i) {
    const std::int64_t count = kElements / slices_;
    return x_.Slice(i * count, count);
  }
  void CopyEach(cudaMemcpyKind kind) {
    for (std::int64_t i = 0; i < slices_; ++i) CopySlice(kind, i, streams_[0]);
    streams_[0].stream().Synchronize();
  }
  void CopySlice(cudaMemcpyKind kind, std::int64_t i, const Place& place) {
    const std::size_t bytes = kBytes / static_cast<std::size_t>(slices_),
                      at = bytes * static_cast<std::size_t>(i);
    char *const here = static_cast<char*>(host_.ptr) + at, *const there =
                                                               static_cast<char*>(device_.ptr) + at;
    const bool up = kind == cudaMemcpyHostToDevice;
    Check(cudaMemcpyAsync(up ? there : here, up ? here : there, bytes, kind,
                          ferry::cuda::Native(place.stream())));
  }

  static constexpr std::size_t kBytes = kElements * sizeof(float);
  Place cpu_;
  std::array<Place, 3> streams_;
  std::int64_t slices_;
  ferry::Array<float> x_;
  bench::RawHost host_{kBytes};
  bench::RawDevice device_{kBytes};
};

}  // namespace

int main(int argc, char** argv) {
  return bench::OnGpu([&](ferry::Device& gpu) {
    for (const std::int64_t slices : {8, 32, 128}) {
      const auto pipeline = std::make_shared<Pipeline>(gpu, slices);
      const auto together = [pipeline] { pipeline->Together(); };
      const std::string of = '/' + std::to_string(slices);
      bench::Compare("a pipeline of 256MiB, its copies by hand" + of, kRequired, together,
                     [pipeline] { pipeline->ByHand(); });
      bench::Compare("a pipeline of 256MiB, its longest work alone" + of, kRequired, together,
                     [pipeline, longest = pipeline->LongestWork()] { longest(); });
    }
    return bench::Run(argc, argv);
  });
}
