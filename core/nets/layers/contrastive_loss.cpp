// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>

#include "core/nets/layers/layers.hpp"
#include "core/nets/layers/loss_layer.hpp"

namespace ferry::detail {
namespace {

/// The square of the distance of a and b, and a - b. Sums side by side, so that a processor's vectors hold
/// them.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T SquaredDistance(const T* a, const T* b, std::int64_t n, T* difference) {
  constexpr int kLanes = 16;
  T sums[kLanes] = {};
  const auto add = [&](std::int64_t i, int lane) {
    difference[i] = a[i] - b[i];
    sums[lane] += difference[i] * difference[i];
  };
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) add(i + lane, lane);
  for (int lane = 0; i + lane < n; ++lane) add(i + lane, lane);
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int lane = 0; lane < width; ++lane) sums[lane] += sums[lane + width];
  return sums[0];
}

/// The sum over pairs, divided by twice their number, of d^2 for similar ones and max(margin - d, 0)^2 for
/// the others, where d is the distance of a and b; for legacy_version of max(margin - d^2, 0).
///
/// Parameters: contrastive_loss_param { margin: 1, legacy_version: false }.
/// Bottoms: a and b, num x channels (x 1 x 1); one label a pair, which says that it is similar unless it is 0
/// when truncated to an integer.
/// Tops: the loss, of weight 1 unless the layer says otherwise.
/// Gradient: of dissimilar pairs divided by d + 1e-4 in place of d, and 0 unless d is less than the margin,
/// be it not-a-number; the labels get none, wanted or not.
/// Caffe: takes more labels than pairs, and checks the number of channels at setup only. Its BLAS decides
/// what loss_weight: 0 makes of a gradient that is infinite or not-a-number; here both become not-a-number.
template <class T>
class ContrastiveLossLayer : public LossLayer<T> {
 public:
  using LossLayer<T>::LossLayer;
  using typename LossLayer<T>::Blobs;

  const char* type() const override { return "ContrastiveLoss"; }
  int ExactNumBottomBlobs() const override { return 3; }
  bool AllowForceBackward(int bottom) const override { return bottom != 2; }

  void LayerSetUp(const Blobs& bottom, const Blobs& top) override {
    LossLayer<T>::LayerSetUp(bottom, top);
    weight_ = Blob<T>(this->place().device());
    difference_ = Blob<T>(this->place().device());
  }
  void Reshape(const Blobs& bottom, const Blobs& top) override {
    LossLayer<T>::Reshape(bottom, top);
    const auto is_matrix = [](const Blob<T>& blob) { return blob.height() == 1 && blob.width() == 1; };
    if (!is_matrix(*bottom[0]) || !is_matrix(*bottom[1]) || bottom[0]->channels() != bottom[1]->channels())
      this->Fail("bottoms 0 and 1 have shapes " + bottom[0]->shape_string() + " and " +
                 bottom[1]->shape_string() + "; both must be num x channels, or num x channels x 1 x 1");
    if (bottom[2]->num() != bottom[0]->num() || bottom[2]->count() != bottom[2]->num())
      this->Fail("bottom 2 has shape " + bottom[2]->shape_string() + "; it takes one label for each of " +
                 std::to_string(bottom[0]->num()) + " pairs");
    weight_.Reshape({bottom[0]->num()});
    difference_.ReshapeLike(*bottom[0]);
  }

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    const auto& param = this->layer_param().contrastive_loss_param();
    const T margin = static_cast<T>(param.margin());
    const bool legacy = param.legacy_version();
    const std::int64_t channels = bottom[0]->channels();
    this->sum_.Compute(
        place, bottom[0]->num(), {false, static_cast<double>(bottom[0]->num())}, *top[0],
        KOKKOS_LAMBDA(std::int64_t n, Tally & tally, const T* a, const T* b, const T* similar, T* weight,
                      T* difference) {
          const std::int64_t first = n * channels;
          const T square = SquaredDistance(a + first, b + first, channels, difference + first);
          if (std::abs(similar[n]) >= 1) {
            tally.sum += static_cast<double>(square) / 2;
            weight[n] = 1;
            return;
          }
          const T d = std::sqrt(square);
          const T lack = margin - (legacy ? square : d);
          const T lost = lack < 0 ? T(0) : lack;  // where the distance is not-a-number, that
          tally.sum += static_cast<double>(legacy ? lost : lost * lost) / 2;
          weight[n] = !(lack > 0) ? T(0) : legacy ? T(-1) : -lack / (d + T(1e-4));
        },
        Read(*bottom[0]), Read(*bottom[1]), Read(*bottom[2]), Overwrite(weight_), Overwrite(difference_));
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    const Blob<T>& factor = this->sum_.Scale(place, *top[0]);
    for (std::size_t i = 0; i < 2; ++i)
      if (propagate_down[i]) Gradient(place, i == 0 ? T(1) : T(-1), factor, *bottom[i]);
  }

  void Gradient(const Place& place, T sign, const Blob<T>& factor, Blob<T>& of) {
    const std::int64_t num = of.num();
    const std::int64_t channels = of.channels();
    ParallelFor(
        place, {num, channels}, Read(difference_, {num, channels}), Read(weight_, {num}), Read(factor, {2}),
        Overwrite(Diff(of), {num, channels}),
        KOKKOS_LAMBDA(std::int64_t n, std::int64_t c, View<const T, 2> difference, View<const T, 1> weight,
                      View<const T, 1> scale, View<T, 2> da) {
          const T slope = sign * scale(0) * weight(n) * difference(n, c);
          da(n, c) = weight(n) == 0 ? T(0) : slope;  // the distance may be infinite
        });
  }

 private:
  Blob<T> difference_;  ///< a - b, as Forward saw them
  Blob<T> weight_;      ///< by which a pair's difference is multiplied in the gradient
};

}  // namespace

FERRY_NETS_MAKE_LAYER(ContrastiveLoss);

}  // namespace ferry::detail
