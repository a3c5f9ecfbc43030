// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <filesystem>
#include <string>

#include "ferry/data.pb.h"
#include "ferry/detail/language.hpp"

namespace ferry {

/// @name Images in messages
/// Caffe's functions; where Caffe returns false or aborts, these throw NetError with the path. Those that
/// decode or encode images need a build with OpenCV, and say so without. Colours are in OpenCV's order: blue,
/// green, red. Throws std::invalid_argument for null.
///@{

/// The bytes of the file as they are: the datum is encoded.
bool ReadFileToDatum(const std::filesystem::path& file, int label, Datum* datum);
/// With the label -1.
inline bool ReadFileToDatum(const std::filesystem::path& file, Datum* datum) {
  return ReadFileToDatum(file, -1, datum);
}

/// The image of a file, scaled to that height and width unless one is 0. With an encoding, a file's extension
/// such as "png", the datum is encoded so; without, it has the elements.
bool ReadImageToDatum(const std::filesystem::path& file, int label, int height, int width, bool is_color,
                      const std::string& encoding, Datum* datum);
/// @overload
inline bool ReadImageToDatum(const std::filesystem::path& file, int label, int height, int width,
                             bool is_color, Datum* datum) {
  return ReadImageToDatum(file, label, height, width, is_color, "", datum);
}
/// @overload
inline bool ReadImageToDatum(const std::filesystem::path& file, int label, int height, int width,
                             Datum* datum) {
  return ReadImageToDatum(file, label, height, width, true, datum);
}
/// @overload
inline bool ReadImageToDatum(const std::filesystem::path& file, int label, bool is_color, Datum* datum) {
  return ReadImageToDatum(file, label, 0, 0, is_color, datum);
}
/// @overload
inline bool ReadImageToDatum(const std::filesystem::path& file, int label, Datum* datum) {
  return ReadImageToDatum(file, label, 0, 0, true, datum);
}
/// @overload
inline bool ReadImageToDatum(const std::filesystem::path& file, int label, const std::string& encoding,
                             Datum* datum) {
  return ReadImageToDatum(file, label, 0, 0, true, encoding, datum);
}
/// @overload
inline bool ReadImageToDatum(const std::filesystem::path& file, int label, const char* encoding,
                             Datum* datum) {
  return ReadImageToDatum(file, label, std::string(encoding), datum);
}

/// A datum that is encoded gets the elements of its image, in the colours in which it is stored. Returns
/// whether it was encoded.
bool DecodeDatumNative(Datum* datum);
/// The same in colour or in gray.
bool DecodeDatum(Datum* datum, bool is_color);
///@}

}  // namespace ferry
