// SPDX-License-Identifier: BSD-2-Clause
// What does a Blob cost beside its elements, and a copy of them beside memcpy?
#include "ferry/blob.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "bench/compare.hpp"

namespace {

using ferry::Blob;

/// The least that Caffe's Blob does: a shape, its product, and two memories that are not touched.
class Plain {
 public:
  explicit Plain(const std::vector<int>& shape) { Reshape(shape); }

  void Reshape(const std::vector<int>& shape) {
    shape_.resize(shape.size());
    count_ = 1;
    for (std::size_t i = 0; i < shape.size(); ++i) count_ *= shape_[i] = shape[i];
    if (count_ <= capacity_) return;
    capacity_ = count_;
    data_ = std::make_shared<Memory>();
    diff_ = std::make_shared<Memory>();
  }

 private:
  struct Memory {
    void *cpu = nullptr, *gpu = nullptr;
  };
  std::vector<int> shape_;
  std::int64_t count_ = 0, capacity_ = 0;
  std::shared_ptr<Memory> data_, diff_;
};

void Shapes(ferry::Device& host) {
  const std::vector<int> shape{64, 3, 224, 224};
  static Blob<float> blob(shape, host), changing(shape, host);
  static Plain plain(shape);
  const auto reference = [shape] { plain.Reshape(shape); };
  bench::Compare(
      "Reshape to the same shape, at most 10 ns", 0,
      [] {
        blob.Reshape({64, 3, 224, 224});
      },
      reference);
  bench::Compare(
      "Reshape to the same vector<int>, at most 10 ns", 0, [shape] { blob.Reshape(shape); }, reference);
  bench::Compare(
      "Reshape to half and back", 0,
      [] {
        changing.Reshape({32, 3, 224, 224});
        changing.Reshape({64, 3, 224, 224});
      },
      [shape, half = std::vector<int>{32, 3, 224, 224}] {
        plain.Reshape(half);
        plain.Reshape(shape);
      });
  bench::Compare(
      "construct, shape, destroy, at most 150 ns", 0,
      [&host] {
        benchmark::DoNotOptimize(Blob<float>({64, 3, 224, 224}, host).data().get());
      },
      [] {
        const Plain made({64, 3, 224, 224});
        benchmark::DoNotOptimize(&made);
      });
}

void Copies(ferry::Device& host, std::size_t bytes, const std::string& size) {
  const auto filled = [&](int value) {
    auto blob = std::make_shared<Blob<char>>(ferry::Shape{static_cast<std::int64_t>(bytes)}, host);
    std::memset(blob->overwrite_cpu_data(), value, bytes);
    return blob;
  };
  const auto source = filled(1), destination = filled(2);
  const char* const from = source->cpu_data();
  char* const to = destination->mutable_cpu_data();
  bench::Compare(
      "CopyFrom, memcpy/" + size, 0.95, [=] { destination->CopyFrom(*source); },
      [=] { std::memcpy(to, from, bytes); });
}

}  // namespace

int main(int argc, char** argv) {
  ferry::Device& host = ferry::GetDevice("host");
  Shapes(host);
  Copies(host, 64U << 10, "64KiB");
  Copies(host, 64U << 20, "64MiB");
  return bench::Run(argc, argv);
}
