// SPDX-License-Identifier: BSD-2-Clause
// Infinity and not-a-number go through layers as Caffe's formulas say.
#include <catch2/catch_template_test_macros.hpp>
#include <cmath>
#include <limits>

#include "tests/nets/made_layer.hpp"
#include "tests/worst.hpp"

namespace ferry::nets_test {
namespace {

using Values = std::vector<double>;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Passes {
  Values y, dx, dw;  ///< of the first blobs
};
/// Forward and Backward to bottom 0, from tops whose diff is 3. Parameters are filled by `weight`.
template <class T>
Passes Pass(const std::string& where, const std::string& text, const std::vector<Values>& bottoms,
            const Shape& shape, double weight = 0) {
  INFO(where << ": " << text);
  const World world(where);
  std::vector<Shape> shapes(bottoms.size(), shape);
  for (std::size_t i = 0; i < bottoms.size(); ++i)
    if (static_cast<std::int64_t>(bottoms[i].size()) != shape.count())
      shapes[i] = Shape({shape[0]});  // labels
  Made<T> made(text, world.place(), shapes, 1);
  for (std::size_t i = 0; i < bottoms.size(); ++i) SetData(*made.bottoms[i], bottoms[i]);
  for (const auto& blob : made.layer->blobs()) {
    SetData(*blob, Values(static_cast<std::size_t>(blob->count()), weight));
    SetDiff(*blob, Values(static_cast<std::size_t>(blob->count()), 0));
  }
  made.layer->Forward(made.bottoms, made.tops);
  Passes passes{DataOf(*made.tops[0]), {}, {}};
  SetDiff(*made.tops[0], Values(passes.y.size(), 3));
  made.Backward();
  passes.dx = DiffOf(*made.bottoms[0]);
  if (!made.layer->blobs().empty()) passes.dw = DiffOf(*made.layer->blobs()[0]);
  return passes;
}

/// Not-a-number is the same as itself.
void CheckSame(const Values& values, const Values& expected) {
  REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    INFO("element " << i << " is " << values[i] << ", expected " << expected[i]);
    CHECK((values[i] == expected[i] || (std::isnan(values[i]) && std::isnan(expected[i]))));
  }
}

TEMPLATE_TEST_CASE("ReLU with a slope has a gradient of 0 at not-a-number", "[not_finite]", float, double) {
  for (const std::string& where : Places()) {
    const Passes relu = Pass<TestType>(where, "type: 'ReLU' relu_param { negative_slope: 0.25 }",
                                       {{kNone, kInfinity, -kInfinity, 2, -2}}, {5});
    CheckSame(relu.y, {kNone, kInfinity, -kInfinity, 2, -0.5});
    CheckSame(relu.dx, {0, 3, 0.75, 3, 0.75});
  }
}

TEMPLATE_TEST_CASE("PReLU multiplies infinity by 0 in the gradient of its slope", "[not_finite]", float,
                   double) {
  const std::string text = "type: 'PReLU'";
  for (const std::string& where : Places()) {
    const Passes plain = Pass<TestType>(where, text, {{kNone, kInfinity, -kInfinity, 2}}, {1, 4}, 0.25);
    CheckSame(plain.y, {kNone, kInfinity, -kInfinity, 2});
    CheckSame(plain.dx, {0, 3, 0.75, 3});
    CheckSame(plain.dw, {kNone, kNone, -kInfinity, 0});
    CheckSame(Pass<TestType>(where, text, {{2, -2}}, {1, 2}, kInfinity).dx, {kNone, kInfinity});
  }
}

TEMPLATE_TEST_CASE("ELU has a gradient of not-a-number at infinity", "[not_finite]", float, double) {
  for (const std::string& where : Places()) {
    const Passes elu = Pass<TestType>(where, "type: 'ELU' elu_param { alpha: 0.5 }",
                                      {{kNone, kInfinity, -kInfinity, 2}}, {4});
    CheckSame(elu.y, {kNone, kInfinity, -0.5, 2});
    CheckSame(elu.dx, {kNone, kNone, 0, 3});
  }
}

TEMPLATE_TEST_CASE("HingeLoss takes a margin of not-a-number for 0", "[not_finite]", float, double) {
  const std::string squared = "type: 'HingeLoss' hinge_loss_param { norm: L2 }";
  const Values x = {kNone, 1, 2};
  for (const std::string& where : Places())
    for (const double label : {0, 2}) {
      INFO("label " << label);
      const Passes sum = Pass<TestType>(where, "type: 'HingeLoss'", {x, {label}}, {1, 3});
      const Passes squares = Pass<TestType>(where, squared, {x, {label}}, {1, 3});
      CheckSame(sum.y, {label == 0 ? 5.0 : 2.0});
      CheckSame(sum.dx, label == 0 ? Values{0, 3, 3} : Values{0, 3, 0});
      CheckSame(squares.y, {label == 0 ? 13.0 : 4.0});
      CheckSame(squares.dx, label == 0 ? Values{0, 12, 18} : Values{0, 12, 0});
    }
}

TEMPLATE_TEST_CASE("ContrastiveLoss gives a dissimilar pair without a finite distance no gradient",
                   "[not_finite]", float, double) {
  for (const std::string version : {"false", "true"})
    for (const std::string& where : Places()) {
      const std::string text =
          "type: 'ContrastiveLoss' contrastive_loss_param { margin: 2 legacy_version: " + version + " }";
      const auto pass = [&](double a, double similar) {
        return Pass<TestType>(where, text, {{a, 1}, {0, 0.5}, {similar}}, {1, 2});
      };
      CheckSame(pass(kNone, 0).y, {kNone});
      CheckSame(pass(kNone, 0).dx, {0, 0});
      CheckSame(pass(kInfinity, 0).y, {0});
      CheckSame(pass(kInfinity, 0).dx, {0, 0});
      CheckSame(pass(kNone, 1).y, {kNone});
      CheckSame(pass(kNone, 1).dx, {kNone, 1.5});
      CheckSame(pass(-kInfinity, 1).y, {kInfinity});
      CheckSame(pass(-kInfinity, 1).dx, {-kInfinity, 1.5});
    }
}

TEMPLATE_TEST_CASE("MVN without the variance passes a gradient by what is no number", "[not_finite]", float,
                   double) {
  const std::string text = "type: 'MVN' mvn_param { normalize_variance: false }";
  for (const std::string& where : Places())
    for (const double odd : {kNone, kInfinity}) {
      const Passes mvn = Pass<TestType>(where, text, {{odd, 1, 2, 3}}, {1, 1, 2, 2});
      const double others = std::isnan(odd) ? kNone : -kInfinity;
      CheckSame(mvn.y, {kNone, others, others, others});
      CheckSame(mvn.dx, {0, 0, 0, 0});
    }
}

TEMPLATE_TEST_CASE("SigmoidCrossEntropyLoss of infinity is not-a-number, and its gradient a number",
                   "[not_finite]", float, double) {
  for (const std::string& where : Places())
    for (const double target : {0.0, 0.5, 1.0})
      for (const double x : {kInfinity, -kInfinity}) {
        const Passes loss = Pass<TestType>(where, "type: 'SigmoidCrossEntropyLoss'", {{x}, {target}}, {1, 1});
        CheckSame(loss.y, {kNone});
        CheckSame(loss.dx, {3 * ((x > 0 ? 1 : 0) - target)});
      }
}

TEST_CASE("No number that follows hides a difference that is none") {
  ferry::testing::Worst worst;
  worst.Take(2, 4);
  worst.Take(kNone, 5);
  worst.Take(kInfinity, 6);
  CHECK(std::isnan(worst.difference()));
  CHECK(worst.at() == 5);
}

}  // namespace
}  // namespace ferry::nets_test
