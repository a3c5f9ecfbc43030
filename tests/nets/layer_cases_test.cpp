// SPDX-License-Identifier: BSD-2-Clause
// Each type of layer against what Caffe computed. A case's file is a section, so
// `nets_layers "[cases]" -c Pooling_max.json` runs one, and FERRY_CASES=Pooling those that begin so.
#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cmath>
#include <set>

#include "tests/nets/layer_case.hpp"
#include "tests/worst.hpp"

namespace ferry::nets_test {
namespace {

/// Equal within `tolerance` of the largest value; infinities and not-a-numbers in the same places.
void CheckNearCaffe(const std::vector<double>& values, const Json& expected, double tolerance,
                    const char* what, std::size_t index) {
  INFO(what << ' ' << index);
  REQUIRE(values.size() == expected.size());
  double largest = 0;
  for (const Json& value : expected)
    if (value.is_number()) largest = std::max(largest, std::abs(value.get<double>()));
  ferry::testing::Worst worst;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!expected[i].is_number()) {
      INFO("element " << i << " is " << values[i] << ", in Caffe " << expected[i].dump());
      CHECK(!std::isfinite(values[i]));
      continue;
    }
    worst.Take(std::abs(values[i] - expected[i].get<double>()), i);
  }
  INFO("element " << worst.at() << " is off by " << worst.difference() << " of " << largest);
  CHECK(worst.difference() <= tolerance * largest);
}

template <class T>
void CheckCase(const Json& layer_case, const Place& place) {
  const Json& expected = layer_case[sizeof(T) == 4 ? "float" : "double"];
  const double tolerance = sizeof(T) == 4 ? 1e-5 : 1e-12;
  LayerRun<T> run(layer_case, place);
  const T loss = run.Forward();
  CHECK(std::abs(loss - expected["loss"].get<double>()) <=
        tolerance * std::max(1.0, std::abs(expected["loss"].get<double>())));
  const auto& tops = run.tops();
  for (std::size_t i = 0; i < tops.size(); ++i) {
    CHECK(std::vector<std::int64_t>(tops[i]->shape().begin(), tops[i]->shape().end()) ==
          layer_case["tops"][i]["shape"].get<std::vector<std::int64_t>>());
    CheckNearCaffe(DataOf(*tops[i]), expected["tops"][i], tolerance, "top", i);
  }
  const auto& params = run.layer().blobs();
  if (expected.contains("params_after_forward"))
    for (std::size_t i = 0; i < params.size(); ++i)
      CheckNearCaffe(DataOf(*params[i]), expected["params_after_forward"][i], tolerance, "parameter", i);
  if (!layer_case["backward"].get<bool>()) return;

  run.Backward();
  for (std::size_t i = 0; i < run.bottoms().size(); ++i)
    if (!expected["bottom_diffs"][i].is_null())
      CheckNearCaffe(DiffOf(*run.bottoms()[i]), expected["bottom_diffs"][i], tolerance, "bottom diff", i);
  for (std::size_t i = 0; i < params.size(); ++i)
    if (!expected["param_diffs"][i].is_null())
      CheckNearCaffe(DiffOf(*params[i]), expected["param_diffs"][i], tolerance, "parameter diff", i);
}

TEMPLATE_TEST_CASE("Each layer computes what Caffe does", "[cases]", float, double) {
  for (const std::string& file : CaffeCases("layers", 222)) {
    const Json layer_case = ReadCaffe("layers/" + file);
    for (const std::string& where : Places()) {
      INFO(file << " at " << where);
      const World world(where);
      CHECK_NOTHROW(CheckCase<TestType>(layer_case, world.place()));
    }
  }
}

}  // namespace
}  // namespace ferry::nets_test
