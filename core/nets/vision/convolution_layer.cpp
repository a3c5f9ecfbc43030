// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/convolution_layer.hpp"

#include <limits>
#include <string>
#include <vector>

#include "core/memory/byte_ranges.hpp"

namespace ferry::detail {

template <class T>
void ConvolutionLayerBase<T>::LayerSetUp(const Blobs& bottom, const Blobs& /*top*/) {
  const ConvolutionParameter& param = this->layer_param().convolution_param();
  channel_axis_ = bottom[0]->CanonicalAxisIndex(param.axis());
  const int axes = bottom[0]->num_axes() - channel_axis_ - 1;
  sizes_ = {};
  if (const std::string wrong = ReadWindow(param, axes, &sizes_.window); !wrong.empty()) this->Fail(wrong);
  channels_ = bottom[0]->shape(channel_axis_);
  const std::int64_t outputs = param.num_output();
  if (outputs == 0 || outputs > std::numeric_limits<std::int32_t>::max())
    this->Fail("num_output is " + std::to_string(outputs) + "; it must be 1 to 2147483647");
  sizes_.groups = param.group();
  if (sizes_.groups == 0) this->Fail("group is 0; it must be 1 or more");
  if (channels_ % sizes_.groups != 0 || outputs % sizes_.groups != 0)
    this->Fail("group is " + std::to_string(sizes_.groups) + "; it must divide the bottom's " +
               std::to_string(channels_) + " channels and num_output, which is " + std::to_string(outputs));
  const bool forward = direction_ == Direction::kToMaps;
  sizes_.in_channels = forward ? channels_ : outputs;
  sizes_.out_channels = forward ? outputs : channels_;
  MakeWeights(bottom, outputs);
  maps_.reset();
}

template <class T>
void ConvolutionLayerBase<T>::MakeWeights(const Blobs& bottom, std::int64_t outputs) {
  const ConvolutionParameter& param = this->layer_param().convolution_param();
  std::vector<std::int64_t> dims{sizes_.out_channels, sizes_.in_channels / sizes_.groups};
  for (int axis = 0; axis < sizes_.window.axes; ++axis) dims.push_back(sizes_.window.kernel[axis]);
  std::vector<Shape> shapes{Shape(dims)};
  if (HasBias()) shapes.push_back({outputs});
  auto& blobs = this->blobs_;
  if (blobs.empty()) {
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      blobs.push_back(std::make_shared<Blob<T>>(shapes[i], bottom[0]->device()));
      this->FillBlob(i == 0 ? param.weight_filler() : param.bias_filler(), blobs[i].get());
    }
  } else {
    if (blobs.size() != shapes.size())
      this->Fail("it was given " + std::to_string(blobs.size()) + " blobs of parameters; it takes " +
                 std::to_string(shapes.size()));
    for (std::size_t i = 0; i < shapes.size(); ++i)
      if (blobs[i]->shape() != shapes[i])
        this->Fail(std::string(i == 0 ? "the weights have" : "the bias has") + " shape " +
                   blobs[i]->shape_string() + "; it must be " + shapes[i].ToString());
  }
  for (std::size_t i = 0; i < blobs.size(); ++i) this->set_param_propagate_down(static_cast<int>(i), true);
}

template <class T>
void ConvolutionLayerBase<T>::CheckBottoms(const Blobs& bottom) const {
  const int axes = channel_axis_ + 1 + sizes_.window.axes;
  if (bottom[0]->num_axes() != axes)
    this->Fail("bottom 0 has shape " + bottom[0]->shape_string() + "; the layer was set up for " +
               std::to_string(axes) + " axes");
  if (bottom[0]->shape(channel_axis_) != channels_)
    this->Fail("bottom 0 has shape " + bottom[0]->shape_string() + "; the layer was set up for " +
               std::to_string(channels_) + " channels");
  for (std::size_t i = 1; i < bottom.size(); ++i)
    if (bottom[i]->shape() != bottom[0]->shape())
      this->Fail("bottom 0 has shape " + bottom[0]->shape_string() + " and bottom " + std::to_string(i) +
                 " has " + bottom[i]->shape_string() + "; they must be equal");
}

