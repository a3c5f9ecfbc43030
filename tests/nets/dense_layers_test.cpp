// SPDX-License-Identifier: BSD-2-Clause
// The layers before a loss, where Caffe's values do not reach.
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>

#include "tests/nets/layer_run.hpp"

namespace ferry::nets_test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

TEST_CASE("Parameters that a layer makes have its name and their number, whatever it was made from") {
  const World world("host cpu");
  for (const std::string given : {"", " blobs { shape { dim: 4 } data: [1, 2, 3, 4] }"}) {
    const Run run(world, LayerText("Scale", "scale_param { axis: 0 bias_term: true }" + given),
                  {Reals({4}, 1)});
    REQUIRE(run.layer->blobs().size() == 2);
    CHECK(run.layer->blobs()[0]->name() == (given.empty() ? "l.0" : ""));
    CHECK(run.layer->blobs()[1]->name() == "l.1");
  }
}

TEST_CASE("A second blob of a layer without bias_term stays as it is, as in Caffe") {
  const World world("host cpu");
  const std::string table = "blobs { shape { dim: 2 dim: 2 } data: [1, 2, 3, 4] } ";
  const std::string spare = "blobs { shape { dim: 2 } data: [8, 9] } ";
  const auto check = [&](const std::string& type, const std::string& param, const Numbers& y) {
    INFO(type);
    Run run(world, LayerText(type, param + " bias_term: false } " + table + spare), {{{1, 2}, {1, 0}}});
    run.Forward();
    CHECK(DataOf(*run.top[0]) == y);
    SetDiff(*run.layer->blobs()[0], Numbers(4, 0));
    SetDiff(*run.layer->blobs()[1], {6, 7});
    SetDiff(*run.top[0], Numbers(y.size(), 1));
    run.layer->Backward(run.top, {false}, run.bottom);
    CHECK(DiffOf(*run.layer->blobs()[1]) == Numbers{6, 7});
    CHECK_THROWS_MATCHES(Run(world, LayerText(type, param + " } " + table), {{{1, 2}, {1, 0}}}), NetError,
                         MessageMatches(ContainsSubstring("do not fit")));
  };
  check("InnerProduct", "inner_product_param { num_output: 2", {1, 3});
  check("Embed", "embed_param { num_output: 2 input_dim: 2", {3, 4, 1, 2});
}

TEST_CASE("InnerProduct is a product from its axis on, with either form of weights") {
  for (const std::string& where : Places())
    for (const int axis : {0, 1, 2, -1})
      for (const bool transpose : {false, true})
        for (const bool bias : {false, true}) {
          INFO(where << ", axis " << axis << ", transpose " << transpose << ", bias " << bias);
          const World world(where);
          const Given x = Reals({3, 4, 5}, 71);
          const std::size_t k = axis == 0 ? 60 : axis == 1 ? 20 : 5;
          const std::size_t m = 60 / k;
          constexpr std::size_t kOutputs = 67;  // more than a part of a row
          Run run(world,
                  LayerText("InnerProduct", "inner_product_param { num_output: 67 axis: " +
                                                std::to_string(axis) + (transpose ? " transpose: true" : "") +
                                                (bias ? "" : " bias_term: false") + " }"),
                  {x});
          run.FillParams(72);
          const Numbers w = DataOf(*run.layer->blobs()[0]);
          const Numbers b = bias ? DataOf(*run.layer->blobs()[1]) : Numbers(kOutputs);
          const Numbers dy = Reals({static_cast<std::int64_t>(m), 67}, 73).values;
          Numbers y(m * kOutputs);
          Numbers dx(60);
          Numbers dw(w.size());
          Numbers db(kOutputs);
          for (std::size_t i = 0; i < m; ++i)
            for (std::size_t j = 0; j < kOutputs; ++j) {
              y[i * kOutputs + j] = b[j];
              db[j] += 2 * dy[i * kOutputs + j];  // two passes backward add up
              for (std::size_t l = 0; l < k; ++l) {
                const std::size_t at = transpose ? l * kOutputs + j : j * k + l;
                y[i * kOutputs + j] += x.values[i * k + l] * w[at];
                dx[i * k + l] += dy[i * kOutputs + j] * w[at];
                dw[at] += 2 * dy[i * kOutputs + j] * x.values[i * k + l];
              }
            }
          run.Forward();
          CheckNear(DataOf(*run.top[0]), y);
          SetDiff(*run.top[0], dy);
          run.Backward();
          run.Backward();
          CheckNear(DiffOf(*run.bottom[0]), dx);
          CheckNear(DiffOf(*run.layer->blobs()[0]), dw);
          if (bias) CheckNear(DiffOf(*run.layer->blobs()[1]), db);
        }
}

