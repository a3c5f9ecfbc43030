// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <Kokkos_Core.hpp>

#include "ferry/nets/layer.hpp"

namespace ferry::detail {

/// What to add for `shift`. Caffe adds nothing where it is 0, so that -0 stays -0: 1 / -0 is another infinity
/// than 1 / 0.
template <class T>
T Addend(T shift) {
  return shift == T(0) ? -T(0) : shift;
}

/// The derivative at x of what is x above 0: 1 there, and `below` elsewhere. Caffe's sum: where x is
/// not-a-number it is 0, and where `below` is not finite, not-a-number above 0, too.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T RectifierSlope(T x, T below) {
  return static_cast<T>(x > 0) + below * static_cast<T>(x <= 0);
}

/// A layer whose top has the shape of its bottom, and an element that depends on the bottom's there. In place
/// the operands of a loop are one array, which the loop reads and writes element by element.
template <class T>
class NeuronLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }

  void Reshape(const Blobs& bottom, const Blobs& top) override { top[0]->ReshapeLike(*bottom[0]); }
};

}  // namespace ferry::detail
