// SPDX-License-Identifier: BSD-2-Clause
// Losses, where Caffe's values do not reach.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <filesystem>

#include "ferry/nets/proto_io.hpp"
#include "ferry/statistics_device.hpp"
#include "tests/folder.hpp"
#include "tests/nets/layer_run.hpp"

namespace ferry::nets_test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
TEST_CASE("A label without a class is an error, and on a GPU not-a-number where there is no loss") {
  struct Case {
    std::string text;
    bool has_gain;
  };
  const Case kCases[] = {{LayerText("SoftmaxWithLoss"), false},
                         {LayerText("HingeLoss"), false},
                         {LayerText("MultinomialLogisticLoss"), false},
                         {LayerText("InfogainLoss"), true},
                         {LayerText("Accuracy"), false},
                         {LayerText("SoftmaxWithLoss", "loss_param { ignore_label: 255 }"), false}};
  for (const std::string& where : Places())
    for (const Case& of : kCases)
      for (const double label : {3.0, -1.0, 1e30, std::nan("")}) {
        INFO(of.text << " at " << where << ", label " << label);
        const World world(where);
        std::vector<Given> bottoms{Reals({4, 3}, 5), {{4}, {0, label, 2, 1}}};
        if (of.has_gain) bottoms.push_back(Reals({3, 3}, 6));
        Run run(world, of.text, bottoms);
        if (RunsOnHost(world.place()) || run.layer->loss(0) != 0) {
          CHECK_THROWS_MATCHES(run.Forward(), NetError,
                               MessageMatches(ContainsSubstring("'l'") && ContainsSubstring("position 1") &&
                                              ContainsSubstring("3 classes")));
        } else {
          run.Forward();
          CHECK(std::isnan(DataOf(*run.top[0])[0]));
          run.Fill(1, {{4}, {0, 1, 2, 1}});
          run.Forward();
          CHECK_FALSE(std::isnan(DataOf(*run.top[0])[0]));
        }
      }
}

TEST_CASE("A loss that is not-a-number for other reasons is returned") {
  for (const std::string& where : Places()) {
    INFO(where);
    const World world(where);
    Given x = Reals({3, 2}, 5);
    x.values[2] = std::nan("");
    const Given labels{{3}, {0, 0, 1}};
    CHECK(std::isnan(Run(world, LayerText("SoftmaxWithLoss"), {x, labels}).Forward()));
    for (const char* const version : {"false", "true"}) {
      INFO("legacy_version: " << version);
      const std::string text = std::string("contrastive_loss_param { legacy_version: ") + version + " }";
      CHECK(std::isnan(
          Run(world, LayerText("ContrastiveLoss", text), {x, Reals({3, 2}, 6), labels}).Forward()));
    }
  }
}

TEST_CASE("A wrong label spoils the gradient of its own prediction alone") {
  for (const std::string type : {"SoftmaxWithLoss", "HingeLoss", "MultinomialLogisticLoss"})
    for (const std::string& where : Places()) {
      INFO(type << " at " << where);
      const World world(where);
      if (RunsOnHost(world.place())) continue;
      Run run(world, LayerText(type), {Reals({3, 2}, 5), {{3}, {0, 7, 1}}});
      CHECK_THROWS_AS(run.Forward(), NetError);
      run.Backward();
      const Numbers gradient = DiffOf(*run.bottom[0]);
      for (std::size_t i = 0; i < 6; ++i) CHECK(std::isnan(gradient[i]) == (i / 2 == 1));
    }
}

TEST_CASE("The labels of ContrastiveLoss get no gradient, wanted or not") {
  for (const std::string& where : Places()) {
    INFO(where);
    const World world(where);
    Run run(world, LayerText("ContrastiveLoss"), {Reals({3, 2}, 5), Reals({3, 2}, 6), Integers({3}, 2)});
    run.Forward();
    SetDiff(*run.bottom[2], {1, 2, 3});
    run.layer->Backward(run.top, {true, true, true}, run.bottom);
    CHECK(DiffOf(*run.bottom[2]) == Numbers{1, 2, 3});
    CHECK(DiffOf(*run.bottom[0]) != Numbers(6, 0));
  }
}

TEST_CASE("Labels are cut to whole numbers before they are compared, as in Caffe") {
  for (const char* const where : {"host cpu", "sim stream"}) {
    const World world(where);
    Run ignored(world, LayerText("SoftmaxWithLoss", "loss_param { ignore_label: -1 }"),
                {{{2, 2}, {0, 0, 0, 0}}, {{2}, {-1.5, 0.9}}});
    ignored.Forward();
    CheckNear({ignored.top[0]->cpu_data()[0]}, {std::log(2.0)});
    const auto loss = [&](double similar) {
      Run run(world, LayerText("ContrastiveLoss", "contrastive_loss_param { margin: 5 }"),
              {{{1, 2}, {1, 2}}, {{1, 2}, {2, 4}}, {{1}, {similar}}});
      run.Forward();
      return run.top[0]->cpu_data()[0];
    };
    CHECK(loss(-1) == loss(1));
    CHECK(loss(-0.5) == loss(0));
    CHECK(loss(0) != loss(1));
  }
}

