// SPDX-License-Identifier: BSD-2-Clause
// RNN and LSTM, where Caffe's values do not reach.
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>

#include "core/nets/layers/recurrent_layer.hpp"
#include "tests/nets/layer_run.hpp"

namespace ferry::nets_test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

constexpr std::int64_t kStreams = 2;
constexpr std::int64_t kInputs = 3;
constexpr std::int64_t kOutputs = 4;

std::string Text(const std::string& type, const std::string& more = "") {
  return LayerText(type, "recurrent_param { num_output: 4 " + more + " }");
}
std::size_t States(const std::string& type) { return type == "LSTM" ? 2 : 1; }
Given Ones(std::int64_t steps) {
  return {{steps, kStreams}, Numbers(static_cast<std::size_t>(steps * kStreams), 1.0)};
}
/// Steps `first` to `first + count - 1`.
Given Steps(const Given& given, std::int64_t first, std::int64_t count) {
  Given part = given;
  const auto step = static_cast<std::int64_t>(given.values.size()) / given.shape[0];
  part.shape[0] = count;
  part.values.assign(given.values.begin() + first * step, given.values.begin() + (first + count) * step);
  return part;
}
Numbers Joined(Numbers a, const Numbers& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
void Reset(Run& run) { dynamic_cast<detail::RecurrentLayer<double>&>(*run.layer).Reset(); }

/// A test that calls this runs for both types.
std::string EachType() { return GENERATE(as<std::string>(), "RNN", "LSTM"); }

TEST_CASE("A sequence that begins keeps nothing, even if its forget gate is no number") {
  for (const std::string& where : Places()) {
    INFO(where);
    const World world(where);
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    Run run(world, LayerText("LSTMUnit", ""),
            {{{1, 2, 1}, {5, 5}}, {{1, 2, 4}, {0, kNone, 0, 0, 0, 0, 0, 0}}, {{1, 2}, {0, 1}}}, 2);
    run.Forward();
    CHECK(DataOf(*run.top[0]) == Numbers{0, 2.5});
  }
}

TEST_CASE("A sequence in two batches gives what it gives in one") {
  const std::string type = EachType();
  const Given x = Reals({4, kStreams, kInputs}, 1);
  for (const std::string& where : Places()) {
    INFO(type << " at " << where);
    const World world(where);
    Run whole(world, Text(type), {x, Ones(4)});
    whole.FillParams(2);
    whole.Forward();

    Run halves(world, Text(type), {Steps(x, 0, 2), Ones(2)});
    halves.FillParams(2);
    halves.Forward();
    const Numbers first = DataOf(*halves.top[0]);
    halves.Fill(0, Steps(x, 2, 2));
    halves.Forward();
    CheckNear(Joined(first, DataOf(*halves.top[0])), DataOf(*whole.top[0]));

    halves.Fill(0, Steps(x, 0, 2));
    halves.Forward();
    const Numbers carried = DataOf(*halves.top[0]);
    CHECK(carried != first);
    Reset(halves);
    halves.Forward();
    CHECK(DataOf(*halves.top[0]) == first);
  }
}

TEST_CASE("Where cont is 0 a sequence begins, of its stream alone") {
  const std::string type = EachType();
  const Given x = Reals({4, kStreams, kInputs}, 1);
  for (const std::string& where : Places()) {
    INFO(type << " at " << where);
    const World world(where);
    Given cont = Ones(4);
    cont.values[2 * kStreams] = 0;  // stream 0 at step 2
    Run cut(world, Text(type), {x, cont});
    cut.FillParams(2);
    cut.Forward();
    Run whole(world, Text(type), {x, Ones(4)});
    whole.FillParams(2);
    whole.Forward();
    Run fresh(world, Text(type), {Steps(x, 2, 2), Ones(2)});
    fresh.FillParams(2);
    fresh.Forward();
    for (std::int64_t t = 2; t < 4; ++t)
      for (std::int64_t i = 0; i < kOutputs; ++i) {
        CHECK(std::abs(cut.top[0]->data_at({t, 0, i}) - fresh.top[0]->data_at({t - 2, 0, i})) <= 1e-14);
        CHECK(cut.top[0]->data_at({t, 1, i}) == whole.top[0]->data_at({t, 1, i}));
      }
  }
}

TEST_CASE("An exposed state handed on by the caller is as good as one that the layer keeps") {
  const std::string type = EachType();
  const Given x = Reals({4, kStreams, kInputs}, 1);
  for (const std::string& where : Places()) {
    INFO(type << " at " << where);
    const World world(where);
    Run whole(world, Text(type), {x, Ones(4)});
    whole.FillParams(2);
    whole.Forward();
    std::vector<Given> bottoms{Steps(x, 0, 2), Ones(2)};
    for (std::size_t i = 0; i < States(type); ++i)
      bottoms.push_back({{1, kStreams, kOutputs}, Numbers(kStreams * kOutputs)});
    Run exposed(world, Text(type, "expose_hidden: true"), bottoms, 1 + States(type));
    exposed.FillParams(2);
    exposed.Forward();
    const Numbers first = DataOf(*exposed.top[0]);
    for (std::size_t i = 0; i < States(type); ++i)
      exposed.Fill(2 + i, {{1, kStreams, kOutputs}, DataOf(*exposed.top[1 + i])});
    exposed.Fill(0, Steps(x, 2, 2));
    exposed.Forward();
    CheckNear(Joined(first, DataOf(*exposed.top[0])), DataOf(*whole.top[0]));
  }
}

TEST_CASE("A static input is as good as one that each step repeats") {
  const std::string type = EachType();
  constexpr std::int64_t kSteps = 3;
  constexpr std::int64_t kStatic = 2;
  const Given x = Reals({kSteps, kStreams, kInputs}, 1);
  const Given same = Reals({kStreams, kStatic}, 2);
  Given both{{kSteps, kStreams, kInputs + kStatic}, {}};
  for (std::int64_t i = 0; i < kSteps * kStreams; ++i) {
    both.values.insert(both.values.end(), x.values.begin() + i * kInputs,
                       x.values.begin() + (i + 1) * kInputs);
    const std::int64_t stream = i % kStreams * kStatic;
    both.values.insert(both.values.end(), same.values.begin() + stream,
                       same.values.begin() + stream + kStatic);
  }
  for (const std::string& where : Places()) {
    INFO(type << " at " << where);
    const World world(where);
    Run run(world, Text(type), {x, Ones(kSteps), same});
    run.FillParams(3);
    Run repeated(world, Text(type), {both, Ones(kSteps)});
    const auto& params = run.layer->blobs();
    const std::int64_t rows = params[0]->shape(0);
    const auto joined = [&](const Numbers& w, const Numbers& w_static) {
      Numbers all;
      for (std::int64_t row = 0; row < rows; ++row) {
        all.insert(all.end(), w.begin() + row * kInputs, w.begin() + (row + 1) * kInputs);
        all.insert(all.end(), w_static.begin() + row * kStatic, w_static.begin() + (row + 1) * kStatic);
      }
      return all;
    };
    SetData(*repeated.layer->blobs()[0], joined(DataOf(*params[0]), DataOf(*params[2])));
    for (std::size_t i = 1; i < repeated.layer->blobs().size(); ++i)
      SetData(*repeated.layer->blobs()[i], DataOf(*params[i == 1 ? 1 : i + 1]));
    run.Forward();
    repeated.Forward();
    CheckNear(DataOf(*run.top[0]), DataOf(*repeated.top[0]));

    const Numbers dy = Reals({kSteps, kStreams, kOutputs}, 4).values;
    SetDiff(*run.top[0], dy);
    SetDiff(*repeated.top[0], dy);
    run.Backward();
    repeated.Backward();
    CheckNear(joined(DiffOf(*params[0]), DiffOf(*params[2])), DiffOf(*repeated.layer->blobs()[0]));
    for (std::size_t i = 1; i < repeated.layer->blobs().size(); ++i)
      CheckNear(DiffOf(*params[i == 1 ? 1 : i + 1]), DiffOf(*repeated.layer->blobs()[i]));
  }
}

TEST_CASE("The number of streams may change, the number of steps may not") {
  const std::string type = EachType();
  const World world("sim stream");
  const Given x = Reals({2, 5, kInputs}, 1);
  const Given cont{{2, 5}, Numbers(10)};
  Run other(world, Text(type), {x, cont});
  other.FillParams(2);
  other.Forward();
  Run run(world, Text(type), {Reals({2, kStreams, kInputs}, 3), Ones(2)});
  run.FillParams(2);
  run.Forward();
  run.Fill(0, x);
  run.Fill(1, cont);
  run.Forward();
  CHECK(DataOf(*run.top[0]) == DataOf(*other.top[0]));
  run.Fill(0, Reals({3, 5, kInputs}, 1));
  run.Fill(1, {{3, 5}, Numbers(15)});
  CHECK_THROWS_MATCHES(run.Forward(), NetError, MessageMatches(ContainsSubstring("set up for 2")));
}

TEST_CASE("All steps follow a parameter that gets another storage, or comes with the layer") {
  const std::string type = EachType();
  const World world("sim stream");
  const std::vector<Given> bottoms{Reals({3, kStreams, kInputs}, 1), Ones(3)};
  Run source(world, Text(type), bottoms);
  source.FillParams(2);
  source.Forward();
  Run sharing(world, Text(type), bottoms);
  for (std::size_t i = 0; i < source.layer->blobs().size(); ++i)
    sharing.layer->blobs()[i]->ShareData(*source.layer->blobs()[i]);
  sharing.Forward();
  CHECK(DataOf(*sharing.top[0]) == DataOf(*source.top[0]));

  LayerParameter param;
  source.layer->ToProto(&param);
  Run copied(world, param, bottoms, 1);
  copied.Forward();
  CHECK(DataOf(*copied.top[0]) == DataOf(*source.top[0]));
}

}  // namespace
}  // namespace ferry::nets_test
