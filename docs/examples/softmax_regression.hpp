// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cmath>
#include <cstdint>

#include "ferry/ferry.hpp"
#include "ferry/kokkos.hpp"

namespace fashion {

/// What the classifier thinks of one image, and how far that is from its label.
struct Judge {
  std::int64_t classes;

  /// `gradients` are of the loss, by the scores. `losses` and `hits` have a total for each position in the
  /// batch, so that no sum depends on the order of threads.
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t image, const float* scores, const std::uint8_t* labels,
                                         float* gradients, float* losses, float* hits) const {
    const float* const score = scores + image * classes;
    float* const gradient = gradients + image * classes;
    const std::int64_t label = labels[image];
    std::int64_t best = 0;
    for (std::int64_t c = 1; c < classes; ++c)
      if (score[c] > score[best]) best = c;
    float sum = 0;
    for (std::int64_t c = 0; c < classes; ++c) sum += gradient[c] = std::exp(score[c] - score[best]);
    for (std::int64_t c = 0; c < classes; ++c) gradient[c] = gradient[c] / sum - (c == label ? 1.0F : 0.0F);
    losses[image] += std::log(sum) + score[best] - score[label];
    hits[image] += best == label ? 1.0F : 0.0F;
  }
};

/// A linear classifier, trained by gradient descent on a device. What comes back from there is what is asked
/// for: weights(), and the totals, each as one number.
class SoftmaxRegression {
 public:
  /// All weights are 0. `batch` is the most images that a step may have.
  SoftmaxRegression(std::int64_t inputs, std::int64_t classes, std::int64_t batch, ferry::Device& device)
      : place_(device),
        weights_({inputs, classes}, device),
        scores_({batch, classes}, device),
        losses_({batch}, device),
        hits_({batch}, device) {}

  /// Classifies images, one a row of `inputs`, and adds to loss() and hits().
  void Forward(const ferry::Blob<float>& inputs, const ferry::Blob<std::uint8_t>& labels) {
    const std::int64_t images = inputs.shape(0);
    const std::int64_t classes = weights_.shape(1);
    scores_.Reshape({images, classes});
    {
      const ferry::TransferGuard meant(ferry::TransferPolicy::kAllow);  // a batch comes from the host
      static_cast<void>(place_.Read(inputs));
      static_cast<void>(place_.Read(labels));
    }
    ferry::Gemm(place_, kNo, kNo, images, classes, inputs.shape(1), 1, inputs, weights_, 0, scores_);
    ferry::ParallelFor(place_, images, Read(scores_), Read(labels), Overwrite(Diff(scores_)),
                       ReadWrite(losses_), ReadWrite(hits_), Judge{classes});
  }

  /// One step down the gradient of the mean loss, for the images that Forward has just classified.
  void Backward(const ferry::Blob<float>& inputs, float rate) {
    const std::int64_t images = inputs.shape(0);
    ferry::Gemm(place_, kYes, kNo, weights_.shape(0), weights_.shape(1), images,
                rate / static_cast<float>(images), inputs, Diff(scores_), 0, Diff(weights_));
    weights_.Update();
  }

  /// Totals over all images since the last ClearTotals. Summed on the device, which is waited for; nothing is
  /// copied.
  double loss() const { return losses_.asum_data(); }
  double hits() const { return hits_.asum_data(); }
  void ClearTotals() {
    for (ferry::Blob<float>* total : {&losses_, &hits_}) ferry::Set(place_, 0, *total);
  }

  const ferry::Blob<float>& weights() const { return weights_; }
  const ferry::Blob<float>& scores() const { return scores_; }
  const ferry::Blob<float>& total_losses() const { return losses_; }
  const ferry::Blob<float>& total_hits() const { return hits_; }

 private:
  static constexpr auto kNo = ferry::Transpose::kNo;
  static constexpr auto kYes = ferry::Transpose::kYes;

  ferry::Place place_;
  ferry::Blob<float> weights_;  ///< {inputs, classes}
  ferry::Blob<float> scores_;   ///< {images, classes}
  ferry::Blob<float> losses_;   ///< {batch}
  ferry::Blob<float> hits_;     ///< {batch}
};

}  // namespace fashion
