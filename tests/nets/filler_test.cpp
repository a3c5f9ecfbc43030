// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/nets/filler.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>

#include "ferry/nets/error.hpp"
#include "tests/nets/layer_case.hpp"

namespace ferry::nets_test {
namespace {

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
constexpr RandomKey kFillerKey{11, 22, 33};

FillerParameter Param(const std::string& type) {
  FillerParameter param;
  param.set_type(type);
  return param;
}

template <class T>
std::vector<double> Filled(const FillerParameter& param, const Shape& shape,
                           const RandomKey& key = kFillerKey) {
  Blob<T> blob(shape);
  GetFiller<T>(param, key)->Fill(&blob);
  return DataOf(blob);
}

struct Moments {
  double mean = 0, deviation = 0;
  double least = std::numeric_limits<double>::infinity(), most = -least;
};
Moments MomentsOf(const std::vector<double>& values) {
  Moments moments;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) {
    moments.mean += value / n;
    moments.least = std::min(moments.least, value);
    moments.most = std::max(moments.most, value);
  }
  for (const double value : values) moments.deviation += std::pow(value - moments.mean, 2) / n;
  moments.deviation = std::sqrt(moments.deviation);
  return moments;
}

TEMPLATE_TEST_CASE("A constant fills all", "[filler]", float, double) {
  CHECK(Filled<TestType>({}, {2, 2}) == std::vector<double>{0, 0, 0, 0});
  FillerParameter param;
  param.set_value(-2.5F);
  CHECK(Filled<TestType>(param, {3}) == std::vector<double>{-2.5, -2.5, -2.5});
}

TEMPLATE_TEST_CASE("Uniform values lie between min and max", "[filler]", float, double) {
  FillerParameter param = Param("uniform");
  param.set_min(-2);
  param.set_max(6);
  const Moments moments = MomentsOf(Filled<TestType>(param, {100, 200}));
  CHECK(moments.mean == Approx(2).margin(5 * 8 / std::sqrt(12 * 20000.0)));
  CHECK(moments.deviation == Approx(8 / std::sqrt(12.0)).epsilon(0.02));
  CHECK(moments.least >= -2);
  CHECK(moments.least < -1.99);
  CHECK(moments.most <= 6);
  CHECK(moments.most > 5.99);
  param.set_max(-2);
  CHECK(Filled<TestType>(param, {2}) == std::vector<double>{-2, -2});
}

TEMPLATE_TEST_CASE("Gaussian values have the mean and the deviation", "[filler]", float, double) {
  FillerParameter param = Param("gaussian");
  param.set_mean(3);
  param.set_std(0.5F);
  const Moments moments = MomentsOf(Filled<TestType>(param, {100, 200}));
  CHECK(moments.mean == Approx(3).margin(5 * 0.5 / std::sqrt(20000.0)));
  CHECK(moments.deviation == Approx(0.5).epsilon(0.03));
}

TEMPLATE_TEST_CASE("A sparse gaussian has that many values for each column", "[filler]", float, double) {
  FillerParameter param = Param("gaussian");
  const std::vector<double> full = Filled<TestType>(param, {50, 400});
  param.set_sparse(10);
  const std::vector<double> sparse = Filled<TestType>(param, {50, 400});
  double kept = 0;
  for (std::size_t i = 0; i < full.size(); ++i) {
    if (sparse[i] == 0) continue;
    ++kept;
    REQUIRE(sparse[i] == full[i]);
  }
  CHECK(kept / 400 == Approx(10).margin(5 * std::sqrt(50 * 0.2 * 0.8 / 400)));
  param.set_sparse(0);
  CHECK(Filled<TestType>(param, {2}) == std::vector<double>{0, 0});
  param.set_sparse(2);
  CHECK(Filled<TestType>(param, {2, 50}) == Filled<TestType>(Param("gaussian"), {2, 50}));
}

TEMPLATE_TEST_CASE("Rows of a positive unit ball sum to 1", "[filler]", float, double) {
  const std::vector<double> values = Filled<TestType>(Param("positive_unitball"), {7, 3, 5});
  for (std::size_t row = 0; row < 7; ++row) {
    double sum = 0;
    for (std::size_t j = 0; j < 15; ++j) {
      const double value = values[row * 15 + j];
      CHECK(value >= 0);
      sum += value;
    }
    CHECK(sum == Approx(1).epsilon(1e-6));
  }
}

/// Of a blob of 40 x 20 x 5 x 5: 500 in, 1000 out, 750 on average.
double FanOf(FillerParameter::VarianceNorm norm) {
  if (norm == FillerParameter::FAN_IN) return 500;
  return norm == FillerParameter::FAN_OUT ? 1000 : 750;
}

TEMPLATE_TEST_CASE("Xavier is uniform and msra gaussian by the number of inputs or outputs", "[filler]",
                   float, double) {
  for (const auto norm : {FillerParameter::FAN_IN, FillerParameter::FAN_OUT, FillerParameter::AVERAGE}) {
    FillerParameter param = Param("xavier");
    param.set_variance_norm(norm);
    const double limit = std::sqrt(3 / FanOf(norm));
    const Moments xavier = MomentsOf(Filled<TestType>(param, {40, 20, 5, 5}));
    CHECK(xavier.most <= limit * (1 + 1e-7));
    CHECK(xavier.most > 0.999 * limit);
    CHECK(xavier.least >= -limit * (1 + 1e-7));
    CHECK(xavier.least < -0.999 * limit);
    CHECK(xavier.mean == Approx(0).margin(5 * limit / std::sqrt(60000.0)));
    param.set_type("msra");
    const double deviation = std::sqrt(2 / FanOf(norm));
    const Moments msra = MomentsOf(Filled<TestType>(param, {40, 20, 5, 5}));
    CHECK(msra.deviation == Approx(deviation).epsilon(0.03));
    CHECK(msra.mean == Approx(0).margin(5 * deviation / std::sqrt(20000.0)));
  }
  FillerParameter param = Param("xavier");
  param.set_variance_norm(FillerParameter::FAN_OUT);
  const Moments one_axis = MomentsOf(Filled<TestType>(param, {1000}));
  CHECK(one_axis.most > 0.98 * std::sqrt(3.0 / 1000));
  CHECK(one_axis.most <= std::sqrt(3.0 / 1000) * (1 + 1e-7));
}

TEMPLATE_TEST_CASE("Bilinear weights interpolate", "[filler]", float, double) {
  const std::vector<double> row{0.25, 0.75, 0.75, 0.25};
  const std::vector<double> even = Filled<TestType>(Param("bilinear"), {2, 1, 4, 4});
  for (std::size_t i = 0; i < even.size(); ++i) CHECK(even[i] == row[i % 4] * row[i / 4 % 4]);
  const std::vector<double> odd = Filled<TestType>(Param("bilinear"), {1, 1, 3, 3});
  CHECK(odd == std::vector<double>{0.25, 0.5, 0.25, 0.5, 1, 0.5, 0.25, 0.5, 0.25});
}

TEMPLATE_TEST_CASE("A filler's values depend on its key alone", "[filler]", float, double) {
  for (const char* const type : {"uniform", "gaussian", "positive_unitball", "xavier", "msra"}) {
    INFO(type);
    const auto values = Filled<TestType>(Param(type), {4, 5});
    CHECK(values == Filled<TestType>(Param(type), {4, 5}));
    CHECK(values != Filled<TestType>(Param(type), {4, 5}, {12, 22, 33}));
    CHECK(values != Filled<TestType>(Param(type), {4, 5}, {11, 23, 33}));
    CHECK(values != Filled<TestType>(Param(type), {4, 5}, {11, 22, 34}));
  }
}

TEST_CASE("A filler without a key draws from the process's seed", "[filler]") {
  const auto draw = [] {
    Blob<double> blob({3});
    GetFiller<double>(Param("gaussian"))->Fill(&blob);
    return DataOf(blob);
  };
  SetRandomSeed(5);
  const auto first = draw();
  const auto second = draw();
  CHECK(first != second);
  SetRandomSeed(5);
  CHECK(draw() == first);
}

void CheckRefused(const FillerParameter& param, const Shape& shape, const std::string& what) {
  INFO(param.ShortDebugString() << " on " << shape.ToString());
  CHECK_THROWS_AS(Filled<float>(param, shape), NetError);
  CHECK_THROWS_WITH(Filled<float>(param, shape), ContainsSubstring(what));
}

TEST_CASE("What a filler can't do is an error that says what is allowed", "[filler]") {
  CheckRefused(Param("normal"), {2}, "gaussian");
  for (const char* const type :
       {"constant", "uniform", "gaussian", "positive_unitball", "xavier", "msra", "bilinear"}) {
    CheckRefused(Param(type), {2, 0}, "no elements");
    FillerParameter sparse = Param(type);
    sparse.set_sparse(3);
    CheckRefused(sparse, {1, 1, 2, 2}, "sparse is 3");
    sparse.set_sparse(-2);
    CheckRefused(sparse, {1, 1, 2, 2}, "sparse is -2");
  }
  FillerParameter uniform = Param("uniform");
  uniform.set_min(2);
  CheckRefused(uniform, {2}, "at most max");
  FillerParameter gaussian = Param("gaussian");
  gaussian.set_std(0);
  CheckRefused(gaussian, {2}, "more than 0");
  for (const char* const type : {"positive_unitball", "xavier", "msra"})
    CheckRefused(Param(type), std::vector<int>{}, "no axes");
  CheckRefused(Param("bilinear"), {4, 4}, "4 axes");
  CheckRefused(Param("bilinear"), {1, 1, 4, 3}, "the same dim");
}

}  // namespace
}  // namespace ferry::nets_test