TEST_CASE("SoftmaxWithLoss divides by what the normalization says") {
  constexpr std::size_t kChannels = 5;
  constexpr std::size_t kInner = 70;  // more than a tile
  struct Case {
    std::string param;
    double divisor;  // 0: how many labels are not ignored
  };
  const Case kCases[] = {{"", 0},
                         {"normalization: VALID", 0},
                         {"normalization: FULL", 3 * kInner},
                         {"normalization: BATCH_SIZE", 3},
                         {"normalization: NONE", 1},
                         {"normalize: true", 0},
                         {"normalize: false", 3},
                         {"normalize: false normalization: FULL", 3 * kInner}};
  const Given x = Reals({3, kChannels, kInner}, 11, 4);
  const Given label = Integers({3, kInner}, kChannels);
  const Numbers p = SoftmaxOf(x.values, kChannels, kInner);
  for (const std::string& where : Places())
    for (const Case& of : kCases)
      for (const bool all_ignored : {false, true}) {
        INFO(of.param << " at " << where);
        const World world(where);
        Given labels = label;
        if (all_ignored) std::fill(labels.values.begin(), labels.values.end(), 2.0);
        double loss = 0;
        double valid = 0;
        Numbers gradient(p.size());
        for (std::size_t i = 0; i < labels.values.size(); ++i) {
          const auto cls = static_cast<std::size_t>(labels.values[i]);
          const std::size_t first = i / kInner * kChannels * kInner + i % kInner;
          if (cls == 2) continue;
          valid += 1;
          loss -= std::log(p[first + cls * kInner]);
          for (std::size_t c = 0; c < kChannels; ++c)
            gradient[first + c * kInner] = p[first + c * kInner] - (c == cls ? 1 : 0);
        }
        const double divisor = of.divisor != 0 ? of.divisor : std::max(valid, 1.0);
        for (double& value : gradient) value *= 0.5 / divisor;
        Run run(
            world,
            LayerText("SoftmaxWithLoss", "loss_weight: 0.5 loss_param { ignore_label: 2 " + of.param + " }"),
            {x, labels});
        CHECK(std::abs(run.Forward() - 0.5 * loss / divisor) <= 1e-12 * std::max(1.0, loss));
        run.Backward();
        CheckNear(DiffOf(*run.bottom[0]), gradient, 1e-14);
      }
}

TEST_CASE("SoftmaxWithLoss takes no prediction for less likely than the least float, in double, too") {
  for (const std::string& where : Places()) {
    INFO(where);
    const World world(where);
    Run run(world, LayerText("SoftmaxWithLoss"), {{{1, 2}, {0, 800}}, {{1}, {0}}});
    CHECK(std::abs(run.Forward() + std::log(1.17549435082229e-38)) <= 1e-12);  // 2^-126
  }
}

TEST_CASE("A sum of many terms is right, and has the same bits at every place") {
  const Given a = Reals({7, 1000}, 21);
  const Given b = Reals({7, 1000}, 22);
  double expected = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) expected += std::pow(a.values[i] - b.values[i], 2) / 14;
  std::vector<double> losses;
  for (const std::string& where : Places()) {
    const World world(where);
    Run run(world, LayerText("EuclideanLoss"), {a, b});
    losses.push_back(run.Forward());
  }
  CHECK(std::abs(losses[0] - expected) <= 1e-12 * expected);
  for (const double loss : losses) CHECK(loss == losses[0]);
}

TEST_CASE("A loss with two tops needs a loss_weight for each") {
  const World world("host cpu");
  const std::vector<Given> bottoms{Reals({3, 4}, 41), Integers({3}, 4), Reals({4, 4}, 42)};
  CHECK_THROWS_MATCHES(Run(world, LayerText("InfogainLoss"), bottoms, 2), NetError,
                       MessageMatches(ContainsSubstring("1 loss_weight for 2 top blobs")));
  CHECK_THROWS_AS(
      Run(world, LayerText("SoftmaxWithLoss", "loss_weight: 1 loss_weight: 0"), {bottoms[0], bottoms[1]}, 2),
      NetError);
}

TEST_CASE("InfogainLoss has Softmax's values as its second top") {
  for (const std::string& where : Places()) {
    INFO(where);
    const World world(where);
    const Given x = Reals({3, 4}, 41, 2);
    Run run(world, LayerText("InfogainLoss", "loss_weight: 1 loss_weight: 0"),
            {x, Integers({3}, 4), Reals({4, 4}, 42)}, 2);
    run.Forward();
    CheckNear(DataOf(*run.top[1]), SoftmaxOf(x.values, 4, 1));
  }
}

