// SPDX-License-Identifier: BSD-2-Clause
// What layers refuse, in words, beside what Caffe does (rejected_test.cpp).
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "ferry/nets/proto_io.hpp"
#include "ferry/transfer_guard.hpp"
#include "tests/folder.hpp"
#include "tests/nets/layer_run.hpp"

namespace ferry::nets_test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

TEST_CASE("A layer says what it cannot take, and what it could") {
  struct Case {
    const char* type;
    const char* param;
    std::vector<Given> bottoms;
    std::size_t tops;
    const char* error;
  };
  const Given image{{1, 1, 3, 3}, Numbers(9, 1)};
  const Case cases[] = {
      {"Slice",
       "slice_param { slice_point: 1 slice_point: 2 }",
       {{{1, 2}, {1, 2}}},
       3,
       "axis 1 of bottom 0 is 2, less than 3 tops"},
      {"Embed",
       "embed_param { num_output: 4 input_dim: 0 }",
       {{{1}, {0}}},
       1,
       "{ num_output: 4 input_dim: 0 }; both must be 1 or more"},
      {"Embed",
       "embed_param { num_output: 1 input_dim: 5 }",
       {{{2}, {4, 9}}},
       1,
       "index 9.000000 at position 1; there are 5 rows, 0 to 4"},
      {"Im2col", "convolution_param { kernel_size: 0 }", {image}, 1, "kernel is 0 for spatial axis 0"},
      {"Im2col", "convolution_param { kernel_size: 2 stride: 0 }", {image}, 1, "stride is 0"},
      {"Scale", "scale_param { num_axes: 2147483647 }", {image}, 1, "num_axes 2147483647"},
      {"BatchReindex", "", {{{2, 1}, {1, 2}}, {{2}, {1, -1}}}, 1, "element 1 of bottom 1 is -1"},
      {"BatchReindex", "", {{{2, 1}, {1, 2}}, {{2}, {1, 2}}}, 1, "element 1 of bottom 1 is 2"},
  };
  const World world("host cpu");
  for (const Case& one : cases) {
    INFO(one.type << ' ' << one.param);
    const auto run = [&] { Run(world, LayerText(one.type, one.param), one.bottoms, one.tops).Forward(); };
    CHECK_THROWS_MATCHES(run(), Error,
                         MessageMatches(ContainsSubstring(one.type) && ContainsSubstring(one.error)));
  }
}

TEST_CASE("What a layer reads or makes on the host is meant where transfers are forbidden") {
  const ferry::testing::Folder folder;
  BlobProto h;
  h.mutable_shape()->add_dim(2);
  h.mutable_shape()->add_dim(2);
  for (int i = 0; i < 4; ++i) h.add_data(static_cast<float>(i));
  WriteProtoToBinaryFile(h, folder / "h");
  const std::string source = "infogain_loss_param { source: '" + (folder / "h").string() + "' }";
  const World world("sim stream");
  for (const std::string& text :
       {LayerText("Filter"), LayerText("BatchReindex"), LayerText("InfogainLoss", source)}) {
    INFO(text);
    Run run(world, text, {{{2, 2}, {1, 2, 3, 4}}, {{2}, {1, 0}}});
    for (Blob<double>* const bottom : run.bottom) Scale(world.place(), 1.0, *bottom);
    const TransferGuard forbidden(TransferPolicy::kThrow);
    CHECK_NOTHROW(run.Forward());
    for (Blob<double>* const top : run.top) Set(world.place(), 1.0, Diff(*top));
    CHECK_NOTHROW(run.Backward());
  }
}

TEST_CASE("A pyramid is whole again after a shape that it cannot have") {
  const World world("host cpu");
  Run run(world, LayerText("SPP", "spp_param { pyramid_height: 2 }"), {Reals({1, 1, 4, 4}, 1)});
  run.Forward();
  const Numbers before = DataOf(*run.top[0]);
  REQUIRE(before.size() == 5);
  run.bottom[0]->Reshape({1, 1, 16, 1});
  CHECK_THROWS_AS(run.Forward(), NetError);
  run.Fill(0, Reals({1, 1, 4, 4}, 1));
  run.Forward();
  CHECK(DataOf(*run.top[0]) == before);
}

TEST_CASE("A crop has one offset for each axis, also when it has got other axes") {
  const World world("host cpu");
  Run run(world, LayerText("Crop", "crop_param { axis: 2 offset: 1 offset: 1 }"),
          {Reals({1, 1, 3, 3}, 1), Reals({1, 1, 2, 2}, 2)});
  run.Forward();
  run.Fill(0, Reals({1, 1, 3, 3, 3}, 1));
  run.Fill(1, Reals({1, 1, 2, 2, 2}, 2));
  CHECK_THROWS_MATCHES(run.Forward(), NetError,
                       MessageMatches(ContainsSubstring("2 offset for 3 axes to crop")));
}

TEST_CASE("Numbers of items that a pass refuses leave the last ones as they were") {
  const World world("host cpu");
  Run run(world, LayerText("BatchReindex"), {{{2, 1}, {1, 2}}, {{3}, {1, 1, 0}}});
  run.Forward();
  run.Fill(1, {{3}, {0, 0, 9}});
  CHECK_THROWS_AS(run.Forward(), NetError);
  Set(world.place(), 1.0, Diff(*run.top[0]));
  run.Backward();
  CHECK(DiffOf(*run.bottom[0]) == Numbers{1, 2});
}

TEST_CASE("Dropout that drops nothing copies from one part of an array to another") {
  const World world("host cpu");
  Blob<double> all({4}, world.device());
  std::iota(all.mutable_cpu_data(), all.mutable_cpu_data() + 4, 1);
  Blob<double> x = all.Slice(0, 2), y = all.Slice(2, 2);
  LayerParameter param;
  param.set_name("l");
  param.set_type("Dropout");
  param.set_phase(TEST);
  const auto layer = LayerRegistry<double>::CreateLayer(param, world.place());
  layer->SetUp({&x}, {&y});
  layer->Forward({&x}, {&y});
  CHECK(DataOf(all) == Numbers{1, 2, 1, 2});
}

TEST_CASE("A selector that is asked for a gradient says that it has none") {
  const World world("host cpu");
  Run run(world, LayerText("Filter"), {{{2, 1}, {1, 2}}, {{2}, {1, 0}}});
  run.Forward();
  CHECK_THROWS_MATCHES(run.layer->Backward(run.top, {true, true}, run.bottom), Error,
                       MessageMatches(ContainsSubstring("the selector, bottom 1, has no gradient")));
  CHECK_NOTHROW(run.layer->Backward(run.top, {true, false}, run.bottom));
}

}  // namespace
}  // namespace ferry::nets_test