TEST_CASE("One row times very many weights is their product") {
  for (const std::string& where : Places())
    for (const bool bias : {false, true}) {
      INFO(where << ", bias " << bias);
      const World world(where);
      constexpr std::size_t kInputs = 16389;  // times 64: over a million
      const Given x = Reals({1, kInputs}, 74);
      Run run(world,
              LayerText("InnerProduct", std::string("inner_product_param { num_output: 64 ") +
                                            (bias ? "" : "bias_term: false ") + "}"),
              {x});
      run.FillParams(75);
      const Numbers w = DataOf(*run.layer->blobs()[0]);
      Numbers y = bias ? DataOf(*run.layer->blobs()[1]) : Numbers(64);
      for (std::size_t j = 0; j < 64; ++j)
        for (std::size_t l = 0; l < kInputs; ++l) y[j] += x.values[l] * w[j * kInputs + l];
      run.Forward();
      CheckNear(DataOf(*run.top[0]), y);
    }
}

TEST_CASE("An index without a row is an error on the host, and its row not-a-number on a GPU") {
  for (const std::string& where : Places())
    for (const double index : {2.0, -1.0, std::nan("")}) {
      INFO(where << ", index " << index);
      const World world(where);
      Run run(world, LayerText("Embed", "embed_param { num_output: 2 input_dim: 2 }"),
              {{{3}, {1, index, 0}}});
      if (RunsOnHost(world.place())) {
        CHECK_THROWS_MATCHES(run.Forward(), NetError, MessageMatches(ContainsSubstring("position 1")));
        continue;
      }
      run.Forward();
      const Numbers rows = DataOf(*run.top[0]);
      for (std::size_t i = 0; i < 6; ++i) CHECK(std::isnan(rows[i]) == (i / 2 == 1));
      Blob<double> more({6, 2}, world.place().device());  // what comes before and after the table's gradient
      SetDiff(more, Numbers(12, 0));
      world.place().ReadWrite(Diff(more));  // so that they are on the device alone
      run.layer->blobs()[0]->ShareDiff(more.Slice(2, 2));
      SetDiff(*run.top[0], {1, 2, 3, 4, 5, 6});
      run.layer->Backward(run.top, {false}, run.bottom);
      CheckNear(DiffOf(more), {0, 0, 0, 0, 5, 6, 1, 2, 0, 0, 0, 0});
    }
}

TEST_CASE("Layers that in Caffe do not look whether a gradient is asked for compute it") {
  const World world("host cpu");
  for (const std::string& text :
       {LayerText("BatchNorm"), LayerText("BatchNorm", "batch_norm_param { use_global_stats: true }"),
        LayerText("MVN"), LayerText("Softmax"), LayerText("LRN"),
        LayerText("Im2col", "convolution_param { kernel_size: 2 }")}) {
    INFO(text);
    Run run(world, text, {Reals({2, 4, 3, 3}, 5)});
    run.Forward();
    SetDiff(*run.top[0], Reals({run.top[0]->count()}, 6).values);
    run.layer->Backward(run.top, {true}, run.bottom);
    const Numbers asked = DiffOf(*run.bottom[0]);
    SetDiff(*run.bottom[0], Numbers(72, 7));
    run.layer->Backward(run.top, {false}, run.bottom);
    CHECK(DiffOf(*run.bottom[0]) == asked);
  }
  Run in_place(world, LayerText("LRN"), {Reals({2, 4, 3, 3}, 5)});
  in_place.layer->Reshape(in_place.bottom, in_place.bottom);
  in_place.layer->Forward(in_place.bottom, in_place.bottom);
  CHECK_NOTHROW(in_place.layer->Backward(in_place.bottom, {false}, in_place.bottom));
  Run within(world, LayerText("LRN", "lrn_param { norm_region: WITHIN_CHANNEL }"), {Reals({2, 4, 3, 3}, 5)});
  within.Forward();
  SetDiff(*within.bottom[0], Numbers(72, 7));
  within.layer->Backward(within.top, {false}, within.bottom);
  CHECK(DiffOf(*within.bottom[0]) == Numbers(72, 7));
}

