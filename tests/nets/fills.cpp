// SPDX-License-Identifier: BSD-2-Clause
#include "tests/nets/fills.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
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

std::filesystem::path CaffeData() {
  const char* const moved = std::getenv("FERRY_CAFFE_DATA");
  return moved != nullptr && *moved != '\0' ? moved : FERRY_CAFFE_DATA;
}

Json ReadCaffe(const std::string& file) {
  const std::filesystem::path path = CaffeData() / file;
  std::ifstream in(path);
  if (!in) SKIP("there is no " << path << "; -DFERRY_CAFFE_DATA names the folder, or the environment");
  return Json::parse(in);
}

std::vector<std::string> CaffeCases(const std::string& folder, std::size_t count) {
  const std::filesystem::path path = CaffeData() / folder;
  if (!std::filesystem::is_directory(path))
    SKIP("there is no " << path << "; -DFERRY_CAFFE_DATA names the folder, or the environment");
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".json") && name != "rejected.json") files.push_back(name);
  }
  REQUIRE(files.size() >= count);
  if (const char* const only = std::getenv("FERRY_CASES"))
    std::erase_if(files, [&](const std::string& file) { return !file.starts_with(only); });
  REQUIRE(!files.empty());
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
