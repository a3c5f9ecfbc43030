// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/layers/layers.hpp"
#include "core/nets/layers/loss_layer.hpp"

namespace ferry::detail {
namespace {

/// The sum of (a - b)^2, divided by twice the first dim.
///
/// Bottoms: a and b, with the same first dim and the same count.
/// Tops: the loss, of weight 1 unless the layer says otherwise.
/// Gradient: (a - b) divided by the first dim; for b its negative. Both bottoms get one.
/// Caffe: refuses more than 4 axes.
template <class T>
class EuclideanLossLayer : public LossLayer<T> {
 public:
  using LossLayer<T>::LossLayer;
  using typename LossLayer<T>::Blobs;

  const char* type() const override { return "EuclideanLoss"; }
  bool AllowForceBackward(int /*bottom*/) const override { return true; }

  void LayerSetUp(const Blobs& bottom, const Blobs& top) override {
    LossLayer<T>::LayerSetUp(bottom, top);
    difference_ = Blob<T>(this->place().device());
  }
  void Reshape(const Blobs& bottom, const Blobs& top) override {
    LossLayer<T>::Reshape(bottom, top);
    if (bottom[0]->count(1) != bottom[1]->count(1))
      this->Fail("bottoms 0 and 1 have shapes " + bottom[0]->shape_string() + " and " +
                 bottom[1]->shape_string() + "; their counts must be equal");
    difference_.ReshapeLike(*bottom[0]);
  }

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    this->sum_.Compute(
        place, bottom[0]->count(), {false, static_cast<double>(bottom[0]->shape(0))}, *top[0],
        KOKKOS_LAMBDA(std::int64_t i, Tally & tally, const T* a, const T* b, T* difference) {
          difference[i] = a[i] - b[i];
          const auto d = static_cast<double>(difference[i]);
          tally.sum += d * d / 2;
        },
        Read(*bottom[0]), Read(*bottom[1]), Overwrite(difference_));
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    const Blob<T>& factor = this->sum_.Scale(place, *top[0]);
    for (std::size_t i = 0; i < 2; ++i)
      if (propagate_down[i]) Gradient(place, i == 0 ? T(1) : T(-1), factor, *bottom[i]);
  }

  void Gradient(const Place& place, T sign, const Blob<T>& factor, Blob<T>& of) {
    ParallelFor(
        place, of.count(), Read(difference_), Read(factor), Overwrite(Diff(of)),
        KOKKOS_LAMBDA(std::int64_t i, const T* difference, const T* scale, T* da) {
          da[i] = sign * scale[0] * difference[i];
        });
  }

 private:
  Blob<T> difference_;  ///< a - b, as Forward saw them
};

}  // namespace

FERRY_NETS_MAKE_LAYER(EuclideanLoss);

}  // namespace ferry::detail
