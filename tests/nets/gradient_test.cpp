// SPDX-License-Identifier: BSD-2-Clause
// Each layer's gradient against central differences, in double; and what else holds of each layer.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <list>
#include <set>

#include "ferry/statistics_device.hpp"
#include "tests/nets/gradient_rows.hpp"
#include "tests/nets/layer_case.hpp"
#include "tests/worst.hpp"

namespace ferry::nets_test {
namespace {

constexpr double kStep = 1e-4;
constexpr double kTolerance = 1e-6;

std::vector<GradientRow> Rows() {
  std::vector<GradientRow> all;
  for (const auto* rows : {&ElementRows(), &ShapeRows(), &WeightRows(), &LossRows()})
    all.insert(all.end(), rows->begin(), rows->end());
  return all;
}

std::vector<double> Fresh(const Fill& fill, std::int64_t count, std::uint32_t seed) {
  if (fill.kind == Fill::kIntegers)
    return Values({{"kind", "int"}, {"seed", seed}, {"low", 0}, {"n", fill.list[0]}}, count);
  if (fill.kind == Fill::kList) return Values({{"kind", "values"}, {"values", fill.list}}, count);
  std::vector<double> values =
      Values({{"kind", "real"}, {"seed", seed}, {"scale", 1.0}, {"offset", 0.0}}, count);
  for (double& value : values) {
    if (fill.kind == Fill::kPositive) value = 0.7 + 0.5 * value;
    if (fill.kind == Fill::kAwayFromZero) value = 0.9 * value + std::copysign(0.1, value);
  }
  return values;
}

/// A row's layer, and the scalar that it is the gradient of: the sum of the tops' elements, each by a weight.
class Subject {
 public:
  Subject(const GradientRow& row, const Place& place) : row_(row) {
    for (const Bottom& bottom : row.bottoms) {
      bottom_.push_back(&blobs_.emplace_back(bottom.shape, place.device()));
      inputs_.push_back(Fresh(bottom.fill, bottom_.back()->count(), NextSeed()));
    }
    for (int i = 0; i < row.options.tops; ++i)
      top_.push_back(i == 0 && row.options.in_place ? bottom_[0] : &blobs_.emplace_back(place.device()));
    Restore();
    layer_ = LayerRegistry<double>::CreateLayer(
        LayerOf("name: 'g' type: '" + row.type + "' " + row.text, row.options.phase), place);
    layer_->SetUp(bottom_, top_);
    for (std::size_t i = 0; i < layer_->blobs().size(); ++i) {
      const bool said = i < row.options.param_fills.size();
      Blob<double>& param = *layer_->blobs()[i];
      SetData(param, Fresh(said ? row.options.param_fills[i] : Real(), param.count(), NextSeed()));
      SetDiff(param, std::vector<double>(static_cast<std::size_t>(param.count())));
    }
    Forward();
    for (const Blob<double>* const top : top_) weights_.push_back(Fresh(Real(), top->count(), NextSeed()));
  }

  std::size_t params() const { return layer_->blobs().size(); }

  /// Of the bottoms that are checked, then of the parameters.
  std::vector<std::vector<double>> Gradients() {
    for (Blob<double>* const bottom : bottom_)  // which Backward overwrites
      SetDiff(*bottom, std::vector<double>(static_cast<std::size_t>(bottom->count()), 7));
    Forward();
    for (std::size_t i = 0; i < top_.size(); ++i) SetDiff(*top_[i], weights_[i]);
    Backward();
    std::vector<std::vector<double>> gradients;
    for (const std::size_t i : row_.checked) gradients.push_back(DiffOf(*bottom_[i]));
    if (row_.options.params)
      for (const auto& param : layer_->blobs()) gradients.push_back(DiffOf(*param));
    return gradients;
  }

  /// Forward and backward, with all blobs where the pass before left them. Returns whether there is a loss.
  bool Pass() {
    layer_->Forward(bottom_, top_);
    Backward();
    return row_.options.tops > 0 && layer_->loss(0) != 0;
  }

  /// The derivative by each of `inputs`, which are those of a bottom or, if `param` is not null, of it.
  std::vector<double> Differences(std::vector<double>& inputs, Blob<double>* param) {
    std::vector<double> differences;
    for (double& input : inputs) {
      const double old = input;
      double sums[2];
      for (const int side : {0, 1}) {
        input = old + (side == 0 ? -kStep : kStep);
        if (param != nullptr) SetData(*param, inputs);
        sums[side] = Sum();
      }
      input = old;
      if (param != nullptr) SetData(*param, inputs);
      differences.push_back((sums[1] - sums[0]) / (2 * kStep));
    }
    return differences;
  }
  std::vector<std::vector<double>> Differences() {
    std::vector<std::vector<double>> all;
    for (const std::size_t i : row_.checked) all.push_back(Differences(inputs_[i], nullptr));
    if (row_.options.params)
      for (const auto& param : layer_->blobs()) {
        std::vector<double> values = DataOf(*param);
        all.push_back(Differences(values, param.get()));
      }
    return all;
  }