TEST_CASE("InfogainLoss reads H from a file") {
  const ferry::testing::Folder folder;
  const std::string file = folder / "infogain.binaryproto";
  const Given gain = Reals({1, 1, 3, 3}, 51);
  BlobProto message;
  for (const std::int64_t dim : gain.shape) message.mutable_shape()->add_dim(dim);
  for (const double value : gain.values) message.add_double_data(value);
  WriteProtoToBinaryFile(message, file);
  const std::vector<Given> bottoms{Reals({3, 3, 2}, 52), Integers({3, 2}, 3), gain};
  for (const std::string& where : Places()) {
    INFO(where);
    const World world(where);
    Run read(world, LayerText("InfogainLoss", "infogain_loss_param { source: '" + file + "' }"),
             {bottoms[0], bottoms[1]});
    Run bottom(world, LayerText("InfogainLoss"), bottoms);
    CHECK(read.Forward() == bottom.Forward());
    read.Backward();
    bottom.Backward();
    CHECK(DiffOf(*read.bottom[0]) == DiffOf(*bottom.bottom[0]));
  }
  const World world("host cpu");
  CHECK_THROWS_MATCHES(Run(world, LayerText("InfogainLoss"), {bottoms[0], bottoms[1]}), NetError,
                       MessageMatches(ContainsSubstring("source")));
}

TEST_CASE("No loss gives its labels a gradient") {
  const World world("host cpu");
  for (const std::string type : {"SoftmaxWithLoss", "HingeLoss", "MultinomialLogisticLoss", "InfogainLoss",
                                 "SigmoidCrossEntropyLoss"}) {
    INFO(type);
    const bool is_sigmoid = type == "SigmoidCrossEntropyLoss";
    std::vector<Given> bottoms{Reals({3, 3}, 61), is_sigmoid ? Integers({3, 3}, 2) : Integers({3}, 3)};
    if (type == "InfogainLoss") bottoms.push_back(Reals({3, 3}, 62));
    Run run(world, LayerText(type), bottoms);
    CHECK_FALSE(run.layer->AllowForceBackward(1));
    run.Forward();
    std::vector<bool> propagate(bottoms.size(), false);
    propagate[1] = true;
    CHECK_THROWS_MATCHES(run.layer->Backward(run.top, propagate, run.bottom), NetError,
                         MessageMatches(ContainsSubstring("bottom 1")));
  }
}

TEST_CASE("In steady state a loss copies itself to the host, and allocates nothing") {
  const Given x = Reals({8, 5}, 81);
  const Given label = Integers({8}, 5);
  struct Case {
    std::string text;
    std::vector<Given> bottoms;
    std::size_t tops = 1;
    bool has_gradient = true;
  };
  const Case kCases[] = {
      {LayerText("SoftmaxWithLoss", "loss_param { ignore_label: 1 }"), {x, label}},
      {LayerText("HingeLoss"), {x, label}},
      {LayerText("MultinomialLogisticLoss"), {x, label}},
      {LayerText("InfogainLoss"), {x, label, Reals({5, 5}, 82)}},
      {LayerText("SigmoidCrossEntropyLoss"), {x, Integers({8, 5}, 2)}},
      {LayerText("EuclideanLoss"), {Reals({80, 50}, 83), Reals({80, 50}, 84)}},
      {LayerText("ContrastiveLoss"), {x, Reals({8, 5}, 85), Integers({8}, 2)}},
      {LayerText("Accuracy"), {x, label}, 2, false},
      {LayerText("InnerProduct", "inner_product_param { num_output: 3 }"), {x}},
      {LayerText("Softmax"), {x}},
      {LayerText("RNN", "recurrent_param { num_output: 3 }"), {Reals({4, 2, 3}, 86), Integers({4, 2}, 2)}},
      {LayerText("LSTM", "recurrent_param { num_output: 3 }"), {Reals({4, 2, 3}, 87), Integers({4, 2}, 2)}},
  };
  for (const Case& of : kCases) {
    INFO(of.text);
    const World world("sim stream");
    Run run(world, of.text, of.bottoms, of.tops);
    for (const auto& top : run.top)
      if (of.has_gradient && run.layer->loss(0) == 0) SetDiff(*top, Reals({top->count()}, 88).values);
    const auto pass = [&] {
      run.Forward();
      if (of.has_gradient) run.Backward();
    };
    for (int i = 0; i < 2; ++i) pass();
    const Statistics before = GetStatistics(world.device());
    pass();
    const Statistics used = GetStatistics(world.device()) - before;
    CHECK(used.allocations.count == 0);
    CHECK(used.host_to_device.count == 0);
    CHECK(used.device_to_host.bytes <= (run.layer->loss(0) == 0 ? 0 : 2 * sizeof(double)));
  }
}

}  // namespace
}  // namespace ferry::nets_test
