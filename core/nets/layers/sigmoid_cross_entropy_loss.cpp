// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>

#include "core/nets/layers/layers.hpp"
#include "core/nets/layers/loss_layer.hpp"

namespace ferry::detail {
namespace {

/// The sum of -t log(s) - (1 - t) log(1 - s), divided by the normalizer, where s = 1 / (1 + exp(-x)),
/// computed without overflow; not-a-number where x is infinite. Elements whose target, truncated to an
/// integer, is ignore_label do not count.
///
/// Parameters: loss_param { ignore_label: none, normalization: BATCH_SIZE (FULL, VALID, NONE), normalize: for
/// VALID (true) and BATCH_SIZE (false) }.
/// Bottoms: x; targets t, as many, usually from 0 to 1.
/// Tops: the loss, of weight 1 unless the layer says otherwise.
/// Gradient: s - t, and 0 where the target is ignored; the targets have none.
/// Caffe: the loss is not-a-number, too, where x is so far below 0 that 2 x is no longer finite.
template <class T>
class SigmoidCrossEntropyLossLayer : public LossLayer<T> {
 public:
  using LossLayer<T>::LossLayer;
  using typename LossLayer<T>::Blobs;

  const char* type() const override { return "SigmoidCrossEntropyLoss"; }

  void LayerSetUp(const Blobs& bottom, const Blobs& top) override {
    LossLayer<T>::LayerSetUp(bottom, top);
    gradient_ = Blob<T>(this->place().device());
    const LossParameter& param = this->layer_param().loss_param();
    mode_ = LossParameter::BATCH_SIZE;
    if (param.has_normalization())
      mode_ = param.normalization();
    else if (param.normalize())
      mode_ = LossParameter::VALID;
  }
  void Reshape(const Blobs& bottom, const Blobs& top) override {
    LossLayer<T>::Reshape(bottom, top);
    if (bottom[0]->count() != bottom[1]->count())
      this->Fail("bottoms 0 and 1 have shapes " + bottom[0]->shape_string() + " and " +
                 bottom[1]->shape_string() + "; their counts must be equal");
    gradient_.ReshapeLike(*bottom[0]);
  }

  /// Computes the gradient, too, which needs the same exponential.
  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    const Labels targets = this->LabelsFor(std::int64_t{0});
    this->sum_.Compute(
        place, bottom[0]->count(), this->DivisorFor(mode_, bottom[0]->shape(0), bottom[0]->count(1)), *top[0],
        KOKKOS_LAMBDA(std::int64_t i, Tally & tally, const T* x, const T* target, T* gradient) {
          if (targets.Class(target[i]) == Labels::kIgnored) {
            gradient[i] = 0;
            return;
          }
          const bool positive = x[i] >= 0;
          const T e = std::exp(positive ? -x[i] : x[i]);
          // 0 times infinity is not-a-number, which is what Caffe's loss of infinity is.
          const T log = std::log1p(e) + T(0) * x[i];
          tally.sum += static_cast<double>(log - x[i] * (target[i] - (positive ? T(1) : T(0))));
          tally.count += 1;
          gradient[i] = (positive ? T(1) : e) / (1 + e) - target[i];
        },
        Read(*bottom[0]), Read(*bottom[1]), Overwrite(gradient_));
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    this->RefuseGradient(propagate_down, 1);
    if (!propagate_down[0]) return;
    ParallelFor(
        place, gradient_.count(), Read(gradient_), Read(this->sum_.Scale(place, *top[0])),
        Overwrite(Diff(*bottom[0])), KOKKOS_LAMBDA(std::int64_t i, const T* gradient, const T* scale, T* dx) {
          dx[i] = scale[0] * gradient[i];
        });
  }

 private:
  LossParameter::NormalizationMode mode_ = LossParameter::BATCH_SIZE;
  Blob<T> gradient_;  ///< of the sum
};

}  // namespace

FERRY_NETS_MAKE_LAYER(SigmoidCrossEntropyLoss);

}  // namespace ferry::detail