 private:
  std::uint32_t NextSeed() { return ++seed_; }
  void Restore() {
    for (std::size_t i = 0; i < bottom_.size(); ++i) SetData(*bottom_[i], inputs_[i]);
  }
  /// With the same random numbers each time.
  void Forward() {
    Restore();
    layer_->set_random_key({1, 2, 3});
    layer_->Forward(bottom_, top_);
  }
  void Backward() {
    std::vector<bool> propagate_down(bottom_.size());
    for (const std::size_t i : row_.checked) propagate_down[i] = true;
    layer_->Backward(top_, propagate_down, bottom_);
  }
  double Sum() {
    Forward();
    double sum = 0;
    for (std::size_t i = 0; i < top_.size(); ++i) {
      const std::vector<double> values = DataOf(*top_[i]);
      for (std::size_t k = 0; k < values.size(); ++k) sum += values[k] * weights_[i][k];
    }
    return sum;
  }

  const GradientRow& row_;
  std::uint32_t seed_ = 100;
  std::list<Blob<double>> blobs_;
  std::vector<Blob<double>*> bottom_, top_;
  std::vector<std::vector<double>> inputs_, weights_;
  std::shared_ptr<Layer<double>> layer_;
};

/// The largest difference, relative to the largest element.
double Off(const std::vector<double>& gradient, const std::vector<double>& differences) {
  double largest = 0;
  ferry::testing::Worst worst;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    largest = std::max(largest, std::abs(differences[i]));
    worst.Take(std::abs(gradient[i] - differences[i]));
  }
  CHECK(largest > 0);  // else the row checks nothing
  return worst.difference() / largest;
}

void CheckRow(const GradientRow& row, const Place& place) {
  Subject subject(row, place);
  const auto gradients = subject.Gradients();
  const auto differences = subject.Differences();
  REQUIRE(!gradients.empty());
  REQUIRE(gradients.size() == differences.size());
  ferry::testing::Worst worst;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    REQUIRE(gradients[i].size() == differences[i].size());
    const double off = Off(gradients[i], differences[i]);
    INFO("gradient " << i << " of those that are checked");
    if (row.options.wrong.empty()) CHECK(off <= kTolerance);
    worst.Take(off);
  }
  INFO("wrong in Caffe, which is kept: " << row.options.wrong);
  if (!row.options.wrong.empty()) CHECK(worst.difference() > kTolerance);
}

TEST_CASE("Each layer's gradient is the derivative, where Caffe's is", "[gradient]") {
  for (const GradientRow& row : Rows()) {
    for (const char* const where : {"host cpu", "sim stream"}) {
      INFO(row.type << " { " << row.text << " }" << (row.options.in_place ? " in place" : "") << " at "
                    << where);
      const World world(where);
      CHECK_NOTHROW(CheckRow(row, world.place()));
    }
  }
}

TEST_CASE("In steady state a layer on a device allocates nothing, and copies nothing except a loss",
          "[gradient]") {
  for (const GradientRow& row : Rows()) {
    if (row.type == "Filter" || row.type == "BatchReindex") continue;  // the host reads which items they take
    INFO(row.type << " { " << row.text << " }" << (row.options.in_place ? " in place" : ""));
    const World world("sim stream");
    Subject subject(row, world.place());
    subject.Gradients();
    for (int i = 0; i < 2; ++i) subject.Pass();
    const Statistics before = GetStatistics(world.device());
    const bool loss = subject.Pass();
    const Statistics used = GetStatistics(world.device()) - before;
    CHECK(used.allocations.count == 0);
    CHECK(used.host_to_device.count == 0);
    CHECK(used.device_to_host.bytes <= (loss ? 2 * sizeof(double) : 0));
  }
}

TEST_CASE("Each type of layer has its gradient tested, or is known to have none", "[gradient]") {
  std::set<std::string> known(WithoutGradient().begin(), WithoutGradient().end());
  for (const GradientRow& row : Rows()) {
    CHECK(!std::count(WithoutGradient().begin(), WithoutGradient().end(), row.type));
    known.insert(row.type);
  }
  std::set<std::string> types;
  for (const std::string& type : LayerRegistry<double>::LayerTypeList())
    if (!type.starts_with("Test")) types.insert(type);  // which other tests register
  CHECK(known == types);
}

}  // namespace
}  // namespace ferry::nets_test
