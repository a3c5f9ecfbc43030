// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/lrn.hpp"

#include <cstdint>
#include <limits>
#include <string>

#include "core/nets/layers/layers.hpp"
#include "core/nets/vision/pooling.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

/// Local response normalisation. ACROSS_CHANNELS: y = x / (k + alpha / local_size * s)^beta, where s is the
/// sum of squares at the same pixel over local_size channels, x's in the middle. WITHIN_CHANNEL:
/// y = x / (1 + alpha * m)^beta, where m is the mean of squares over local_size x local_size pixels around x,
/// of which those in the padding count as 0.
///
/// Parameters: lrn_param { local_size: 5, which must be odd; alpha: 1; beta: 0.75; norm_region:
/// ACROSS_CHANNELS; k: 1, for ACROSS_CHANNELS alone }. engine makes no difference.
/// Bottoms: 1, images x channels x height x width.
/// Tops: 1, of that shape; may be the bottom where no gradient is asked for.
/// Gradient: as in Caffe, it is computed even if propagate_down is false, across channels.
/// Caffe: in place, the top is (k + alpha / local_size * s)^(-2 beta) for ACROSS_CHANNELS, as x is gone, and
/// the gradient is of something else; here the top is what it is apart, and a gradient is refused.
template <class T>
class LRNLayer final : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "LRN"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }

  void LayerSetUp(const Blobs& /*bottom*/, const Blobs& /*top*/) override {
    const LRNParameter& param = this->layer_param().lrn_param();
    constexpr std::uint32_t kMost = std::numeric_limits<std::int32_t>::max();
    if (param.local_size() % 2 != 1 || param.local_size() > kMost)
      this->Fail("local_size is " + std::to_string(param.local_size()) + "; it must be odd, and at most " +
                 std::to_string(kMost));
    factors_ = {static_cast<T>(param.alpha()), static_cast<T>(param.beta()), static_cast<T>(param.k())};
  }

  void Reshape(const Blobs& bottom, const Blobs& top) override {
    const Blob<T>& x = *bottom[0];
    if (x.num_axes() != 4)
      this->Fail("the bottom has shape " + x.shape_string() +
                 "; it must have 4 axes: images, channels, height, width");
    top[0]->ReshapeLike(x);
    if (&sums_.device() != &x.device()) sums_ = Blob<T>(x.device());
    sums_.ReshapeLike(x);
    const std::int64_t window = this->layer_param().lrn_param().local_size();
    if (&work_.device() != &x.device()) work_ = Blob<T>(x.device());
    if (!Across() || bottom[0] == top[0]) work_.ReshapeLike(x);
    if (Across()) {
      across_ = {x.shape(0), x.shape(1), x.count(2), window};
      return;
    }
    within_.planes = x.count(0, 2);
    for (auto [axis, size] : {std::pair(&within_.h, x.shape(2)), std::pair(&within_.w, x.shape(3))}) {
      axis->kernel = window;
      axis->pad = window / 2;
      const std::string wrong = axis->SetSize(size, PoolingParameter::CEIL, window > 1);
      if (!wrong.empty()) this->Fail(wrong);
    }
  }

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    const auto x = Read(*bottom[0]);
    const auto y = Overwrite(*top[0]);
    if (Across() && bottom[0] == top[0]) {  // neighbours of what is written already are read
      Copy(place, *bottom[0], work_);
      return LrnAcross(place, across_, factors_, Read(work_), Overwrite(sums_), y);
    }
    if (Across()) return LrnAcross(place, across_, factors_, x, Overwrite(sums_), y);
    ParallelFor(
        place, work_.count(), x, Overwrite(work_),
        KOKKOS_LAMBDA(std::int64_t i, const T* from, T* to) { to[i] = from[i] * from[i]; });
    AveragePool(place, within_, Read(work_), Overwrite(sums_));
    LrnWithin(place, factors_, x, Read(sums_), y);
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    if (!propagate_down[0] && (!Across() || bottom[0] == top[0])) return;
    this->RequireApart(bottom, top);
    const auto x = Read(*bottom[0]), sums = Read(sums_), dy = Read(Diff(*top[0]));
    const auto dx = Overwrite(Diff(*bottom[0]));
    if (Across()) return LrnAcrossGradient(place, across_, factors_, x, sums, Read(*top[0]), dy, dx);
    LrnMeanGradient(place, factors_, x, sums, dy, Overwrite(Diff(sums_)));
    AveragePoolGradient(place, within_, Read(Diff(sums_)), Overwrite(work_));
    LrnWithinGradient(place, factors_, x, sums, Read(work_), dy, dx);
  }

 private:
  bool Across() const {
    return this->layer_param().lrn_param().norm_region() == LRNParameter::ACROSS_CHANNELS;
  }

  LrnFactors<T> factors_{};
  LrnSizes across_{};
  PoolSizes within_;
  /// Across channels the base of the power, within them the means.
  Blob<T> sums_{this->place().device()};
  /// Across channels and in place the bottom; within them its squares, and going back their gradient.
  Blob<T> work_{this->place().device()};
};

}  // namespace

FERRY_NETS_MAKE_LAYER(LRN);

}  // namespace ferry::detail
