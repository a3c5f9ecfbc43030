// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <filesystem>
#include <system_error>

#include "ferry/nets/error.hpp"

namespace ferry::detail {

/// What is at the path, which may be nothing. Throws NetError where the system cannot say: a folder on the
/// way may not be searched, for instance, or the name is too long.
inline std::filesystem::file_type FileTypeAt(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_type type = std::filesystem::status(path, error).type();
  if (type == std::filesystem::file_type::none)
    throw NetError(path.string() + ": cannot be looked up: " + error.message());
  return type;
}

inline bool IsThere(const std::filesystem::path& path) {
  return FileTypeAt(path) != std::filesystem::file_type::not_found;
}
inline bool IsFile(const std::filesystem::path& path) {
  return FileTypeAt(path) == std::filesystem::file_type::regular;
}

}  // namespace ferry::detail
