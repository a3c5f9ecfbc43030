// SPDX-License-Identifier: BSD-2-Clause
// Messages, and files for them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "ferry/proto.hpp"
#include "tests/folder.hpp"

namespace ferry::testing {

inline BlobProto Proto(int elements, float value = 1) {
  BlobProto proto;
  proto.mutable_shape()->add_dim(elements);
  proto.mutable_data()->Resize(elements, value);
  return proto;
}
inline std::string Bytes(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
inline void Put(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

}  // namespace ferry::testing
