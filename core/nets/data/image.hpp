// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace ferry::detail {

/// Bytes of an image, row by row, the channels of a pixel next to each other. Refers to what holds them.
struct Image {
  std::int64_t channels, height, width;
  std::size_t row_bytes;
  const std::uint8_t* pixels;
  std::shared_ptr<const void> owner;
};

enum class ImageColor : std::uint8_t { kAsStored, kGray, kColor };

/// Images are OpenCV's: colours in the order blue, green, red. All throw NetError for what cannot be read as
/// an image of bytes; and where Ferry was built without OpenCV, with how to get it.
///@{
void RequireImages(const std::string& what);
/// Scaled to that size, unless it is 0.
Image ReadImage(const std::filesystem::path& file, int height, int width, ImageColor color);
/// `what` is what errors call the bytes.
Image DecodeImage(std::string_view bytes, ImageColor color, const std::string& what);
/// The bytes of a file with the image; the encoding is a file's extension, such as "png".
std::string EncodeImage(const Image& image, const std::string& encoding);
///@}

}  // namespace ferry::detail
