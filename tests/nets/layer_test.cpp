// SPDX-License-Identifier: BSD-2-Clause
// What Layer itself promises, to users' layers too.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "ferry/kokkos.hpp"
#include "tests/nets/lone_layer.hpp"

namespace ferry::nets_test {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

/// y = 3 x, as someone writes it who has Caffe in mind.
template <class T>
class TestCpuLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;
  const char* type() const override { return "TestCpu"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int MinTopBlobs() const override { return 1; }
  int MaxTopBlobs() const override { return 2; }
  void Reshape(const Blobs& bottom, const Blobs& top) override {
    for (Blob<T>* const blob : top) blob->ReshapeLike(*bottom[0]);
  }

 protected:
  void Forward_cpu(const Blobs& bottom, const Blobs& top) override {
    for (Blob<T>* const blob : top)
      std::transform(bottom[0]->cpu_data(), bottom[0]->cpu_data() + bottom[0]->count(),
                     blob->mutable_cpu_data(), [](T x) { return 3 * x; });
  }
  void Backward_cpu(const Blobs& top, const std::vector<bool>& propagate_down, const Blobs& bottom) override {
    if (propagate_down[0])
      std::transform(top[0]->cpu_diff(), top[0]->cpu_diff() + top[0]->count(), bottom[0]->mutable_cpu_diff(),
                     [](T dy) { return 3 * dy; });
  }
};
REGISTER_LAYER_CLASS(TestCpu);

/// The same at every place.
template <class T>
class TestPlaceLayer : public TestCpuLayer<T> {
 public:
  using TestCpuLayer<T>::TestCpuLayer;
  using typename Layer<T>::Blobs;
  const char* type() const override { return "TestPlace"; }

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    ParallelFor(
        place, top[0]->count(), Read(*bottom[0]), Overwrite(*top[0]),
        KOKKOS_LAMBDA(std::int64_t i, const T* x, T* y) { y[i] = 3 * x[i]; });
  }
  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& /*propagate_down*/,
                  const Blobs& bottom) override {
    ParallelFor(
        place, top[0]->count(), Read(Diff(*top[0])), Overwrite(Diff(*bottom[0])),
        KOKKOS_LAMBDA(std::int64_t i, const T* dy, T* dx) { dx[i] = 3 * dy[i]; });
  }
};
REGISTER_LAYER_CLASS(TestPlace);

/// Counts the calls of the function for GPUs.
template <class T>
class TestGpuLayer : public TestCpuLayer<T> {
 public:
  using TestCpuLayer<T>::TestCpuLayer;
  using typename Layer<T>::Blobs;
  int gpu_calls = 0;

 protected:
  void Forward_gpu(const Blobs& bottom, const Blobs& top) override {
    ++gpu_calls;
    this->Forward_cpu(bottom, top);
  }
};
REGISTER_LAYER_CLASS(TestGpu);

/// Has a parameter, and computes nothing.
template <class T>
class TestNothingLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;
  bool EqualNumBottomTopBlobs() const override { return true; }
  void LayerSetUp(const Blobs& /*bottom*/, const Blobs& /*top*/) override {
    if (this->blobs_.empty())
      this->blobs_.push_back(std::make_shared<Blob<T>>(std::vector<std::int64_t>{2}, this->place().device()));
    this->param_propagate_down_.resize(this->blobs_.size(), true);  // as Caffe's layers have it
  }
  void Reshape(const Blobs& bottom, const Blobs& top) override {
    for (std::size_t i = 0; i < top.size(); ++i) top[i]->ReshapeLike(*bottom[i]);
  }
};
REGISTER_LAYER_CLASS(TestNothing);

