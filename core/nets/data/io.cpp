// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/nets/io.hpp"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "core/nets/data/image.hpp"
#include "ferry/nets/error.hpp"

namespace ferry {
namespace {

using detail::Image;
using detail::ImageColor;

void RequireDatum(const Datum* datum, const char* call) {
  if (datum == nullptr) throw std::invalid_argument(std::string(call) + ": datum is null");
}

/// Channel by channel, which are next to each other in the image.
void SetElements(const Image& image, Datum* datum) {
  std::string data(static_cast<std::size_t>(image.channels * image.height * image.width), '\0');
  auto to = data.begin();
  for (std::int64_t c = 0; c < image.channels; ++c)
    for (std::int64_t h = 0; h < image.height; ++h) {
      const std::uint8_t* const row = image.pixels + static_cast<std::size_t>(h) * image.row_bytes;
      for (std::int64_t w = 0; w < image.width; ++w) *to++ = static_cast<char>(row[w * image.channels + c]);
    }
  datum->set_channels(static_cast<int>(image.channels));
  datum->set_height(static_cast<int>(image.height));
  datum->set_width(static_cast<int>(image.width));
  datum->clear_float_data();
  datum->set_data(std::move(data));
  datum->set_encoded(false);
}

/// Whether a file with that extension has the encoding already.
bool HasEncoding(const std::filesystem::path& file, std::string encoding) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  std::string extension = file.extension().string();
  if (!extension.empty()) extension.erase(0, 1);
  std::transform(extension.begin(), extension.end(), extension.begin(), lower);
  std::transform(encoding.begin(), encoding.end(), encoding.begin(), lower);
  return extension == encoding || (encoding == "jpg" && extension == "jpeg");
}

bool Decode(Datum* datum, ImageColor color) {
  if (!datum->encoded()) return false;
  SetElements(detail::DecodeImage(datum->data(), color, "Datum"), datum);
  return true;
}

}  // namespace

bool ReadFileToDatum(const std::filesystem::path& file, int label, Datum* datum) {
  RequireDatum(datum, "ReadFileToDatum");
  std::ifstream in(file, std::ios::binary);
  std::error_code error;
  if (!in || std::filesystem::is_directory(file, error)) throw NetError(file.string() + ": cannot be read");
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  datum->set_data(std::move(bytes));
  datum->set_label(label);
  datum->set_encoded(true);
  return true;
}

bool ReadImageToDatum(const std::filesystem::path& file, int label, int height, int width, bool is_color,
                      const std::string& encoding, Datum* datum) {
  RequireDatum(datum, "ReadImageToDatum");
  const Image image =
      detail::ReadImage(file, height, width, is_color ? ImageColor::kColor : ImageColor::kGray);
  if (encoding.empty()) {
    SetElements(image, datum);
  } else {
    if (height == 0 && width == 0 && HasEncoding(file, encoding)) return ReadFileToDatum(file, label, datum);
    datum->set_data(detail::EncodeImage(image, encoding));
    datum->set_encoded(true);
  }
  datum->set_label(label);
  return true;
}

bool DecodeDatumNative(Datum* datum) {
  RequireDatum(datum, "DecodeDatumNative");
  return Decode(datum, ImageColor::kAsStored);
}

bool DecodeDatum(Datum* datum, bool is_color) {
  RequireDatum(datum, "DecodeDatum");
  return Decode(datum, is_color ? ImageColor::kColor : ImageColor::kGray);
}

}  // namespace ferry
