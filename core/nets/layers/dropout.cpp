// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>
#include <string>

#include "core/nets/layers/layers.hpp"
#include "core/nets/layers/neuron_layer.hpp"
#include "core/nets/philox.hpp"
#include "core/nets/vision/chunk.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

/// Elements are drawn in groups, for which there is a block of random bits for each lane. Word w of lane l is
/// for element w * kDrawLanes + l of the group. So a CPU computes neighbouring elements as vectors, and a GPU
/// by neighbouring threads.
constexpr int kDrawLanes = 16, kDrawWords = 4, kDrawGroup = kDrawLanes * kDrawWords;

/// What decides which elements stay.
template <class T>
struct Draw {
  Philox random;
  std::uint32_t dropped;  ///< so many of 2^32 numbers
  T factor;

  KOKKOS_FORCEINLINE_FUNCTION bool Stays(std::uint32_t bits) const { return bits >= dropped; }
  KOKKOS_FORCEINLINE_FUNCTION T Factor(std::uint32_t bits) const { return Stays(bits) ? factor : T(0); }
};

/// An index has `kAtOnce` lanes of one group.
template <class T, int kAtOnce>
struct Drop {
  Draw<T> draw;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t index, const T* x, T* y,
                                              std::uint8_t* stays) const {
    const std::int64_t lane = index * kAtOnce;
    std::uint32_t bits[kDrawWords][kAtOnce];
    for (int j = 0; j < kAtOnce; ++j) {
      const Philox::Block block = draw.random.At(static_cast<std::uint64_t>(lane + j));
      for (int word = 0; word < kDrawWords; ++word) bits[word][j] = block.word[word];
    }
    const std::int64_t first = lane / kDrawLanes * kDrawGroup + lane % kDrawLanes;
    for (int word = 0; word < kDrawWords; ++word) {
      const std::int64_t at = first + std::int64_t{word} * kDrawLanes;
      T kept[kAtOnce];  // y may be x
      for (int j = 0; j < kAtOnce; ++j) kept[j] = x[at + j] * draw.Factor(bits[word][j]);
      for (int j = 0; j < kAtOnce; ++j) y[at + j] = kept[j];
      for (int j = 0; j < kAtOnce; ++j) stays[at + j] = draw.Stays(bits[word][j]) ? 1 : 0;
    }
  }
};

/// The elements behind the last whole group.
template <class T>
struct DropRest {
  Draw<T> draw;
  std::int64_t first;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, const T* x, T* y, std::uint8_t* stays) const {
    const std::int64_t at = first + i;
    const Philox::Block block =
        draw.random.At(static_cast<std::uint64_t>(first / kDrawWords + i % kDrawLanes));
    const std::uint32_t bits = block.word[i / kDrawLanes];
    y[at] = x[at] * draw.Factor(bits);
    stays[at] = draw.Stays(bits) ? 1 : 0;
  }
};

/// In training, y = 0 with probability dropout_ratio, for each element anew in each pass, and
/// x / (1 - dropout_ratio) otherwise; in testing, y = x.
///
/// Parameters: dropout_param { dropout_ratio: 0.5 }, from 0 to less than 1.
/// Bottoms: 1, of any shape.
/// Tops: 1, of that shape; may be the bottom.
/// Gradient: of the last pass forward.
/// Caffe: a build without checks takes a ratio of 1, and its tops are not numbers.
template <class T>
class DropoutLayer : public NeuronLayer<T> {
 public:
  using NeuronLayer<T>::NeuronLayer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Dropout"; }
  void LayerSetUp(const Blobs& /*bottom*/, const Blobs& /*top*/) override {
    const float ratio = Ratio();
    const bool possible = ratio >= 0 && ratio < 1;  // and a number
    if (!possible)
      this->Fail("dropout_ratio is " + std::to_string(ratio) + "; it is 0 or more, and less than 1");
  }

  void Reshape(const Blobs& bottom, const Blobs& top) override {
    NeuronLayer<T>::Reshape(bottom, top);
    if (this->phase_ != TRAIN) return;
    if (&stays_.device() != &bottom[0]->device()) stays_ = Blob<std::uint8_t>(bottom[0]->device());
    stays_.Reshape({bottom[0]->count()});
  }

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    if (this->phase_ != TRAIN) return Pass(place, *bottom[0], *top[0]);
    const auto dropped = static_cast<std::uint32_t>(std::ldexp(static_cast<double>(Ratio()), 32));
    const Draw<T> draw{Philox(this->random_key()), dropped, Factor()};
    const std::int64_t groups = bottom[0]->count() / kDrawGroup, rest = bottom[0]->count() % kDrawGroup;
    if (OnGpuThreads(place))
      ParallelFor(place, groups * kDrawLanes, Read(*bottom[0]), Overwrite(*top[0]), Overwrite(stays_),
                  Drop<T, 1>{draw});
    else
      ParallelFor(place, groups, Read(*bottom[0]), Overwrite(*top[0]), Overwrite(stays_),
                  Drop<T, kDrawLanes>{draw});
    if (rest != 0)
      ParallelFor(place, rest, Read(*bottom[0]), ReadWrite(*top[0]), ReadWrite(stays_),
                  DropRest<T>{draw, groups * kDrawGroup});
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    if (!propagate_down[0]) return;
    if (this->phase_ != TRAIN) return Pass(place, Diff(*top[0]), Diff(*bottom[0]));
    const T factor = Factor();
    ParallelFor(
        place, stays_.count(), Read(stays_), Read(Diff(*top[0])), Overwrite(Diff(*bottom[0])),
        KOKKOS_LAMBDA(std::int64_t i, const std::uint8_t* stays, const T* dy, T* dx) {
          dx[i] = dy[i] * (stays[i] != 0 ? factor : T(0));
        });
  }

 private:
  float Ratio() const { return this->layer_param().dropout_param().dropout_ratio(); }
  T Factor() const { return static_cast<T>(1.0 / (1.0 - static_cast<double>(Ratio()))); }

  template <class X, class Y>
  static void Pass(const Place& place, X&& from, Y&& to) {
    const Part here = Read(from).part(), there = Read(to).part();
    if (here.memory != there.memory || here.range.first != there.range.first) Copy(place, from, to);
  }

  /// Of each element in the last pass forward: 1, or 0 where it was dropped.
  Blob<std::uint8_t> stays_{this->place().device()};
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Dropout);

}  // namespace ferry::detail
