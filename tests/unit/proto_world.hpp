// SPDX-License-Identifier: BSD-2-Clause
// Messages, and files for them.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "ferry/proto.hpp"

namespace ferry::testing {

/// A folder of the test's own, empty at first and gone at last.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("ferry_proto_" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator());
  }

 private:
  const std::filesystem::path path_;
};

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
