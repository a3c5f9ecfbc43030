// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// The files of values that Caffe computed, and the fills that they name.
namespace ferry::nets_test {

using Json = nlohmann::json;

/// A file below the folder of Caffe's values. Null, with a warning, where the folder is not there.
Json ReadCaffe(const std::string& file);
/// The files of a folder there, sorted; none where it is not there.
std::vector<std::string> CaffeFiles(const std::string& folder);

/// `count` elements of a fill, from index `first` on. `seed_shift` is added to the seed of fills of kind
/// real.
std::vector<double> Values(const Json& fill, std::int64_t count, std::uint32_t seed_shift = 0,
                           std::int64_t first = 0);

}  // namespace ferry::nets_test
