// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>
#include <string>

#include "core/nets/layers/channels.hpp"
#include "core/nets/layers/layers.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

/// y = (x - mean) / sqrt(variance + eps) for each channel, with the mean and variance of the batch, or of the
/// training so far.
///
/// Parameters: batch_norm_param { use_global_stats: (true in TEST, false in TRAIN),
/// moving_average_fraction: 0.999, eps: 1e-5 }.
/// Weights: 0: the mean's sum (channels); 1: the variance's sum (channels); 2: what to divide them by (1).
/// A pass with the batch's statistics multiplies each by moving_average_fraction and adds the batch's, in
/// TEST, too. They start as 0, and a divisor of 0 makes both statistics 0. Their lr_mult is 0.
/// Bottoms: 1, of 2 axes or more; axis 1 is the channel.
/// Tops: 1, of that shape; may be the bottom.
/// Gradient: through the batch's statistics; none through those of the training so far. It is
/// computed from a copy of the top that Forward keeps, and, as in Caffe, even if propagate_down is false.
template <class T>
class BatchNormLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "BatchNorm"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }

  void LayerSetUp(const Blobs& bottom, const Blobs& top) override;
  void Reshape(const Blobs& bottom, const Blobs& top) override;

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override;
  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override;
  void TakeStatistics(const Place& place);
  void ComputeStatistics(const Place& place, const Blob<T>& bottom);

 private:
  bool use_global_stats_ = false;
  T fraction_{0}, eps_{0};
  std::int64_t channels_ = 0;
  Channels dims_;
  Blob<T> mean_, factor_;  ///< y = (x - mean) * factor
  Blob<T> shift_, slope_;  ///< of the gradient
  Blob<T> kept_;           ///< y, which the next layer may overwrite
  ChannelSums<1> sum_;
  ChannelSums<2> sums_;
};

template <class T>
void BatchNormLayer<T>::LayerSetUp(const Blobs& bottom, const Blobs& /*top*/) {
  const BatchNormParameter& param = this->layer_param().batch_norm_param();
  if (bottom[0]->num_axes() < 2)
    this->Fail("the bottom's shape is " + bottom[0]->shape().ToString() +
               "; it takes 2 axes or more, of which axis 1 is the channel");
  channels_ = bottom[0]->shape(1);
  use_global_stats_ = param.has_use_global_stats() ? param.use_global_stats() : this->phase_ == TEST;
  fraction_ = static_cast<T>(param.moving_average_fraction());
  eps_ = static_cast<T>(param.eps());

  Device& device = this->place().device();
  if (this->blobs_.empty())
    for (const std::int64_t count : {channels_, channels_, std::int64_t{1}}) {
      this->blobs_.push_back(std::make_shared<Blob<T>>(Shape({count}), device));
      Set(this->place(), T(0), *this->blobs_.back());
    }
  if (this->blobs_.size() != 3 || this->blobs_[0]->count() != channels_ ||
      this->blobs_[1]->count() != channels_ || this->blobs_[2]->count() != 1)
    this->Fail("its blobs do not fit the bottom, of shape " + bottom[0]->shape().ToString() +
               "; it takes 3, of " + std::to_string(channels_) + ", as many and 1 elements");
  for (int i = 0; i < 3; ++i) {
    if (this->layer_param_.param_size() == i) this->layer_param_.add_param()->set_lr_mult(0);
    if (const float rate = this->layer_param_.param(i).lr_mult(); rate != 0)
      this->Fail("param " + std::to_string(i) + " has lr_mult " + std::to_string(rate) +
                 "; a solver must not change statistics, so it is 0");
  }
  for (Blob<T>* const blob : {&mean_, &factor_, &shift_, &slope_, &kept_}) *blob = Blob<T>(device);
  sum_ = ChannelSums<1>(device);
  sums_ = ChannelSums<2>(device);
}

template <class T>
void BatchNormLayer<T>::Reshape(const Blobs& bottom, const Blobs& top) {
  if (bottom[0]->num_axes() < 2 || bottom[0]->shape(1) != channels_)
    this->Fail("the bottom's shape is now " + bottom[0]->shape().ToString() + "; it was set up for " +
               std::to_string(channels_) + " channels, in axis 1");
  top[0]->ReshapeLike(*bottom[0]);
  dims_ = {bottom[0]->shape(0), channels_, bottom[0]->count(2)};
  for (Blob<T>* const blob : {&mean_, &factor_, &shift_, &slope_}) blob->Reshape({channels_});
  if (use_global_stats_) return;
  if (bottom[0]->count() == 0)
    this->Fail("the bottom's shape is " + bottom[0]->shape().ToString() +
               "; a batch without elements has no mean");
  kept_.ReshapeLike(*bottom[0]);
  sum_.Reshape(dims_);
  sums_.Reshape(dims_);
}

