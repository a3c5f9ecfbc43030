// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/layers/layers.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

/// y_i = x: one blob for several layers. A net adds this layer wherever a top has more than one reader.
///
/// Bottoms: 1, of any shape.
/// Tops: 1 or more, of that shape; they share the bottom's data, and have diffs of their own.
/// Gradient: the sum of those of the tops.
template <class T>
class SplitLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Split"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int MinTopBlobs() const override { return 1; }

  void Reshape(const Blobs& bottom, const Blobs& top) override {
    this->RequireApart(bottom, top);
    for (Blob<T>* const blob : top) blob->ReshapeLike(*bottom[0]);
  }

  void ForwardAt(const Place& /*place*/, const Blobs& bottom, const Blobs& top) override {
    for (Blob<T>* const blob : top) blob->ShareData(*bottom[0]);
  }

  /// One pass over memory for up to three tops.
  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    if (!propagate_down[0]) return;
    Blob<T>& sum = *bottom[0];
    if (top.size() == 1) return Copy(place, Diff(*top[0]), Diff(sum));
    if (top.size() == 2) {
      ParallelFor(
          place, sum.count(), Read(Diff(*top[0])), Read(Diff(*top[1])), Overwrite(Diff(sum)),
          KOKKOS_LAMBDA(std::int64_t i, const T* a, const T* b, T* dx) { dx[i] = a[i] + b[i]; });
      return;
    }
    ParallelFor(
        place, sum.count(), Read(Diff(*top[0])), Read(Diff(*top[1])), Read(Diff(*top[2])),
        Overwrite(Diff(sum)), KOKKOS_LAMBDA(std::int64_t i, const T* a, const T* b, const T* c, T* dx) {
          dx[i] = a[i] + b[i] + c[i];
        });
    for (std::size_t i = 3; i < top.size(); ++i) Axpy(place, T(1), Diff(*top[i]), Diff(sum));
  }
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Split);

}  // namespace ferry::detail
