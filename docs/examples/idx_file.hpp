// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "ferry/error.hpp"

namespace fashion {

/// Unsigned bytes of some shape, row-major: the format of MNIST's files and of those that followed it.
struct IdxFile {
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;
};

namespace detail {

/// The whole file, gzip'd or plain: zlib passes on what it does not know.
inline std::vector<std::uint8_t> ReadFile(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (file == nullptr) throw ferry::Error(path + ": cannot open the file");
  std::vector<std::uint8_t> bytes;
  constexpr unsigned kStep = 1 << 20;
  for (int read = 1; read > 0;) {
    const std::size_t old = bytes.size();
    bytes.resize(old + kStep);
    read = gzread(file.get(), bytes.data() + old, kStep);
    bytes.resize(old + static_cast<std::size_t>(read > 0 ? read : 0));
  }
  int error = Z_OK;
  const char* const text = gzerror(file.get(), &error);
  if (error != Z_OK) throw ferry::FormatError(path, bytes.size(), text);
  return bytes;
}

}  // namespace detail

/// Throws ferry::FormatError for a file that is not unsigned bytes in IDX, whole and with nothing behind.
inline IdxFile ReadIdx(const std::string& path) {
  std::vector<std::uint8_t> file = detail::ReadFile(path);
  constexpr std::uint8_t kUnsignedByte = 0x08;
  if (file.size() < 4 || file[0] != 0 || file[1] != 0 || file[2] != kUnsignedByte)
    throw ferry::FormatError(path, 0, "not an IDX file of unsigned bytes");
  const std::size_t header = 4 + std::size_t{4} * file[3];
  if (file.size() < header) throw ferry::FormatError(path, file.size(), "the file ends within its header");
  IdxFile idx;
  const std::size_t left = file.size() - header;
  std::size_t expected = 1;
  for (std::size_t at = 4; at < header; at += 4) {
    const std::uint32_t dim = static_cast<std::uint32_t>(file[at]) << 24 |
                              static_cast<std::uint32_t>(file[at + 1]) << 16 |
                              static_cast<std::uint32_t>(file[at + 2]) << 8 | file[at + 3];
    if (dim != 0 && expected > left / dim)
      throw ferry::FormatError(path, at,
                               "the dims promise more bytes than the " + std::to_string(left) + " there are");
    expected *= dim;
    idx.shape.push_back(dim);
  }
  if (expected != left)
    throw ferry::FormatError(path, header + expected, "the file goes on behind its last element");
  file.erase(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(header));
  idx.bytes = std::move(file);
  return idx;
}

}  // namespace fashion