namespace {

using Vector = std::vector<double>;

TEST_CASE("A user's layer runs at every place, with functions for the CPU alone or for every place",
          "[layer]") {
  const auto type = GENERATE(as<std::string>(), "TestCpu", "TestPlace", "TestGpu");
  const World world(GENERATE(from_range(Places())));
  LoneLayer run("name: 'mine' type: '" + type + "'", world.place());
  run.SetUp();
  for (int pass = 0; pass < 2; ++pass) {
    // The bottom is where the layer in front of this one leaves it.
    Set(world.place(), static_cast<float>(pass + 1), *run.bottom[0]);
    CHECK(run.layer->Forward(run.bottom, run.top) == 0);
    CHECK(DataOf(*run.top[0]) == Vector(4, 3 * (pass + 1)));
    Set(world.place(), 5, Diff(*run.top[0]));
    run.layer->Backward(run.top, {true}, run.bottom);
    CHECK(DiffOf(*run.bottom[0]) == Vector(4, 15));
  }
}

TEST_CASE("A layer at the CPU does not call the functions for GPUs, and one on a stream does", "[layer]") {
  const World world(GENERATE(from_range(Places())));
  LoneLayer run("type: 'TestGpu'", world.place());
  run.SetUp();
  run.layer->Forward(run.bottom, run.top);
  CHECK(dynamic_cast<TestGpuLayer<float>&>(*run.layer).gpu_calls ==
        (world.place().side() == Side::kGpu ? 1 : 0));
}

TEST_CASE("A layer that overrides no function says so", "[layer]") {
  const World world(GENERATE(from_range(Places())));
  LoneLayer run("name: 'mine' type: 'TestNothing'", world.place());
  run.SetUp();
  CHECK_THROWS_MATCHES(run.layer->Forward(run.bottom, run.top), NetError,
                       MessageMatches(ContainsSubstring("layer 'mine' (TestNothing)") &&
                                      ContainsSubstring("neither ForwardAt nor Forward_cpu")));
  CHECK_NOTHROW(run.layer->Backward(run.top, {false}, run.bottom));
  CHECK_THROWS_MATCHES(run.layer->Backward(run.top, {true}, run.bottom), NetError,
                       MessageMatches(ContainsSubstring("no gradient")));
}

TEST_CASE("A layer that reads its bottom after it has written its top refuses to be in place", "[layer]") {
  const World world("host cpu");
  for (const std::string text :
       {"type: 'Concat'", "type: 'Eltwise'", "type: 'BatchReindex'", "type: 'Filter'",
        "type: 'Tile' tile_param { axis: 0 tiles: 2 }", "type: 'ArgMax' argmax_param { axis: 0 }",
        "type: 'Slice' slice_param { axis: 0 }", "type: 'AbsVal'", "type: 'Split'",
        "type: 'Embed' embed_param { num_output: 1 input_dim: 9 }",
        "type: 'InnerProduct' inner_product_param { num_output: 4 axis: 0 }", "type: 'Reduction'",
        "type: 'EuclideanLoss'"}) {
    INFO(text);
    const std::string type = text.substr(7, text.find('\'', 7) - 7);
    const bool reads_two = type == "Concat" || type == "Eltwise" || type == "BatchReindex" ||
                           type == "Filter" || type == "EuclideanLoss";
    LoneLayer run(text, world.place(), reads_two ? 2 : 1, type == "Slice" ? 2 : 1);
    run.top[0] = run.bottom[0];
    CHECK_THROWS_MATCHES(run.SetUp(), NetError,
                         MessageMatches(ContainsSubstring(type) && ContainsSubstring("top 0 is bottom 0")));
    CHECK(DataOf(*run.bottom[0]) == Vector{1, 2, 3, 4});
  }
}

TEST_CASE("A layer that could not be set up again is not run backward", "[layer]") {
  const World world("host cpu");
  LoneLayer run("type: 'EuclideanLoss'", world.place(), 2);
  run.SetUp();
  run.bottom[1]->Reshape({3});
  CHECK_THROWS_AS(run.SetUp(), NetError);
  CHECK_THROWS_MATCHES(run.layer->Backward(run.top, {true, false}, run.bottom), NetError,
                       MessageMatches(ContainsSubstring("do not fit")));
}

TEST_CASE("An error about the number of blobs says how many there are and how many there may be", "[layer]") {
  const World world("host cpu");
  LoneLayer two("type: 'TestCpu'", world.place(), 2);
  CHECK_THROWS_MATCHES(two.SetUp(), NetError,
                       MessageMatches(ContainsSubstring("2 bottom blobs; it takes 1")));
  LoneLayer none("type: 'TestCpu'", world.place(), 1, 0);
  CHECK_THROWS_MATCHES(none.SetUp(), NetError,
                       MessageMatches(ContainsSubstring("0 top blobs; it takes 1 to 2")));
  LoneLayer three("type: 'TestCpu'", world.place(), 1, 3);
  CHECK_THROWS_MATCHES(three.SetUp(), NetError,
                       MessageMatches(ContainsSubstring("3 top blobs; it takes 1 to 2")));
  LoneLayer unequal("type: 'TestNothing'", world.place(), 2, 1);
  CHECK_THROWS_MATCHES(unequal.SetUp(), NetError,
                       MessageMatches(ContainsSubstring("2 bottom blobs and 1 top")));
  LoneLayer least("type: 'Eltwise'", world.place(), 1, 1);
  CHECK_THROWS_MATCHES(least.SetUp(), NetError,
                       MessageMatches(ContainsSubstring("1 bottom blobs; it takes 2 or more")));
}

TEST_CASE("A parameter has no gradient until someone wants it, and those before it then do", "[layer]") {
  const World world("host cpu");
  const LoneLayer run("type: 'TestNothing'", world.place());
  CHECK_FALSE(run.layer->param_propagate_down(0));
  run.layer->set_param_propagate_down(2, false);
  CHECK(run.layer->param_propagate_down(0));
  CHECK(run.layer->param_propagate_down(1));
  CHECK_FALSE(run.layer->param_propagate_down(2));
  run.layer->set_param_propagate_down(0, false);
  CHECK_FALSE(run.layer->param_propagate_down(0));
}

TEST_CASE("A layer's message has its parameter and its blobs as they are, and makes the same layer",
          "[layer]") {
  const World world(GENERATE(from_range(Places())));
  LoneLayer run("name: 'mine' type: 'TestNothing' blobs { shape { dim: 2 } data: 1 data: 1 }", world.place());
  CHECK(run.layer->layer_param().blobs_size() == 0);
  run.SetUp();
  Set(world.place(), 6, *run.layer->blobs()[0]);
  Set(world.place(), 7, Diff(*run.layer->blobs()[0]));

  LayerParameter without, with;
  run.layer->ToProto(&without);
  run.layer->ToProto(&with, true);
  CHECK(without.name() == "mine");
  REQUIRE(without.blobs_size() == 1);
  CHECK(without.blobs(0).diff_size() == 0);
  REQUIRE(with.blobs(0).diff_size() == 2);
  CHECK(with.blobs(0).diff(1) == 7);

  const auto again = LayerRegistry<float>::CreateLayer(with, world.place());
  REQUIRE(again->blobs().size() == 1);
  CHECK(DataOf(*again->blobs()[0]) == Vector{6, 6});
  CHECK(DiffOf(*again->blobs()[0]) == Vector{7, 7});
}

TEST_CASE("Each pass forward has random numbers of its own", "[layer]") {
  const World world("host cpu");
  LoneLayer run("type: 'TestCpu'", world.place());
  run.SetUp();
  run.layer->set_random_key({1, 2, 3});
  run.layer->Forward(run.bottom, run.top);
  CHECK(run.layer->random_key().iteration == 4);
  CHECK(run.layer->random_key().seed == 1);
}

TEST_CASE("An unknown type of layer is refused with a list of those that there are", "[layer]") {
  const std::vector<std::string> types = LayerRegistry<float>::LayerTypeList();
  CHECK(std::is_sorted(types.begin(), types.end()));
  CHECK(std::count(types.begin(), types.end(), "ReLU") == 1);
  CHECK(std::count(types.begin(), types.end(), "TestCpu") == 1);
  CHECK_THROWS_MATCHES(LayerRegistry<float>::CreateLayer(LayerOf("name: 'a' type: 'Relu'")), NetError,
                       MessageMatches(ContainsSubstring("layer 'a': type 'Relu' is unknown") &&
                                      ContainsSubstring(" ReLU, ") && ContainsSubstring(" TestCpu, ")));
}

TEST_CASE("The types of Caffe that Ferry does without are refused with the reason", "[layer]") {
  CHECK_THROWS_MATCHES(LayerRegistry<float>::CreateLayer(LayerOf("name: 'a' type: 'Python'")), NetError,
                       MessageMatches(ContainsSubstring("'a'") && ContainsSubstring("does not embed")));
  CHECK_THROWS_MATCHES(LayerRegistry<double>::CreateLayer(LayerOf("type: 'WindowData'")), NetError,
                       MessageMatches(ContainsSubstring("use ImageData or MemoryData")));
}

TEST_CASE("A type of layer is registered once", "[layer]") {
  CHECK_THROWS_MATCHES(LayerRegistration<TestCpuLayer>("TestCpu"), NetError,
                       MessageMatches(ContainsSubstring("'TestCpu' is registered already")));
  CHECK_THROWS_MATCHES(LayerRegistration<TestCpuLayer>("ReLU"), NetError,
                       MessageMatches(ContainsSubstring("'ReLU' is registered already")));
}

}  // namespace
}  // namespace ferry::nets_test
