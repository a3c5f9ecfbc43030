// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/pooling.hpp"

#include <limits>

namespace ferry::detail {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();

std::string CheckAxis(const char* name, const PoolAxis& axis) {
  const auto said = [name](const char* what, std::int64_t value, const char* allowed) {
    return std::string(what) + " along the " + name + " is " + std::to_string(value) + "; it must be " +
           allowed;
  };
  if (axis.kernel <= 0 || axis.kernel > kMost) return said("kernel", axis.kernel, "1 to 2147483647");
  if (axis.stride <= 0 || axis.stride > kMost) return said("stride", axis.stride, "1 to 2147483647");
  if (axis.pad != 0 && axis.pad >= axis.kernel)
    return said("pad", axis.pad, "smaller than the kernel, which is ") + std::to_string(axis.kernel);
  return {};
}

}  // namespace

std::string PoolAxis::SetSize(std::int64_t of, PoolingParameter::RoundMode round, bool any_pad) {
  size = of;
  const std::int64_t beyond = size + 2 * pad - kernel;
  std::int64_t steps = beyond / stride;  // towards 0
  if (beyond % stride != 0) {
    if (round == PoolingParameter::CEIL && beyond > 0) ++steps;
    if (round == PoolingParameter::FLOOR && beyond < 0) --steps;
  }
  pooled = steps + 1;
  // A window that begins in the padding behind the image is dropped.
  if (any_pad && (pooled - 1) * stride >= size + pad) --pooled;
  if (pooled >= 0) return {};
  return "the bottom's " + std::to_string(size) + " are too few for a window of kernel " +
         std::to_string(kernel) + ", stride " + std::to_string(stride) + " and pad " + std::to_string(pad);
}

std::string ReadPooling(const PoolingParameter& param, std::int64_t height, std::int64_t width,
                        PoolSizes* sizes) {
  const bool both = param.has_kernel_h() && param.has_kernel_w();
  if (param.global_pooling()) {
    if (param.has_kernel_size() || param.has_kernel_h() || param.has_kernel_w())
      return "global_pooling is true and there is a kernel; the window is the whole image, so give none";
  } else if (param.has_kernel_size() == both) {
    return both ? "there are kernel_size and kernel_h and kernel_w; use one of the two ways"
                : "there is no kernel; give kernel_size, or kernel_h and kernel_w";
  }
  if ((param.has_pad_h() || param.has_pad_w()) &&
      (param.has_pad() || !param.has_pad_h() || !param.has_pad_w()))
    return "give pad, or both pad_h and pad_w";
  if ((param.has_stride_h() || param.has_stride_w()) &&
      (param.has_stride() || !param.has_stride_h() || !param.has_stride_w()))
    return "give stride, or both stride_h and stride_w";
  PoolAxis &h = sizes->h, &w = sizes->w;
  h = w = {};
  h.kernel = param.global_pooling()    ? height
             : param.has_kernel_size() ? param.kernel_size()
                                       : param.kernel_h();
  w.kernel = param.global_pooling()    ? width
             : param.has_kernel_size() ? param.kernel_size()
                                       : param.kernel_w();
  h.pad = param.has_pad_h() ? param.pad_h() : param.pad();
  w.pad = param.has_pad_h() ? param.pad_w() : param.pad();
  h.stride = param.has_stride_h() ? param.stride_h() : param.stride();
  w.stride = param.has_stride_h() ? param.stride_w() : param.stride();
  if (param.global_pooling() && (h.pad != 0 || w.pad != 0 || h.stride != 1 || w.stride != 1))
    return "global_pooling is true; then pad must be 0 and stride 1";
  if ((h.pad != 0 || w.pad != 0) && param.pool() == PoolingParameter::STOCHASTIC)
    return "pad must be 0 for STOCHASTIC";
  const std::string wrong = CheckAxis("height", h);
  return wrong.empty() ? CheckAxis("width", w) : wrong;
}

}  // namespace ferry::detail
