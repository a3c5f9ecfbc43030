// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>

#include "core/nets/layers/channels.hpp"
#include "core/nets/layers/layers.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

/// y = (x - mean) / (sqrt(variance) + eps), with the mean and variance of each channel of each image, or of
/// each image.
///
/// Parameters: mvn_param { normalize_variance: true (without it, y = x - mean), across_channels: false,
/// eps: 1e-9 }.
/// Bottoms: 1, of up to 4 axes; axis 0 is the image, axis 1 the channel.
/// Tops: 1, of that shape with dims of 1 behind, 4 axes in all; may be the bottom, if it has 4.
/// Gradient: takes eps for 0, and so is not exact where eps is large. As in Caffe, it is computed
/// even if propagate_down is false.
/// Caffe: in place with normalize_variance, its gradient is another, in which the top's is lost.
template <class T>
class MVNLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "MVN"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }

  void LayerSetUp(const Blobs& /*bottom*/, const Blobs& /*top*/) override {
    Device& device = this->place().device();
    for (Blob<T>* const blob : {&mean_, &factor_, &shift_, &slope_}) *blob = Blob<T>(device);
    sum_ = ChannelSums<1>(device);
    sums_ = ChannelSums<2>(device);
  }

  void Reshape(const Blobs& bottom, const Blobs& top) override {
    const Blob<T>& x = *bottom[0];
    const std::int64_t rows = param().across_channels() ? x.num() : x.num() * x.channels();
    if (x.count() == 0) this->Fail("the bottom's shape is " + x.shape().ToString() + "; it has no elements");
    top[0]->Reshape(x.num(), x.channels(), x.height(), x.width());
    dims_ = {1, rows, x.count() / rows};
    for (Blob<T>* const blob : {&mean_, &factor_, &shift_, &slope_}) blob->Reshape({rows});
    sum_.Reshape(dims_);
    sums_.Reshape(dims_);
  }

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    const auto n = static_cast<double>(dims_.inner);
    sum_.Sum(
        place,
        KOKKOS_LAMBDA(std::int64_t i, std::int64_t, const T* x) {
          return Terms<1>{{static_cast<double>(x[i])}};
        },
        Read(*bottom[0]));
    ParallelFor(
        place, dims_.channels, Read(sum_.sums()), Overwrite(mean_), Overwrite(factor_),
        KOKKOS_LAMBDA(std::int64_t c, const double* sum, T* mean, T* factor) {
          mean[c] = static_cast<T>(sum[c] / n);
          factor[c] = T(1);
        });
    if (param().normalize_variance()) FindFactors(place, *bottom[0]);
    ForChannels(
        place, dims_,
        KOKKOS_LAMBDA(std::int64_t i, std::int64_t c, const T* mean, const T* factor, const T* x, T* y) {
          y[i] = (x[i] - mean[c]) * factor[c];
        },
        Read(mean_), Read(factor_), Read(*bottom[0]), Overwrite(*top[0]));
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& /*propagate_down*/,
                  const Blobs& bottom) override {
    param().normalize_variance() ? OfQuotient(place, *top[0], *bottom[0])
                                 : OfDifference(place, *top[0], *bottom[0]);
  }

  /// dx = (dy - E(dy) - y E(y dy)) * factor, where the last term is that of the variance.
  void OfQuotient(const Place& place, const Blob<T>& top, Blob<T>& bottom) {
    sums_.Sum(
        place,
        KOKKOS_LAMBDA(std::int64_t i, std::int64_t, const T* y, const T* dy) {
          const auto slope = static_cast<double>(dy[i]);
          return Terms<2>{{slope, slope * static_cast<double>(y[i])}};
        },
        Read(top), Read(Diff(top)));
    const double part = 1.0 / static_cast<double>(dims_.inner);
    sums_.Store(place, 0, shift_, Old::kOverwritten, part);
    sums_.Store(place, 1, slope_, Old::kOverwritten, part);
    ForChannels(
        place, dims_,
        KOKKOS_LAMBDA(std::int64_t i, std::int64_t c, const T* shift, const T* slope, const T* factor,
                      const T* y, const T* dy,
                      T* dx) { dx[i] = (dy[i] - shift[c] - y[i] * slope[c]) * factor[c]; },
        Read(shift_), Read(slope_), Read(factor_), Read(top), Read(Diff(top)), Overwrite(Diff(bottom)));
  }
  /// dx = dy - E(dy), a number where y is none.
  void OfDifference(const Place& place, const Blob<T>& top, Blob<T>& bottom) {
    sum_.Sum(
        place,
        KOKKOS_LAMBDA(std::int64_t i, std::int64_t, const T* dy) {
          return Terms<1>{{static_cast<double>(dy[i])}};
        },
        Read(Diff(top)));
    sum_.Store(place, 0, shift_, Old::kOverwritten, 1.0 / static_cast<double>(dims_.inner));
    ForChannels(
        place, dims_,
        KOKKOS_LAMBDA(std::int64_t i, std::int64_t c, const T* shift, const T* dy, T* dx) {
          dx[i] = dy[i] - shift[c];
        },
        Read(shift_), Read(Diff(top)), Overwrite(Diff(bottom)));
  }

  void FindFactors(const Place& place, const Blob<T>& bottom) {
    const auto n = static_cast<double>(dims_.inner);
    const T eps = static_cast<T>(param().eps());
    sum_.Sum(
        place,
        KOKKOS_LAMBDA(std::int64_t i, std::int64_t c, const T* mean, const T* x) {
          const auto difference = static_cast<double>(x[i] - mean[c]);
          return Terms<1>{{difference * difference}};
        },
        Read(mean_), Read(bottom));
    ParallelFor(
        place, dims_.channels, Read(sum_.sums()), Overwrite(factor_),
        KOKKOS_LAMBDA(std::int64_t c, const double* squares, T* factor) {
          factor[c] = T(1) / (std::sqrt(static_cast<T>(squares[c] / n)) + eps);
        });
  }

 private:
  const MVNParameter& param() const { return this->layer_param().mvn_param(); }

  Channels dims_;
  Blob<T> mean_, factor_;  ///< y = (x - mean) * factor
  Blob<T> shift_, slope_;  ///< of the gradient
  ChannelSums<1> sum_;
  ChannelSums<2> sums_;
};

}  // namespace

FERRY_NETS_MAKE_LAYER(MVN);

}  // namespace ferry::detail
