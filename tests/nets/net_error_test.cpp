// SPDX-License-Identifier: BSD-2-Clause
// What a net refuses, and in which words.
#include <catch2/matchers/catch_matchers_string.hpp>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "tests/nets/nets.hpp"

namespace ferry::nets_test {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;

/// Throws where its name says, what its name says.
template <class T>
class ThrowingLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Throwing"; }
  void LayerSetUp(const Blobs& /*bottom*/, const Blobs& /*top*/) override { At("setup"); }
  void Reshape(const Blobs& bottom, const Blobs& top) override {
    At("reshape");
    top[0]->ReshapeLike(*bottom[0]);
  }

 protected:
  void Forward_cpu(const Blobs& /*bottom*/, const Blobs& /*top*/) override { At("forward"); }
  void Backward_cpu(const Blobs& /*top*/, const std::vector<bool>& /*propagate_down*/,
                    const Blobs& /*bottom*/) override {
    At("backward");
  }

 private:
  void At(const std::string& where) const {
    const std::string& name = this->layer_param().name();
    if (name.find(where) == std::string::npos) return;
    if (where == "reshape" && armed == nullptr) return;
    if (name.ends_with("own")) this->Fail("own words");
    if (name.ends_with("dims")) throw ShapeError("no such shape");
    if (name.ends_with("memory")) throw std::bad_alloc();
    if (name.ends_with("int")) throw 5;  // NOLINT(hicpp-exception-baseclass)
    throw std::out_of_range("text");
  }

 public:
  static inline const char* armed = "";  ///< null: Reshape throws nothing
};