/// Caffe multiplies the gradient by what the layer has written over its bottom.
TEST_CASE("Power in place with the power 2 has Caffe's gradient") {
  for (const char* const where : {"host cpu", "sim stream"}) {
    const World world(where);
    Run run(world, LayerText("Power", "power_param { power: 2 }"), {{{1}, {3}}});
    run.top = run.bottom;
    run.layer->SetUp(run.bottom, run.top);
    run.Forward();
    CHECK(run.bottom[0]->cpu_data()[0] == 9);
    run.bottom[0]->mutable_cpu_diff()[0] = 1;
    run.layer->Backward(run.top, {true}, run.bottom);
    CHECK(run.bottom[0]->cpu_diff()[0] == 18 * 18);
  }
}

TEST_CASE("A shift of 0 leaves the sign of 0, which is that of Power's poles and of Log's gradient") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const char* const where : {"host cpu", "sim stream"}) {
    const World world(where);
    const Given zeros{{2}, {0.0, -0.0}};
    Run power(world, LayerText("Power", "power_param { power: -1 scale: -1 }"), {zeros});
    power.Forward();
    CHECK(DataOf(*power.top[0]) == Numbers{-kInfinity, kInfinity});
    Run root(world, LayerText("Power", "power_param { power: -0.5 scale: -0.5 }"), {zeros});
    root.Forward();
    SetDiff(*root.top[0], {-1, -1});
    root.Backward();
    CHECK(DiffOf(*root.bottom[0]) == Numbers{kInfinity, -kInfinity});
    Run log(world, LayerText("Log"), {zeros});
    log.Forward();
    SetDiff(*log.top[0], {1, 1});
    log.Backward();
    CHECK(DiffOf(*log.bottom[0]) == Numbers{kInfinity, -kInfinity});
    Run constant(world, LayerText("Power", "power_param { power: -1 scale: 0 }"), {zeros});
    constant.Forward();
    CHECK(DataOf(*constant.top[0]) == Numbers{kInfinity, kInfinity});
  }
}

TEST_CASE("Softmax goes along its axis, in place, too") {
  for (const std::string& where : Places())
    for (const std::int64_t inner : {std::int64_t{1}, std::int64_t{3}, std::int64_t{130}})
      for (const bool in_place : {false, true}) {
        INFO(where << ", inner " << inner << ", in place " << in_place);
        const World world(where);
        const Given x = Reals({2, 37, inner}, 31, 6);
        const Given dy = Reals({2, 37, inner}, 32);
        const auto columns = static_cast<std::size_t>(inner);
        const Numbers y = SoftmaxOf(x.values, 37, columns);
        Run run(world, LayerText("Softmax"), {x});
        if (in_place) run.top[0] = run.bottom[0];
        run.Forward();
        CheckNear(DataOf(*run.top[0]), y);
        SetDiff(*run.top[0], dy.values);
        run.Backward();
        Numbers dx(y.size());
        for (std::size_t i = 0; i < y.size(); ++i) {
          const std::size_t first = i / (37 * columns) * 37 * columns + i % columns;
          double dot = 0;
          for (std::size_t c = 0; c < 37; ++c) dot += dy.values[first + c * columns] * y[first + c * columns];
          dx[i] = (dy.values[i] - dot) * y[i];
        }
        CheckNear(DiffOf(*run.bottom[0]), dx);
      }
}

