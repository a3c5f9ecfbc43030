// SPDX-License-Identifier: BSD-2-Clause
#include "tests/nets/fills.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace ferry::nets_test {
namespace {

std::uint32_t Mix(std::uint32_t index, std::uint32_t seed) {
  std::uint32_t x = index * 2654435761U + seed * 2246822519U + 374761393U;
  x = (x ^ (x >> 15U)) * 2246822519U;
  x = (x ^ (x >> 13U)) * 3266489917U;
  return x ^ (x >> 16U);
}

}  // namespace

Json ReadCaffe(const std::string& file) {
  std::ifstream in(std::string(FERRY_CAFFE_DATA) + '/' + file);
  if (!in) {
    WARN("no " FERRY_CAFFE_DATA "/" << file << ": set FERRY_CAFFE_DATA");
    return nullptr;
  }
  return Json::parse(in);
}

std::vector<std::string> CaffeFiles(const std::string& folder) {
  std::vector<std::string> files;
  const std::filesystem::path path = std::filesystem::path(FERRY_CAFFE_DATA) / folder;
  if (std::filesystem::is_directory(path))
    for (const auto& entry : std::filesystem::directory_iterator(path))
      if (entry.path().extension() == ".json") files.push_back(entry.path().filename().string());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<double> Values(const Json& fill, std::int64_t count, std::uint32_t seed_shift,
                           std::int64_t first) {
  const std::string kind = fill["kind"];
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    double& value = values[static_cast<std::size_t>(i)];
    const auto index = static_cast<std::uint32_t>(first + i);
    if (kind == "zero") {
      value = 0;
    } else if (kind == "values") {
      value = fill["values"][static_cast<std::size_t>(first + i) % fill["values"].size()];
    } else if (kind == "real") {
      const std::uint32_t bits = Mix(index, fill["seed"].get<std::uint32_t>() + seed_shift) >> 12U;
      value = fill["offset"].get<double>() + fill["scale"].get<double>() * (bits / 524288.0 - 1.0);
    } else if (kind == "int") {
      const std::uint32_t bits = Mix(index, fill["seed"].get<std::uint32_t>()) >> 12U;
      value = fill["low"].get<double>() + bits % fill["n"].get<std::uint32_t>();
    } else {
      throw std::invalid_argument("no such fill: " + kind);
    }
  }
  return values;
}

}  // namespace ferry::nets_test
