// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>
#include <string>

#include "core/nets/layers/layers.hpp"
#include "core/nets/layers/neuron_layer.hpp"
#include "core/nets/philox.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

/// y = x times 0 or a factor, by 32 random bits for each element: an index has those of four.
template <class T>
struct DropoutMask {
  static constexpr std::int64_t kElements = 4;

  DropoutMask(const RandomKey& key, float ratio, std::int64_t n)
      : random(key),
        dropped(static_cast<std::uint32_t>(std::ldexp(static_cast<double>(ratio), 32))),
        factor(static_cast<T>(1.0 / (1.0 - static_cast<double>(ratio)))),
        count(n) {}

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t index, const T* x, T* y) const {
    const Philox::Block block = random.At(static_cast<std::uint64_t>(index));
    const std::int64_t first = index * kElements;
    const std::int64_t end = first + kElements < count ? first + kElements : count;
    for (std::int64_t i = first; i < end; ++i)
      y[i] = x[i] * (block.word[i - first] < dropped ? T(0) : factor);
  }

  Philox random;
  std::uint32_t dropped;  ///< so many of 2^32 numbers
  T factor;
  std::int64_t count;
};

/// In training, y = 0 with probability dropout_ratio, for each element anew in each pass, and
/// x / (1 - dropout_ratio) otherwise; in testing, y = x.
///
/// Parameters: dropout_param { dropout_ratio: 0.5 }, from 0 to less than 1.
/// Bottoms: 1, of any shape.
/// Tops: 1, of that shape; may be the bottom.
/// Gradient: of the last pass forward.
/// Caffe: keeps the mask in memory; a build without checks takes a ratio of 1, and its tops are not numbers.
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

 protected:
  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    last_ = this->random_key();
    Drop(place, *bottom[0], *top[0]);
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    if (propagate_down[0]) Drop(place, Diff(*top[0]), Diff(*bottom[0]));
  }

 private:
  float Ratio() const { return this->layer_param().dropout_param().dropout_ratio(); }

  /// The same function for data and gradients. It draws the mask again instead of keeping it.
  template <class X, class Y>
  void Drop(const Place& place, X&& from, Y&& to) {
    const std::int64_t count = Read(from).count();
    if (this->phase_ == TRAIN)
      ParallelFor(place, (count + kDrawn - 1) / kDrawn, Read(from), Overwrite(to),
                  DropoutMask<T>(last_, Ratio(), count));
    else if (Read(from).part().memory != Read(to).part().memory)
      Copy(place, from, to);
  }

  static constexpr std::int64_t kDrawn = DropoutMask<T>::kElements;

  RandomKey last_{};  ///< of the last pass forward
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Dropout);

}  // namespace ferry::detail