template <class T>
void BatchNormLayer<T>::TakeStatistics(const Place& place) {
  const T eps = eps_;
  ParallelFor(
      place, channels_, Read(*this->blobs_[0]), Read(*this->blobs_[1]), Read(*this->blobs_[2]),
      Overwrite(mean_), Overwrite(factor_),
      KOKKOS_LAMBDA(std::int64_t c, const T* means, const T* variances, const T* divisor, T* mean,
                    T* factor) {
        const T scale = divisor[0] == T(0) ? T(0) : T(1) / divisor[0];
        mean[c] = means[c] * scale;
        factor[c] = T(1) / std::sqrt(variances[c] * scale + eps);
      });
}

template <class T>
void BatchNormLayer<T>::ComputeStatistics(const Place& place, const Blob<T>& bottom) {
  const auto n = static_cast<double>(dims_.outer * dims_.inner);
  sum_.Sum(
      place,
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t, const T* x) {
        return Terms<1>{{static_cast<double>(x[i])}};
      },
      Read(bottom));
  ParallelFor(
      place, channels_, Read(sum_.sums()), Overwrite(mean_),
      KOKKOS_LAMBDA(std::int64_t c, const double* sum, T* mean) { mean[c] = static_cast<T>(sum[c] / n); });
  sum_.Sum(
      place,
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t c, const T* x, const T* mean) {
        const auto difference = static_cast<double>(x[i] - mean[c]);
        return Terms<1>{{difference * difference}};
      },
      Read(bottom), Read(mean_));
  const T eps = eps_;
  const T fraction = fraction_;
  const double unbiased = n > 1 ? n / (n - 1) : 1;
  ParallelFor(
      place, channels_, Read(sum_.sums()), Read(mean_), ReadWrite(*this->blobs_[0]),
      ReadWrite(*this->blobs_[1]), ReadWrite(*this->blobs_[2]), Overwrite(factor_),
      KOKKOS_LAMBDA(std::int64_t c, const double* squares, const T* mean, T* means, T* variances, T* divisor,
                    T* factor) {
        const double variance = squares[c] / n;
        means[c] = mean[c] + fraction * means[c];
        variances[c] = static_cast<T>(unbiased * variance) + fraction * variances[c];
        if (c == 0) divisor[0] = T(1) + fraction * divisor[0];
        factor[c] = T(1) / std::sqrt(static_cast<T>(variance) + eps);
      });
}

template <class T>
void BatchNormLayer<T>::ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) {
  if (use_global_stats_) {
    TakeStatistics(place);
    ForChannels(
        place, dims_,
        KOKKOS_LAMBDA(std::int64_t i, std::int64_t c, const T* mean, const T* factor, const T* x, T* y) {
          y[i] = (x[i] - mean[c]) * factor[c];
        },
        Read(mean_), Read(factor_), Read(*bottom[0]), Overwrite(*top[0]));
  } else {
    ComputeStatistics(place, *bottom[0]);
    ForChannels(
        place, dims_,
        KOKKOS_LAMBDA(std::int64_t i, std::int64_t c, const T* mean, const T* factor, const T* x, T* y,
                      T* kept) { y[i] = kept[i] = (x[i] - mean[c]) * factor[c]; },
        Read(mean_), Read(factor_), Read(*bottom[0]), Overwrite(*top[0]), Overwrite(kept_));
  }
}

/// With z for the top: dx = (dy - E(dy) - z E(z dy)) * factor.
template <class T>
void BatchNormLayer<T>::BackwardAt(const Place& place, const Blobs& top,
                                   const std::vector<bool>& /*propagate_down*/, const Blobs& bottom) {
  if (use_global_stats_) {
    ForChannels(
        place, dims_,
        KOKKOS_LAMBDA(std::int64_t i, std::int64_t c, const T* factor, const T* dy, T* dx) {
          dx[i] = dy[i] * factor[c];
        },
        Read(factor_), Read(Diff(*top[0])), Overwrite(Diff(*bottom[0])));
    return;
  }
  sums_.Sum(
      place,
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t, const T* z, const T* dy) {
        const auto slope = static_cast<double>(dy[i]);
        return Terms<2>{{slope, slope * static_cast<double>(z[i])}};
      },
      Read(kept_), Read(Diff(*top[0])));
  const double part = 1.0 / static_cast<double>(dims_.outer * dims_.inner);
  sums_.Store(place, 0, shift_, Old::kOverwritten, part);
  sums_.Store(place, 1, slope_, Old::kOverwritten, part);
  ForChannels(
      place, dims_,
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t c, const T* shift, const T* slope, const T* factor,
                    const T* z, const T* dy,
                    T* dx) { dx[i] = (dy[i] - shift[c] - z[i] * slope[c]) * factor[c]; },
      Read(shift_), Read(slope_), Read(factor_), Read(kept_), Read(Diff(*top[0])),
      Overwrite(Diff(*bottom[0])));
}

}  // namespace

FERRY_NETS_MAKE_LAYER(BatchNorm);

}  // namespace ferry::detail