TEST_CASE("LRN in place computes what it does apart, and has no gradient there") {
  for (const std::string& where : Places())
    for (const char* const region : {"ACROSS_CHANNELS", "WITHIN_CHANNEL"}) {
      INFO(where << ", " << region);
      const World world(where);
      const std::string text =
          LayerText("LRN", std::string("lrn_param { local_size: 3 norm_region: ") + region + " }");
      const Given x = Reals({2, 5, 4, 3}, 41);
      Run apart(world, text, {x}), run(world, text, {x});
      run.top[0] = run.bottom[0];
      apart.Forward();
      run.Forward();
      CHECK(DataOf(*run.top[0]) == DataOf(*apart.top[0]));
      CHECK_THROWS_MATCHES(run.Backward(), NetError, MessageMatches(ContainsSubstring("cannot be in place")));
    }
}

TEST_CASE("LRN refuses a window that is even, or beyond what a size can be") {
  const World world("host cpu");
  for (const char* const size : {"4", "4294967295"}) {
    const std::string text = LayerText("LRN", std::string("lrn_param { local_size: ") + size + " }");
    CHECK_THROWS_MATCHES(Run(world, text, {Reals({1, 2, 3, 3}, 1)}), NetError,
                         MessageMatches(ContainsSubstring(std::string("local_size is ") + size)));
  }
}

TEST_CASE("A bottom with the coefficient 0 has no part in a sum") {
  for (const std::string& where : Places()) {
    INFO(where);
    const World world(where);
    const Given nothing{{2}, {HUGE_VAL, std::nan("")}};
    for (const std::string coefficients :
         {"coeff: 0 coeff: 2 coeff: 1", "coeff: 2 coeff: 0 coeff: 1", "coeff: 2 coeff: 1 coeff: 0"}) {
      std::vector<Given> bottoms(3, Given{{2}, {1, 2}});
      bottoms[coefficients.find(" 0") / 9] = nothing;
      Run run(world, LayerText("Eltwise", "eltwise_param { " + coefficients + " }"), bottoms);
      run.Forward();
      CHECK(DataOf(*run.top[0]) == Numbers{3, 6});
    }
  }
}

TEST_CASE("Accuracy counts over many predictions, and for each class") {
  constexpr std::size_t kInner = 100;
  const Given x = Integers({2, 4, kInner}, 5);
  Given label = Integers({2, kInner}, 4);
  Numbers right(4);
  Numbers seen(4);
  for (std::size_t i = 0; i < label.values.size(); ++i) {
    const auto cls = static_cast<std::size_t>(label.values[i]);
    if (cls == 3) continue;
    const std::size_t first = i / kInner * 4 * kInner + i % kInner;
    int rank = 0;
    for (std::size_t c = 0; c < 4; ++c)
      rank += x.values[first + c * kInner] >= x.values[first + cls * kInner] ? 1 : 0;
    seen[cls] += 1;
    right[cls] += rank <= 2 ? 1 : 0;
  }
  for (const std::string& where : Places()) {
    INFO(where);
    const World world(where);
    Run run(world, LayerText("Accuracy", "accuracy_param { top_k: 2 ignore_label: 3 }"), {x, label}, 2);
    run.Forward();
    CHECK(DataOf(*run.top[0])[0] == (right[0] + right[1] + right[2]) / (seen[0] + seen[1] + seen[2]));
    CHECK(DataOf(*run.top[1]) == Numbers{right[0] / seen[0], right[1] / seen[1], right[2] / seen[2], 0});
  }
}

TEST_CASE("An activation and its gradient are not-a-number where x is") {
  for (const char* const type : {"BNLL", "ELU", "Sigmoid", "Swish", "TanH"})
    for (const std::string& where : Places()) {
      INFO(type << " at " << where);
      const World world(where);
      Run run(world, LayerText(type), {{{1}, {std::nan("")}}});
      run.Forward();
      SetDiff(*run.top[0], {1});
      run.Backward();
      CHECK(std::isnan(DataOf(*run.top[0])[0]));
      CHECK(std::isnan(DiffOf(*run.bottom[0])[0]));
    }
}

}  // namespace
}  // namespace ferry::nets_test
