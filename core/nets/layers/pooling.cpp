// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/pooling.hpp"

#include <cstdint>
#include <limits>
#include <string>

#include "core/nets/layers/layers.hpp"
#include "core/nets/vision/window.hpp"

namespace ferry::detail {
namespace {

/// One element for each window of h x w: MAX, the largest, or -FLT_MAX where there is none; AVE, the sum over
/// the size of the window, which counts padding unless it sticks out of that, too; STOCHASTIC, in phase TRAIN
/// an element with a probability that is proportional to it, in phase TEST the mean with these weights.
///
/// Parameters: pooling_param { pool: MAX; kernel_size, or kernel_h and kernel_w, or global_pooling: true for
/// the whole image; pad: 0, or pad_h and pad_w, smaller than the kernel; stride: 1, or stride_h and stride_w;
/// round_mode: CEIL, which also says how many windows there are }. engine makes no difference.
/// Bottoms: 1, images x channels x height x width.
/// Tops: 1, with (size + 2 pad - kernel) / stride + 1 windows along an axis, rounded as round_mode says;
/// with padding, a last window that begins behind the image is dropped. With MAX, a second top may be there:
/// the index of each chosen element in its image's channel, row-major, and -1 for none.
/// Gradient: MAX and STOCHASTIC: all to the element that was chosen, of equal ones the first. STOCHASTIC has
/// none in phase TEST.
/// Caffe: STOCHASTIC runs on a GPU alone; and a window that lies outside of the image, which MAX can have
/// without padding, adds its gradient before the image: here to nothing.
template <class T>
class PoolingLayer final : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Pooling"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int MinTopBlobs() const override { return 1; }
  int MaxTopBlobs() const override { return Method() == PoolingParameter::MAX ? 2 : 1; }

  void LayerSetUp(const Blobs& bottom, const Blobs& /*top*/) override {
    CheckAxes(*bottom[0]);
    Read(*bottom[0]);
  }

  void Reshape(const Blobs& bottom, const Blobs& top) override {
    this->RequireApart(bottom, top);
    const Blob<T>& x = *bottom[0];
    CheckAxes(x);
    const PoolingParameter& param = this->layer_param().pooling_param();
    if (param.global_pooling()) Read(x);
    sizes_.planes = x.count(0, 2);
    const bool any_pad = sizes_.h.pad != 0 || sizes_.w.pad != 0;
    std::string wrong = sizes_.h.SetSize(x.shape(2), param.round_mode(), any_pad);
    if (wrong.empty()) wrong = sizes_.w.SetSize(x.shape(3), param.round_mode(), any_pad);
    if (!wrong.empty()) this->Fail(wrong);
    if (Method() != PoolingParameter::AVE && x.count(2) > std::numeric_limits<int>::max())
      this->Fail("the bottom has shape " + x.shape_string() +
                 "; a channel of an image must have 2147483647 elements at most");
    for (Blob<T>* const blob : top) blob->Reshape({x.shape(0), x.shape(1), sizes_.h.pooled, sizes_.w.pooled});
    if (Method() != PoolingParameter::AVE && top.size() == 1) {
      WithMask(top, [&]<class Index>(Blob<Index>& mask) {
        if (&mask.device() != &x.device()) mask = Blob<Index>(x.device());
        mask.Reshape(top[0]->shape());
      });
    }
  }

 protected:
  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    const std::string wrong = WithoutWindows(*bottom[0], *top[0], 2);
    if (!wrong.empty()) this->Fail(wrong);
    const auto x = ferry::Read(*bottom[0]);
    const auto y = Overwrite(*top[0]);
    switch (Method()) {
      case PoolingParameter::MAX:
        WithMask(top, [&](auto& mask) { MaxPool(place, sizes_, x, y, Overwrite(mask)); });
        break;
      case PoolingParameter::AVE:
        AveragePool(place, sizes_, x, y);
        break;
      case PoolingParameter::STOCHASTIC:
        if (this->phase_ == TRAIN)
          WithMask(top, [&](auto& mask) {
            SamplePool(place, sizes_, Philox(this->random_key()), x, y, Overwrite(mask));
          });
        else
          ExpectedPool(place, sizes_, x, y);
        break;
    }
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    if (!propagate_down[0]) return;
    const auto dy = ferry::Read(Diff(*top[0]));
    const auto dx = Overwrite(Diff(*bottom[0]));
    if (Method() == PoolingParameter::STOCHASTIC && this->phase_ != TRAIN)
      this->Fail("pool: STOCHASTIC has no gradient in phase TEST");
    if (Method() == PoolingParameter::AVE)
      AveragePoolGradient(place, sizes_, dy, dx);
    else
      WithMask(top, [&](auto& mask) {
        MaskedPoolGradient(place, sizes_, GrainAt(place), dy, ferry::Read(mask), dx);
      });
  }

 private:
  PoolingParameter::PoolMethod Method() const { return this->layer_param().pooling_param().pool(); }

  void CheckAxes(const Blob<T>& x) const {
    if (x.num_axes() != 4)
      this->Fail("the bottom has shape " + x.shape_string() +
                 "; it must have 4 axes: images, channels, height, width");
  }
  /// The size of a global window is that of the bottom.
  void Read(const Blob<T>& x) {
    const std::string wrong =
        ReadPooling(this->layer_param().pooling_param(), x.shape(2), x.shape(3), &sizes_);
    if (!wrong.empty()) this->Fail(wrong);
  }

  /// Calls use(mask) with the second top, or where there is none, with the smallest mask that can hold each
  /// position of a channel.
  template <class Use>
  void WithMask(const Blobs& top, const Use& use) {
    if (top.size() > 1)
      use(*top[1]);
    else if (sizes_.Plane() <= kShortPlane)
      use(short_mask_);
    else
      use(mask_);
  }

  PoolSizes sizes_;
  Blob<std::uint16_t> short_mask_{this->place().device()};
  Blob<int> mask_{this->place().device()};
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Pooling);

}  // namespace ferry::detail
