// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/window.hpp"

#include <limits>

namespace ferry::detail {
namespace {

/// The two ways to say a size: once or for each axis, or for height and width.
struct Said {
  const char* name;
  const google::protobuf::RepeatedField<std::uint32_t>& each;
  bool has_h, has_w;
  std::uint32_t h, w;
  std::int64_t otherwise;  ///< where it is not said; negative: it must be
  std::int64_t least;
};

std::string Read(const Said& said, int axes, Window::Dims& dims) {
  const std::string name = said.name;
  const int times = said.each.size();
  if (said.has_h || said.has_w) {
    if (axes != 2)
      return name + "_h and " + name + "_w are for 2 spatial axes; the bottom has " + std::to_string(axes) +
             ": use " + name + (name == "kernel" ? "_size" : "");
    if (times != 0) return name + " is said in two ways; use one of them, not " + name + "_h or _w as well";
    dims[0] = said.h;
    dims[1] = said.w;
  } else {
    if (times != 1 && times != axes && (times != 0 || said.otherwise < 0))
      return name + (name == "kernel" ? "_size" : "") + " is given " + std::to_string(times) + " times for " +
             std::to_string(axes) + " spatial axes; give it once, or once for each";
    for (int axis = 0; axis < axes; ++axis)
      dims[axis] = times == 0 ? said.otherwise : said.each.Get(times == 1 ? 0 : axis);
  }
  for (int axis = 0; axis < axes; ++axis)
    if (dims[axis] < said.least || dims[axis] > std::numeric_limits<std::int32_t>::max())
      return name + " is " + std::to_string(dims[axis]) + " for spatial axis " + std::to_string(axis) +
             "; it must be " + std::to_string(said.least) + " to 2147483647";
  return {};
}

std::string OfAxis(int axis, const Window& window) {
  return " along spatial axis " + std::to_string(axis) + " (kernel " + std::to_string(window.kernel[axis]) +
         ", stride " + std::to_string(window.stride[axis]) + ", pad " + std::to_string(window.pad[axis]) +
         ", dilation " + std::to_string(window.dilation[axis]) + ")";
}

}  // namespace

bool Window::IsIdentity() const {
  for (int axis = 0; axis < axes; ++axis)
    if (kernel[axis] != 1 || stride[axis] != 1 || pad[axis] != 0) return false;
  return true;
}

std::string Window::SetImage(const std::int64_t* dims) {
  for (int axis = 0; axis < axes; ++axis) {
    image[axis] = dims[axis];
    // Rounds towards 0, as Caffe does: a window that sticks out by less than a stride has one position.
    steps[axis] = (dims[axis] + 2 * pad[axis] - Extent(axis)) / stride[axis] + 1;
    if (steps[axis] < 0)
      return "the bottom's " + std::to_string(dims[axis]) + " are too few for the window" +
             OfAxis(axis, *this);
  }
  return {};
}

std::string Window::SetSteps(const std::int64_t* dims) {
  for (int axis = 0; axis < axes; ++axis) {
    steps[axis] = dims[axis];
    image[axis] = stride[axis] * (dims[axis] - 1) + Extent(axis) - 2 * pad[axis];
    if (image[axis] < 0)
      return "the top would have " + std::to_string(image[axis]) + " elements" + OfAxis(axis, *this);
  }
  return {};
}

std::string ReadWindow(const ConvolutionParameter& param, int axes, Window* window) {
  window->axes = axes;
  const Said kernel{"kernel",
                    param.kernel_size(),
                    param.has_kernel_h(),
                    param.has_kernel_w(),
                    param.kernel_h(),
                    param.kernel_w(),
                    -1,
                    1};
  const Said stride{"stride",
                    param.stride(),
                    param.has_stride_h(),
                    param.has_stride_w(),
                    param.stride_h(),
                    param.stride_w(),
                    1,
                    1};
  const Said pad{"pad", param.pad(), param.has_pad_h(), param.has_pad_w(), param.pad_h(), param.pad_w(), 0,
                 0};
  const Said dilation{"dilation", param.dilation(), false, false, 0, 0, 1, 1};
  std::string wrong = Read(kernel, axes, window->kernel);
  if (wrong.empty()) wrong = Read(stride, axes, window->stride);
  if (wrong.empty()) wrong = Read(pad, axes, window->pad);
  if (wrong.empty()) wrong = Read(dilation, axes, window->dilation);
  return wrong;
}

std::string WithoutWindows(const Shape& bottom, const Shape& top, int first) {
  if (top.count(first, top.num_axes()) != 0) return {};
  return "the bottom has shape " + bottom.ToString() + ", and the top " + top.ToString() +
         ", without an element; make the bottom larger, or the window smaller";
}

}  // namespace ferry::detail