namespace {

REGISTER_LAYER_CLASS(Throwing);

std::string BuildError(const std::string& text) {
  std::string error = ErrorOf([&] { const Net<double> net(NetOf(text)); });
  CHECK(error != "");
  return error;
}

TEST_CASE("A layer of an unknown type is refused by its name") {
  CHECK_THAT(BuildError("layer { name: 'x' type: 'Convolutoin' }"),
             ContainsSubstring("layer 'x'") && ContainsSubstring("'Convolutoin'"));
}

TEST_CASE("A creator that makes nothing is named") {
  LayerRegistry<double>::AddCreator("Nothing",
                                    [](const LayerParameter&) { return std::shared_ptr<Layer<double>>(); });
  CHECK_THAT(BuildError(Input("a", "1") + LayerText("Nothing", "x", "a", "y")),
             ContainsSubstring("layer 'x' (Nothing)") && ContainsSubstring("made none"));
}

TEST_CASE("A bottom that nobody makes is refused with its layer and index") {
  CHECK_THAT(
      BuildError(Input("data", "2 3") +
                 "layer { name: 'L' type: 'Concat' bottom: 'data' bottom: 'B' top: 'c' }"),
      Equals("Unknown bottom blob 'B' (layer 'L', bottom index 1); no layer makes it in this phase, level "
             "and stage"));
  CHECK_THAT(
      BuildError(LayerText("ReLU", "L", "b", "a") + Input("b", "2 3")),
      Equals("Unknown bottom blob 'b' (layer 'L', bottom index 0); layer 'b' makes it later: a net runs its "
             "layers in the order of its text"));
}

TEST_CASE("A cycle is refused as one") {
  CHECK_THAT(BuildError(LayerText("ReLU", "first", "c", "a") + LayerText("ReLU", "second", "a", "b") +
                        LayerText("ReLU", "third", "b", "c")),
             ContainsSubstring("Unknown bottom blob 'c' (layer 'first', bottom index 0)") &&
                 ContainsSubstring("layer 'third' makes it from what this layer makes: a net has no cycles"));
  CHECK_THAT(BuildError(LayerText("ReLU", "own", "a", "a")), ContainsSubstring("no cycles"));
}

TEST_CASE("A blob that two layers make is refused with both") {
  const std::string error = BuildError(Input("data", "2 3") + LayerText("ReLU", "one", "data", "a") +
                                       LayerText("ReLU", "two", "data", "a"));
  CHECK_THAT(error, ContainsSubstring("Top blob 'a' produced by multiple sources") &&
                        ContainsSubstring("'one'") && ContainsSubstring("'two'"));
  SECTION("as is one made in place that another layer still reads as it was") {
    CHECK_THAT(BuildError(Input("data", "2 3") + LayerText("ReLU", "reader", "data", "a") +
                          LayerText("ReLU", "in place", "data", "data")),
               ContainsSubstring("Top blob 'data' produced by multiple sources (layer 'in place'"));
  }
  SECTION("and one made in place of another bottom") {
    CHECK_THAT(BuildError(Input("x", "2 3") + Input("y", "2 3") +
                          "layer { name: 'l' type: 'Eltwise' bottom: 'x' bottom: 'y' top: 'y' }"),
               ContainsSubstring("Top blob 'y' produced by multiple sources"));
  }
}

TEST_CASE("Shapes that do not fit are refused with the layer and both shapes") {
  CHECK_THAT(BuildError(Input("x", "2 3") + Input("y", "2 4") +
                        "layer { name: 'l' type: 'EuclideanLoss' bottom: 'x' bottom: 'y' top: 't' }"),
             ContainsSubstring("layer 'l' (EuclideanLoss)") && ContainsSubstring("2 3 (6)") &&
                 ContainsSubstring("2 4 (8)"));
}

TEST_CASE("Counts that do not fit are refused: of propagate_down, of param, of loss_weight") {
  const std::string data = Input("data", "2 3");
  CHECK_THAT(
      BuildError(data + Product("p", "data", 2, "propagate_down: true propagate_down: true")),
      Equals("layer 'p' (InnerProduct): 2 propagate_down for 1 bottom blobs; say one for each, or none"));
  CHECK_THAT(BuildError(data + Product("p", "data", 2, "param {} param {} param {}")),
             Equals("layer 'p' (InnerProduct): Too many params specified: 3 param for 2 parameters"));
  CHECK_THAT(BuildError(data + Product("p", "data", 2, "loss_weight: 1 loss_weight: 1")),
             ContainsSubstring("layer 'p' (InnerProduct): 2 loss_weight for 1 top blobs"));
}

TEST_CASE("Multipliers and loss weights that are not finite are refused") {
  const std::pair<const char*, const char*> refused[] = {
      {"param {} param { lr_mult: nan }", "param 1 has lr_mult nan and decay_mult 1; they must be finite"},
      {"param { decay_mult: inf }", "param 0 has lr_mult 1 and decay_mult inf; they must be finite"},
      {"param { lr_mult: -inf }", "param 0 has lr_mult -inf and decay_mult 1; they must be finite"},
      {"param {} param { decay_mult: nan }", "param 1 has lr_mult 1 and decay_mult nan; they must be finite"},
      {"loss_weight: nan", "loss_weight nan; it must be finite"},
      {"loss_weight: inf", "loss_weight inf; it must be finite"},
  };
  for (const auto& [field, error] : refused)
    CHECK_THAT(BuildError(Input("data", "2 3") + Product("p", "data", 2, field)),
               Equals(std::string("layer 'p' (InnerProduct): ") + error));
}

TEST_CASE("A rule that both includes and excludes is refused") {
  CHECK_THAT(BuildError(LayerText("ReLU", "l", "a", "b", "include {} exclude {}")), ContainsSubstring("'l'"));
}

TEST_CASE("Parameters that share a name must have one shape, or for PERMISSIVE one count") {
  const auto two = [](int outputs, const std::string& more) {
    return Input("data", "2 3") + Product("a", "data", 4, "param { name: 'w' }") +
           Product("b", "a", outputs, "param { name: 'w' " + more + " }");
  };
  CHECK_THAT(
      BuildError(two(3, "")),
      Equals("Cannot share param 'w' owned by layer 'a' with layer 'b'; shape mismatch. Owner layer param "
             "shape is 4 3 (12); sharing layer expects shape 3 4 (12)"));
  CHECK_NOTHROW(Net<double>(NetOf(two(3, "share_mode: PERMISSIVE"))));
  CHECK_THAT(BuildError(two(4, "share_mode: PERMISSIVE")),
             ContainsSubstring("count mismatch. Owner layer param shape is 4 3 (12); sharing layer expects "
                               "shape 4 4 (16)"));
}

TEST_CASE("Parameters that share a name must agree on their rates where both say one") {
  const auto two = [](const std::string& a, const std::string& b) {
    return Input("data", "2 3") + Product("a", "data", 3, "param { name: 'w' " + a + " }") +
           Product("b", "a", 3, "param { name: 'w' " + b + " }");
  };
  CHECK_THAT(BuildError(two("lr_mult: 2", "lr_mult: 3")),
             ContainsSubstring("'w'") && ContainsSubstring("layer 'b'") &&
                 ContainsSubstring("lr_mult 3, and its owner 2"));
  CHECK_THAT(BuildError(two("decay_mult: 0", "decay_mult: 1")),
             ContainsSubstring("decay_mult 1, and its owner 0"));
  const Net<double> net(NetOf(two("decay_mult: 0.5", "lr_mult: 3")));
  CHECK(net.params_lr()[0] == 3);
  CHECK(net.has_params_lr()[0]);
  CHECK(net.params_weight_decay()[0] == 0.5F);
  CHECK_FALSE(net.has_params_lr()[1]);
}

TEST_CASE("What a layer throws says which layer it was, with the first error nested in it") {
  const auto net_of = [](const std::string& name) {
    return "force_backward: true " + Input("x", "2") +
           LayerText("Throwing", name, "x", "y", "loss_weight: 1");
  };
  using Throwing = ThrowingLayer<double>;
  SECTION("in SetUp") {
    CHECK(BuildError(net_of("setup")) == "layer 'setup' (Throwing): text");
    CHECK(BuildError(net_of("setup own")) == "layer 'setup own' (Throwing): own words");
    CHECK_THROWS_AS(Net<double>(NetOf(net_of("setup memory"))), std::bad_alloc);
    CHECK_THROWS_AS(Net<double>(NetOf(net_of("setup int"))), int);
  }
  SECTION("in Forward") {
    Net<double> net(NetOf(net_of("forward")));
    CHECK(ErrorOf([&] { net.Forward(); }) == "layer 'forward' (Throwing): text");
  }
  SECTION("in Backward") {
    Net<double> net(NetOf(net_of("backward dims")));
    net.Forward();
    CHECK(ErrorOf([&] { net.Backward(); }) == "layer 'backward dims' (Throwing): no such shape");
  }
  SECTION("in Reshape") {
    Throwing::armed = nullptr;
    Net<double> net(NetOf(net_of("reshape")));
    Throwing::armed = "";
    CHECK(ErrorOf([&] { net.Reshape(); }) == "layer 'reshape' (Throwing): text");
  }
  SECTION("nested") {
    try {
      const Net<double> net(NetOf(net_of("setup")));
      FAIL("nothing was thrown");
    } catch (const NetError& error) {
      CHECK_THROWS_AS(std::rethrow_if_nested(error), std::out_of_range);
    }
  }
}

TEST_CASE("A lack of memory for a parameter names the layer") {
  try {
    const Net<float> net(NetOf(Input("data", "1 1000000") + Product("ip", "data", 1'000'000'000)), TRAIN);
    FAIL("there was memory");
  } catch (const OutOfMemory& error) {
    CHECK_THAT(error.what(), ContainsSubstring("access of \"ip.0\""));
  }
}

TEST_CASE("Layers that a net has not are refused, with their range") {
  Net<double> net(NetOf("name: 'n' " + Input("x", "2") + LayerText("ReLU", "r", "x", "y")));
  CHECK_THAT(
      ErrorOf([&] { net.ForwardFromTo(-1, 1); }),
      Equals("Net::ForwardFromTo: layers -1 to 1 of net 'n', which has 2; the first is 0, the last 1"));
  CHECK(ErrorOf([&] { net.ForwardTo(2); }) != "");
  CHECK(ErrorOf([&] { net.ForwardFrom(-1); }) != "");
  CHECK_THAT(ErrorOf([&] { net.BackwardFrom(2); }), ContainsSubstring("Net::BackwardFromTo: layers 0 to 2"));
  CHECK(ErrorOf([&] { net.BackwardTo(-1); }) != "");
  CHECK(ErrorOf([&] { net.BackwardFromTo(1, -1); }) != "");
  CHECK(ErrorOf([&] { net.ForwardFromTo(0, 1); }) == "");
}

TEST_CASE("Blobs that a net cannot be run with are refused before any is copied") {
  Net<double> net(NetOf("name: 'n' " + Input("x", "2") + Input("y", "3")));
  Blob<double> x({2});
  Blob<double> y({4});
  Fill(x, 1);
  CHECK_THAT(ErrorOf([&] {
               net.Forward({&x, &y, &x});
             }),
             ContainsSubstring("3 blobs for net 'n', which has 2"));
  CHECK_THAT(ErrorOf([&] {
               net.Forward({&x, &y});
             }),
             ContainsSubstring("input 1 has shape 4 (4)") && ContainsSubstring("'y' has 3 (3)"));
  CHECK(DataOf(*net.blob_by_name("x")) == std::vector<double>{0, 0});
}

TEST_CASE("After a pass forward that failed, there is none backward until one has reached the end") {
  const std::string layers =
      LayerText("Convolution", "c", "x", "y", "convolution_param { num_output: 1 kernel_size: 5 }") +
      "layer { name: 'p' type: 'Power' bottom: 'y' top: 'z' loss_weight: 1 }";
  for (const bool reshapes : {false, true}) {
    Net<double> net(NetOf("name: 'n' " + Input("x", "1 1 9 9") + layers));
    net.ForwardBackward();
    net.input_blobs()[0]->Reshape({1, 1, 3, 3});
    CHECK(ErrorOf([&] { reshapes ? net.Reshape() : static_cast<void>(net.Forward()); }) != "");
    CHECK_THAT(ErrorOf([&] { net.Backward(); }), ContainsSubstring("failed in layer 'c'"));
    net.input_blobs()[0]->Reshape({1, 1, 9, 9});
    net.ForwardTo(1);
    CHECK_THAT(ErrorOf([&] { net.Backward(); }), ContainsSubstring("failed in layer 'p'"));
    CHECK(ErrorOf([&] { net.BackwardFrom(1); }) == "");
    net.ForwardFrom(2);
    CHECK(ErrorOf([&] { net.Backward(); }) == "");
  }
}

TEST_CASE("A lone layer whose shapes do not fit is not run backward") {
  LayerParameter param;
  param.set_type("Convolution");
  param.set_name("c");
  param.mutable_convolution_param()->set_num_output(1);
  param.mutable_convolution_param()->add_kernel_size(5);
  const auto layer = LayerRegistry<double>::CreateLayer(param);
  Blob<double> x({1, 1, 9, 9});
  Blob<double> y;
  const std::vector<Blob<double>*> bottom{&x};
  const std::vector<Blob<double>*> top{&y};
  layer->SetUp(bottom, top);
  layer->Forward(bottom, top);
  x.Reshape({1, 1, 3, 3});
  CHECK(ErrorOf([&] { layer->Forward(bottom, top); }) != "");
  CHECK_THAT(ErrorOf([&] { layer->Backward(top, {true}, bottom); }), ContainsSubstring("'c'"));
}

TEST_CASE("Layers before the first and after the last are refused in each direction") {
  Net<double> net(NetOf(Input("x", "2")));
  CHECK(ErrorOf([&] { net.ForwardTo(-5); }) != "");
  CHECK(ErrorOf([&] { net.BackwardFrom(-3); }) != "");
  CHECK(ErrorOf([&] { net.ForwardFrom(7); }) != "");
}

TEST_CASE("A null input is refused") {
  Net<double> net(NetOf(Input("x", "2")));
  const std::vector<Blob<double>*> inputs{nullptr};
  CHECK_THROWS_AS(net.Forward(inputs), std::invalid_argument);
}

}  // namespace
}  // namespace ferry::nets_test
