// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>
#include <string>

#include "core/nets/layers/layers.hpp"
#include "core/nets/layers/neuron_layer.hpp"
#include "core/nets/philox.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

/// Draws which elements stay, by 32 random bits for each: an index has those of four.
template <class T>
struct Drop {
  static constexpr std::int64_t kElements = 4;

  Philox random;
  std::uint32_t dropped;  ///< so many of 2^32 numbers
  T factor;

  /// Four elements at once, which a compiler vectorises over indices.
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t index, const T* x, T* y,
                                              std::uint8_t* stays) const {
    const Philox::Block block = random.At(static_cast<std::uint64_t>(index));
    for (std::int64_t i = 0; i < kElements; ++i) {
      const bool stay = block.word[i] >= dropped;
      stays[kElements * index + i] = stay ? 1 : 0;
      y[kElements * index + i] = x[kElements * index + i] * (stay ? factor : T(0));
    }
  }
};

/// The elements behind the last four.
template <class T>
struct DropRest {
  Drop<T> drop;
  std::int64_t index;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, const T* x, T* y, std::uint8_t* stays) const {
    const std::int64_t at = Drop<T>::kElements * index + i;
    stays[at] = drop.random.At(static_cast<std::uint64_t>(index)).word[i % Drop<T>::kElements] >= drop.dropped
                    ? 1
                    : 0;
    y[at] = x[at] * (stays[at] != 0 ? drop.factor : T(0));
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
    const Drop<T> drop{Philox(this->random_key()), dropped, Factor()};
    const std::int64_t fours = bottom[0]->count() / Drop<T>::kElements;
    const std::int64_t rest = bottom[0]->count() % Drop<T>::kElements;
    ParallelFor(place, fours, Read(*bottom[0]), Overwrite(*top[0]), Overwrite(stays_), drop);
    if (rest != 0)
      ParallelFor(place, rest, Read(*bottom[0]), ReadWrite(*top[0]), ReadWrite(stays_),
                  DropRest<T>{drop, fours});
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
