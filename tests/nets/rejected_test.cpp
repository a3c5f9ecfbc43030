// SPDX-License-Identifier: BSD-2-Clause
// What ends in a fatal error of Caffe ends in an error here.
#include <algorithm>
#include <array>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <list>
#include <map>
#include <string_view>

#include "tests/nets/layer_run.hpp"

namespace ferry::nets_test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

/// What Caffe refuses and Ferry does.
const std::map<std::string, std::string>& Wider() {
  static const std::map<std::string, std::string> wider{
      {"r26", "Caffe has STOCHASTIC pooling for GPUs alone; here every place has it"}};
  return wider;
}

constexpr std::array<std::string_view, 5> kCalls{"Create", "SetUp", "Reshape", "Forward", "Backward"};

std::ptrdiff_t NumberOf(std::string_view call) {
  return std::find(kCalls.begin(), kCalls.end(), call) - kCalls.begin();
}

/// The calls that an entry makes, in the order of kCalls.
template <class T>
class Rejected {
 public:
  Rejected(const Json& entry, const LayerParameter& param, const Place& place)
      : entry_(entry), param_(param), place_(place) {
    const Json& shapes = entry.contains("setup_shapes") ? entry["setup_shapes"] : entry["bottom_shapes"];
    for (const Json& shape : shapes)
      bottom_.push_back(&blobs_.emplace_back(shape.get<std::vector<std::int64_t>>(), place.device()));
    for (int i = 0; i < param.top_size(); ++i) top_.push_back(&blobs_.emplace_back(place.device()));
    FillBottoms();
  }

  void Call(std::string_view call) {
    if (call == "Create") {
      layer_ = LayerRegistry<T>::CreateLayer(param_, place_);
    } else if (call == "SetUp") {
      layer_->SetUp(bottom_, top_);
    } else if (call == "Reshape") {
      for (std::size_t i = 0; i < bottom_.size(); ++i)
        bottom_[i]->Reshape(entry_["bottom_shapes"][i].template get<std::vector<std::int64_t>>());
      FillBottoms();
      layer_->Reshape(bottom_, top_);
    } else if (call == "Forward") {
      layer_->Forward(bottom_, top_);
    } else {
      layer_->Backward(top_, entry_["propagate_down"].template get<std::vector<bool>>(), bottom_);
    }
  }

 private:
  /// Those after the first hold 1, 0, 1, 0, ... unless the entry has their values.
  void FillBottoms() {
    for (std::size_t i = 0; i < bottom_.size(); ++i) {
      const std::string number = std::to_string(i);
      Json fill;
      fill["kind"] = i > 0 ? "values" : "zero";
      if (i > 0) fill["values"] = std::vector<int>{1, 0};
      if (entry_.contains("bottom_values") && entry_["bottom_values"].contains(number)) {
        fill["kind"] = "values";
        fill["values"] = entry_["bottom_values"][number];
      }
      SetData(*bottom_[i], Values(fill, bottom_[i]->count()));
    }
  }

  const Json& entry_;
  const LayerParameter& param_;
  const Place& place_;
  std::list<Blob<T>> blobs_;
  std::vector<Blob<T>*> bottom_, top_;
  std::shared_ptr<Layer<T>> layer_;
};

/// The call that throws, and what it says; or nothing.
struct Refusal {
  std::string_view call;
  std::string text;
};
template <class T>
Refusal RefusalOf(const Json& entry, const LayerParameter& param, const Place& place) {
  Rejected<T> rejected(entry, param, place);
  const std::ptrdiff_t last = NumberOf(entry["fatal_in"].get<std::string>());
  for (std::ptrdiff_t i = 0; i <= last; ++i) {
    const std::string_view call = kCalls.at(static_cast<std::size_t>(i));
    try {
      rejected.Call(call);
    } catch (const Error& error) {
      return {call, error.what()};
    }
  }
  return {};
}

TEMPLATE_TEST_CASE("What Caffe refuses of a layer is refused, in the same call or before", "[rejected]",
                   float, double) {
  const Json rejected = ReadCaffe("layers/rejected.json");
  REQUIRE(rejected.size() >= 58);
  for (const Json& entry : rejected) {
    const LayerParameter param =
        LayerOf(entry["layer"], entry["phase"].get<std::string>() == "TRAIN" ? TRAIN : TEST);
    for (const std::string& where : Places()) {
      INFO(param.name() << ", " << param.type() << " at " << where << ": " << entry["why"]);
      const World world(where);
      const Refusal refusal = RefusalOf<TestType>(entry, param, world.place());
      INFO("refused by " << refusal.call << ": " << refusal.text);
      if (Wider().contains(param.name())) {
        CHECK(refusal.call.empty());
        continue;
      }
      CHECK(!refusal.call.empty());
      // A layer is made of every type that there is; anything else would hide what its calls do.
      CHECK((refusal.call == "Create") == (entry["fatal_in"] == "Create"));
      // NetError says which layer, ShapeError which call.
      CHECK((refusal.text.find("layer '" + param.name()) != std::string::npos ||
             refusal.text.find("Blob") != std::string::npos ||
             refusal.text.find("Shape") != std::string::npos));
    }
  }
}

// Caffe finds no storage for such a top. That it may have the shape is of use to a net whose inputs get their
// real shapes later, and from then on it has storage.
TEST_CASE("A top that never had an element has no pass forward", "[rejected]") {
  for (const auto& [text, tops] : std::map<std::string, std::size_t>{
           {LayerText("Convolution", "convolution_param { num_output: 2 kernel_size: 4 }"), 1},
           {LayerText("Convolution", "convolution_param { num_output: 2 kernel_size: 4 group: 2 }"), 1},
           {LayerText("Deconvolution",
                      "convolution_param { num_output: 2 kernel_size: 1 pad_h: 1 pad_w: 2 }"),
            1},
           {LayerText("Im2col", "convolution_param { kernel_size: 4 }"), 1},
           {LayerText("Pooling", "pooling_param { kernel_size: 4 }"), 1},
           {LayerText("Pooling", "pooling_param { kernel_size: 4 pool: AVE }"), 1},
           {LayerText("Pooling", "pooling_param { kernel_size: 4 }"), 2},
           {LayerText("Slice", "slice_param { axis: 3 slice_point: 2 slice_point: 4 }"), 3}})
    for (const std::string& where : Places()) {
      INFO(text << " at " << where);
      const World world(where);
      const Given image = Reals({2, 2, 3, 4}, 1);
      Run run(world, text, {image}, tops);
      CHECK(run.top.back()->count() == 0);
      CHECK_THROWS_MATCHES(run.Forward(), NetError, MessageMatches(ContainsSubstring("without an element")));
      run.Fill(0, Reals({2, 2, 5, 6}, 1));
      CHECK_NOTHROW(run.Forward());
      run.Fill(0, image);
      CHECK_NOTHROW(run.Forward());
      CHECK(run.top.back()->count() == 0);
    }
}

TEST_CASE("A bottom of fewer axes than the one that is cropped is refused with both shapes") {
  Blob<float> x({2, 3, 4, 5}), like({2}), top;
  LayerParameter param;
  param.set_name("crop");
  param.set_type("Crop");
  const auto layer = LayerRegistry<float>::CreateLayer(param);
  CHECK_THROWS_MATCHES(layer->SetUp({&x, &like}, {&top}), NetError,
                       MessageMatches(ContainsSubstring("layer 'crop' (Crop)") &&
                                      ContainsSubstring("2 3 4 5") && ContainsSubstring("2 (2)")));
}

}  // namespace
}  // namespace ferry::nets_test
