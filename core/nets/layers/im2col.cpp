// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/im2col.hpp"

#include <string>
#include <vector>

#include "core/nets/layers/layers.hpp"

namespace ferry::detail {
namespace {

/// The column matrices that a Convolution multiplies its weights with: y[n, (c, k), p] =
/// x[n, c, p * stride - pad + k * dilation], or 0 outside the image.
///
/// Parameters: convolution_param { kernel_size, stride: 1, pad: 0, dilation: 1, kernel_h and the like, and
/// axis: 1 }, as Convolution has them.
/// Bottoms: 1, with one spatial axis or more after `axis`.
/// Tops: 1, with channels times the window's elements, and a spatial size as that of Convolution.
/// Gradient: as in Caffe, it is computed even if propagate_down is false.
template <class T>
class Im2colLayer final : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Im2col"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }

  void LayerSetUp(const Blobs& bottom, const Blobs& /*top*/) override {
    const ConvolutionParameter& param = this->layer_param().convolution_param();
    channel_axis_ = bottom[0]->CanonicalAxisIndex(param.axis());
    const int axes = bottom[0]->num_axes() - channel_axis_ - 1;
    if (axes < 1)
      this->Fail("the bottom has shape " + bottom[0]->shape_string() + "; after axis " +
                 std::to_string(channel_axis_) + ", the channels, there must be a spatial axis");
    if (const std::string wrong = ReadWindow(param, axes, &window_); !wrong.empty()) this->Fail(wrong);
  }

  void Reshape(const Blobs& bottom, const Blobs& top) override {
    this->RequireApart(bottom, top);
    const Shape& from = bottom[0]->shape();
    if (from.num_axes() != channel_axis_ + 1 + window_.axes)
      this->Fail("the bottom has shape " + from.ToString() + "; the layer was set up for " +
                 std::to_string(channel_axis_ + 1 + window_.axes) + " axes");
    const std::string wrong = window_.SetImage(from.data() + channel_axis_ + 1);
    if (!wrong.empty()) this->Fail(wrong);
    std::vector<std::int64_t> dims = from;
    const auto channels = static_cast<std::size_t>(channel_axis_);
    dims[channels] *= window_.KernelCount();
    for (int axis = 0; axis < window_.axes; ++axis)
      dims[channels + 1 + static_cast<std::size_t>(axis)] = window_.steps[axis];
    top[0]->Reshape(dims);
  }

 protected:
  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    const std::string wrong = WithoutWindows(*bottom[0], *top[0], channel_axis_ + 1);
    if (!wrong.empty()) this->Fail(wrong);
    RunColumns(place, &Im2col<T>, window_, GrainAt(place), Images(*bottom[0]), Read(*bottom[0]),
               Overwrite(*top[0]));
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& /*propagate_down*/,
                  const Blobs& bottom) override {
    RunColumns(place, &Col2im<T>, window_, GrainAt(place), Images(*bottom[0]), Read(Diff(*top[0])),
               Overwrite(Diff(*bottom[0])));
  }

 private:
  /// The matrices of all images, and their channels, follow each other.
  std::int64_t Images(const Blob<T>& bottom) const { return bottom.count(0, channel_axis_ + 1); }

  int channel_axis_ = 0;
  Window window_;
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Im2col);

}  // namespace ferry::detail
