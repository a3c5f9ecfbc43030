// SPDX-License-Identifier: BSD-2-Clause
// What does a layer cost besides its work? The passes of one that does none.
#include "ferry/nets/layer.hpp"

#include <benchmark/benchmark.h>

#include <vector>

#include "ferry/backend.hpp"

namespace {

using ferry::Blob;
using ferry::Place;
using ferry::Stream;

/// Keeps its shape, and does nothing.
class Empty final : public ferry::Layer<float> {
 public:
  using Layer::Layer;

  const char* type() const override { return "Empty"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }
  void Reshape(const Blobs& bottom, const Blobs& top) override { top[0]->ReshapeLike(*bottom[0]); }

 protected:
  void ForwardAt(const Place& /*place*/, const Blobs& /*bottom*/, const Blobs& /*top*/) override {}
  void BackwardAt(const Place& /*place*/, const Blobs& /*top*/, const std::vector<bool>& /*propagate_down*/,
                  const Blobs& /*bottom*/) override {}
};

/// At most 300 ns a pass are wanted.
void Pass(benchmark::State& state, const Place& place, bool forward) {
  Empty layer{ferry::LayerParameter()};
  layer.set_place(place);
  Blob<float> bottom({64, 20, 24, 24}, place.device()), top(place.device());
  const std::vector<Blob<float>*> bottoms{&bottom}, tops{&top};
  const std::vector<bool> propagate_down{true};
  layer.SetUp(bottoms, tops);
  for (auto _ : state) {
    if (forward)
      layer.Forward(bottoms, tops);
    else
      layer.Backward(tops, propagate_down, bottoms);
    benchmark::ClobberMemory();
  }
}

void ForwardOnCpu(benchmark::State& state) { Pass(state, Place::Cpu(ferry::GetDevice("host")), true); }
void BackwardOnCpu(benchmark::State& state) { Pass(state, Place::Cpu(ferry::GetDevice("host")), false); }
void ForwardOnStream(benchmark::State& state) { Pass(state, Place(Stream(ferry::GetDevice("host"))), true); }
BENCHMARK(ForwardOnCpu);
BENCHMARK(BackwardOnCpu);
BENCHMARK(ForwardOnStream);

}  // namespace
