// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// The files of values that Caffe computed, and the fills that they name.
namespace ferry::nets_test {

using Json = nlohmann::json;

/// The folder of Caffe's values: the environment's FERRY_CAFFE_DATA, or the build's.
std::filesystem::path CaffeData();
/// A file below that folder. Where it is not there, the test is skipped.
Json ReadCaffe(const std::string& file);
/// The files of a folder there, sorted, with one case each: `count` or more. The environment variable
/// FERRY_CASES names those that begin with it alone. Where there is no such folder, the test is skipped.
std::vector<std::string> CaffeCases(const std::string& folder, std::size_t count);

/// `count` elements of a fill, from index `first` on. `seed_shift` is added to the seed of fills of kind
/// real.
std::vector<double> Values(const Json& fill, std::int64_t count, std::uint32_t seed_shift = 0,
                           std::int64_t first = 0);

}  // namespace ferry::nets_test
