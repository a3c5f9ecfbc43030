// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/nets/layers/channels.hpp"
#include "ferry/nets/layer.hpp"

namespace ferry::detail {

/// A layer with a parameter, or a second bottom, that goes along some axes of its bottom: Bias and Scale.
template <class T>
class AxisParameterLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  int MinBottomBlobs() const override { return 1; }
  int MaxBottomBlobs() const override { return 2; }
  int ExactNumTopBlobs() const override { return 1; }

 protected:
  /// A new parameter with the dims of num_axes axes from `axis` on, -1 for all.
  std::shared_ptr<Blob<T>> MakeParameter(const Blob<T>& bottom, int axis, int num_axes,
                                         const FillerParameter& filler) {
    const int first = Axis(bottom, axis);
    if (num_axes < -1 || num_axes > bottom.num_axes() - first)
      this->Fail("axis is " + std::to_string(axis) + " and num_axes " + std::to_string(num_axes) +
                 ", for a bottom of shape " + bottom.shape().ToString() +
                 "; num_axes is -1 or more, and the axes are the bottom's");
    const auto begin = bottom.shape().begin() + first;
    const auto end = num_axes == -1 ? bottom.shape().end() : begin + num_axes;
    auto blob =
        std::make_shared<Blob<T>>(Shape(std::vector<std::int64_t>(begin, end)), this->place().device());
    this->FillBlob(filler, blob.get());
    return blob;
  }

  /// The bottom with the parameter's axes as channels.
  Channels Along(const Blob<T>& bottom, const Blob<T>& parameter, int axis) const {
    const int first = parameter.num_axes() == 0 ? 0 : Axis(bottom, axis);
    const int last = first + parameter.num_axes();
    bool fits = last <= bottom.num_axes();
    for (int i = first; fits && i < last; ++i) fits = bottom.shape(i) == parameter.shape(i - first);
    if (!fits)
      this->Fail("what goes along axis " + std::to_string(axis) + " of the bottom, of shape " +
                 bottom.shape().ToString() + ", has the shape " + parameter.shape().ToString() +
                 "; its dims must be the bottom's from that axis on");
    return {bottom.count(0, first), parameter.count(), bottom.count(last)};
  }

 private:
  int Axis(const Blob<T>& bottom, int axis) const {
    if (axis < -bottom.num_axes() || axis >= bottom.num_axes())
      this->Fail("axis is " + std::to_string(axis) + ", for a bottom of shape " + bottom.shape().ToString() +
                 "; it is an axis of the bottom, or counts back from -1");
    return bottom.CanonicalAxisIndex(axis);
  }
};

}  // namespace ferry::detail
