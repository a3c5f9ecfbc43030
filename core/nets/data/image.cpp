// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/data/image.hpp"

#include "ferry/nets/error.hpp"

#ifdef FERRY_HAS_OPENCV
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <utility>
#include <vector>

#include "core/nets/data/file_type.hpp"
#endif

namespace ferry::detail {

#ifdef FERRY_HAS_OPENCV
namespace {

int FlagOf(ImageColor color) {
  switch (color) {
    case ImageColor::kGray:
      return cv::IMREAD_GRAYSCALE;
    case ImageColor::kColor:
      return cv::IMREAD_COLOR;
    default:
      return cv::IMREAD_UNCHANGED;
  }
}

Image ImageOf(cv::Mat mat, const std::string& what) {
  if (mat.empty()) throw NetError(what + ": is there, but is no image that OpenCV can read");
  if (mat.depth() != CV_8U) throw NetError(what + ": has elements other than bytes; convert it to 8 bits");
  auto owner = std::make_shared<const cv::Mat>(std::move(mat));
  return {owner->channels(), owner->rows, owner->cols, owner->step[0], owner->data, owner};
}

}  // namespace

void RequireImages(const std::string&) {}

Image ReadImage(const std::filesystem::path& file, int height, int width, ImageColor color) {
  if (!IsFile(file)) throw NetError(file.string() + ": there is no such file");
  try {
    cv::Mat read = cv::imread(file.string(), FlagOf(color));
    if (read.empty() || height <= 0 || width <= 0) return ImageOf(std::move(read), file.string());
    cv::Mat scaled;
    cv::resize(read, scaled, cv::Size(width, height));
    return ImageOf(std::move(scaled), file.string());
  } catch (const cv::Exception& error) {
    throw NetError(file.string() + ": OpenCV cannot read it: " + error.what());
  }
}

Image DecodeImage(std::string_view bytes, ImageColor color, const std::string& what) {
  if (bytes.empty()) throw NetError(what + ": is an image of no bytes");
  try {
    const cv::Mat encoded(1, static_cast<int>(bytes.size()), CV_8U, const_cast<char*>(bytes.data()));
    return ImageOf(cv::imdecode(encoded, FlagOf(color)), what);
  } catch (const cv::Exception& error) {
    throw NetError(what + ": OpenCV cannot decode it: " + error.what());
  }
}

std::string EncodeImage(const Image& image, const std::string& encoding) {
  const cv::Mat mat(static_cast<int>(image.height), static_cast<int>(image.width),
                    CV_MAKETYPE(CV_8U, static_cast<int>(image.channels)),
                    const_cast<std::uint8_t*>(image.pixels), image.row_bytes);
  std::vector<std::uint8_t> bytes;
  try {
    if (cv::imencode("." + encoding, mat, bytes)) return {bytes.begin(), bytes.end()};
  } catch (const cv::Exception& error) {
    throw NetError("encoding '" + encoding + "': OpenCV cannot write it: " + error.what());
  }
  throw NetError("encoding '" + encoding + "': OpenCV cannot write it; say a file's extension, such as png");
}
#else
void RequireImages(const std::string& what) {
  throw NetError(what +
                 ": this Ferry was built without OpenCV, which reads images; install it (Debian's "
                 "libopencv-dev) and build Ferry with -DFERRY_OPENCV=ON");
}

Image ReadImage(const std::filesystem::path& file, int, int, ImageColor) {
  RequireImages(file.string());
  return {};
}

Image DecodeImage(std::string_view, ImageColor, const std::string& what) {
  RequireImages(what);
  return {};
}

std::string EncodeImage(const Image&, const std::string& encoding) {
  RequireImages("encoding '" + encoding + "'");
  return {};
}
#endif

}  // namespace ferry::detail