template <class T>
void ConvolutionLayerBase<T>::Reshape(const Blobs& bottom, const Blobs& top) {
  this->RequireApart(bottom, top);
  CheckBottoms(bottom);
  const Shape& from = bottom[0]->shape();
  const std::int64_t* const spatial = from.data() + channel_axis_ + 1;
  Window& window = sizes_.window;
  const bool forward = direction_ == Direction::kToMaps;
  if (maps_ == nullptr || reshaped_for_ != from) {
    maps_.reset();
    const std::string wrong = forward ? window.SetImage(spatial) : window.SetSteps(spatial);
    if (!wrong.empty()) this->Fail(wrong);
    sizes_.images = from.count(0, channel_axis_);
    maps_ = MakeConvolution<T>(sizes_, bottom[0]->device());
    if (&sums_.device() != &bottom[0]->device()) sums_ = Blob<T>(bottom[0]->device());
    reshaped_for_ = from;
  }
  std::vector<std::int64_t> dims(from.begin(), from.begin() + channel_axis_);
  dims.push_back(forward ? sizes_.out_channels : sizes_.in_channels);
  for (int axis = 0; axis < window.axes; ++axis)
    dims.push_back(forward ? window.steps[axis] : window.image[axis]);
  for (Blob<T>* const blob : top) blob->Reshape(dims);
}

/// What is written must not overlap what is read, for any two blobs: they may share storage.
template <class T>
void ConvolutionLayerBase<T>::RequireOwn(const Blobs& read, const Blobs& written, BlobPart part) const {
  for (const Blob<T>* const to : written)
    for (const Blob<T>* const from : read) {
      const Part x = from->part(part), y = to->part(part);
      if (x.memory == y.memory && Meet(x.range, y.range))
        this->Fail(
            "a bottom and a top share elements, and the layer cannot be in place; give the top elements of "
            "its own");
    }
}

template <class T>
void ConvolutionLayerBase<T>::ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) {
  const std::string wrong = WithoutWindows(*bottom[0], *top[0], channel_axis_ + 1);
  if (!wrong.empty()) this->Fail(wrong);
  RequireOwn(bottom, top, BlobPart::kData);
  const Part weights = this->blobs_[0]->part(BlobPart::kData);
  for (std::size_t i = 0; i < bottom.size(); ++i) {
    const Part from = bottom[i]->part(BlobPart::kData), to = top[i]->part(BlobPart::kData);
    if (direction_ == Direction::kToMaps) {
      const Part bias = HasBias() ? this->blobs_[1]->part(BlobPart::kData) : Part{};
      maps_->ToMaps(place, from, weights, HasBias() ? &bias : nullptr, to);
    } else {
      maps_->ToImages(place, from, weights, to);
      if (HasBias())
        AddBias(place, sizes_.images, sizes_.in_channels, Read(*this->blobs_[1]), ReadWrite(*top[i]));
    }
  }
}

template <class T>
void ConvolutionLayerBase<T>::BackwardAt(const Place& place, const Blobs& top,
                                         const std::vector<bool>& propagate_down, const Blobs& bottom) {
  Blobs written;
  for (std::size_t i = 0; i < bottom.size(); ++i)
    if (propagate_down[i]) written.push_back(bottom[i]);
  RequireOwn(top, written, BlobPart::kDiff);
  const Part weights = this->blobs_[0]->part(BlobPart::kData);
  const Part weights_diff = this->blobs_[0]->part(BlobPart::kDiff);
  const Part bias_diff = HasBias() ? this->blobs_[1]->part(BlobPart::kDiff) : Part{};
  const bool to_maps = direction_ == Direction::kToMaps, train_weights = this->param_propagate_down(0);
  const bool train_bias = HasBias() && this->param_propagate_down(1), together = train_weights && to_maps;
  for (std::size_t i = 0; i < top.size(); ++i) {
    const Part x = bottom[i]->part(BlobPart::kData), dx = bottom[i]->part(BlobPart::kDiff);
    const Part dy = top[i]->part(BlobPart::kDiff);
    if (train_bias && !together)
      AddSumsToBias(place, sizes_.images, top[i]->shape(channel_axis_), Read(Diff(*top[i])), sums_,
                    ReadWrite(Diff(*this->blobs_[1])));
    if (together)
      maps_->AddToWeights(place, x, dy, weights_diff, train_bias ? &bias_diff : nullptr);
    else if (train_weights)
      maps_->AddToWeights(place, dy, x, weights_diff, nullptr);
    if (propagate_down[i] && to_maps)
      maps_->ToImages(place, dy, weights, dx);
    else if (propagate_down[i])
      maps_->ToMaps(place, dy, weights, nullptr, dx);
  }
}

template class ConvolutionLayerBase<float>;
template class ConvolutionLayerBase<double>;

}  // namespace ferry::detail
