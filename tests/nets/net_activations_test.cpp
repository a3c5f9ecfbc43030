// SPDX-License-Identifier: BSD-2-Clause
// Blobs that share storage, for inference.
#include <catch2/matchers/catch_matchers_string.hpp>
#include <numeric>
#include <random>
#include <set>

#include "core/nets/net/storage_plan.hpp"
#include "ferry/statistics_device.hpp"
#include "tests/nets/nets.hpp"

namespace ferry::nets_test {

using Catch::Matchers::ContainsSubstring;
using detail::Life;
using detail::PlanStorage;
using detail::StoragePlan;

/// A layer of a program's own that lends its bottom's storage to its top in each pass, as Caffe's Split does.
template <class T>
class LendingLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Lending"; }
  void Reshape(const Blobs& bottom, const Blobs& top) override { top[0]->ReshapeLike(*bottom[0]); }

 protected:
  void Forward_cpu(const Blobs& bottom, const Blobs& top) override { top[0]->ShareData(*bottom[0]); }
};

namespace {

REGISTER_LAYER_CLASS(Lending);

std::size_t Sum(const std::vector<std::size_t>& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::size_t{0});
}

TEST_CASE("Lives that follow each other take turns in two slots") {
  const StoragePlan plan = PlanStorage(std::vector<Life>{{0, 1, 8}, {1, 2, 8}, {2, 3, 8}, {3, 4, 8}});
  CHECK(plan.bytes == std::vector<std::size_t>{8, 8});
  CHECK(plan.slot_of == std::vector<std::size_t>{0, 1, 0, 1});
}

TEST_CASE("A life takes the smallest slot that is free and large enough") {
  const StoragePlan plan = PlanStorage(std::vector<Life>{{0, 1, 100}, {0, 1, 10}, {2, 3, 9}, {2, 3, 90}});
  CHECK(plan.bytes == std::vector<std::size_t>{100, 10});
  CHECK(plan.slot_of == std::vector<std::size_t>{0, 1, 1, 0});
}

TEST_CASE("A life of one step is in the way of those that end or begin there") {
  CHECK(PlanStorage(std::vector<Life>{{0, 1, 1}, {1, 1, 1}, {1, 2, 1}}).bytes.size() == 3);
  CHECK(PlanStorage(std::vector<Life>{}).bytes.empty());
}

TEST_CASE("No plan lets two lives overlap in one slot, and none is larger than all lives") {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<Life> lives(random() % 40);
    std::size_t all = 0;
    for (Life& life : lives) {
      life.first = static_cast<int>(random() % 30);
      life.last = life.first + static_cast<int>(random() % 6);
      life.bytes = random() % 1000;
      all += life.bytes;
    }
    const StoragePlan plan = PlanStorage(lives);
    std::size_t at_once = 0;
    for (int step = 0; step < 36; ++step) {
      std::vector<bool> taken(plan.bytes.size(), false);
      std::size_t alive = 0;
      for (std::size_t i = 0; i < lives.size(); ++i) {
        if (lives[i].first > step || lives[i].last < step) continue;
        REQUIRE_FALSE(taken[plan.slot_of[i]]);
        REQUIRE(plan.bytes[plan.slot_of[i]] >= lives[i].bytes);
        taken[plan.slot_of[i]] = true;
        alive += lives[i].bytes;
      }
      at_once = std::max(at_once, alive);
    }
    CHECK(Sum(plan.bytes) >= at_once);
    CHECK(Sum(plan.bytes) <= all);
  }
}

/// A chain with a branch, in place layers, and layers that give their bottom another shape.
std::string Branched() {
  return Input("x", "4 6") + Product("a", "x", 8) + LayerText("ReLU", "relu", "a", "a") +
         Product("b", "a", 8) + Product("c", "a", 8) + LayerText("Flatten", "f", "b", "f") +
         "layer { name: 'sum' type: 'Eltwise' bottom: 'f' bottom: 'c' top: 'sum' }" + Product("d", "sum", 9) +
         LayerText("Reshape", "s", "d", "s", "reshape_param { shape { dim: 0 dim: 3 dim: 3 } }") +
         Product("e", "s", 7) + Product("out", "e", 3);
}

/// By all blobs' data; a memory of several blobs counts once.
std::size_t BytesHeld(const Net<float>& net) {
  std::set<const SyncedMemory*> memories;
  for (const auto& blob : net.blobs()) memories.insert(blob->data().get());
  const auto add = [](std::size_t sum, const SyncedMemory* memory) { return sum + memory->size(); };
  return std::accumulate(memories.begin(), memories.end(), std::size_t{0}, add);
}

TEST_CASE("A net that shares its activations computes the same to the bit, in the bytes that it said") {
  for (const char* where : {"host cpu", "sim main", "sim cpu"}) {
    INFO(where);
    const World world(where);
    Net<float> kept(NetOf(Branched()), world.place(), RandomSeed{1});
    Net<float> shared(NetOf(Branched()), world.place(), RandomSeed{1});
    const ActivationBytes before = shared.activation_bytes();
    CHECK(shared.activations() == Activations::kKept);
    shared.share_activations();
    CHECK(shared.activations() == Activations::kShared);
    CHECK(shared.activation_bytes().planned == before.planned);
    CHECK(shared.activation_bytes().kept == before.kept);
    CHECK(before.planned < before.kept);
    for (std::uint64_t pass = 0; pass < 3; ++pass) {
      Fill(*kept.blob_by_name("x"), pass);
      Fill(*shared.blob_by_name("x"), pass);
      CHECK(DataOf(*shared.Forward()[0]) == DataOf(*kept.Forward()[0]));
      CHECK(DataOf(*shared.blob_by_name("x")) == DataOf(*kept.blob_by_name("x")));
    }
    CHECK(BytesHeld(shared) == before.planned);
  }
}

TEST_CASE("Blobs of one storage count once, and die with the last that reads any") {
  // a and its split's tops live until 'sum' has run, so that b, c and sum cannot have a's place.
  Net<float> net(NetOf(
      Input("x", "2 4") + Product("a", "x", 4) + Product("b", "a", 4) + Product("c", "b", 4) +
      "layer { name: 'sum' type: 'Eltwise' bottom: 'c' bottom: 'a' top: 'sum' }" + Product("out", "sum", 1)));
  CHECK(net.activation_bytes().kept == (5 * 8 + 2) * sizeof(float));     // x, a, b, c, sum; out
  CHECK(net.activation_bytes().planned == (4 * 8 + 2) * sizeof(float));  // x; a, and two of b, c, sum; out
}

TEST_CASE("A net that shares its activations follows its inputs to other shapes") {
  Net<float> kept(NetOf(Branched()), DefaultPlace(), RandomSeed{1});
  Net<float> shared(NetOf(Branched()), DefaultPlace(), RandomSeed{1});
  shared.share_activations();
  for (const std::int64_t batch : {4, 9, 2, 9}) {
    for (Net<float>* net : {&kept, &shared}) {
      net->blob_by_name("x")->Reshape({batch, 6});
      Fill(*net->blob_by_name("x"), 5);
    }
    CHECK(DataOf(*shared.Forward()[0]) == DataOf(*kept.Forward()[0]));
    CHECK(shared.activation_bytes().planned == kept.activation_bytes().planned);
    CHECK(BytesHeld(shared) == shared.activation_bytes().planned);
    const auto slot = shared.blob_by_name("b")->data();
    shared.Forward();
    CHECK(shared.blob_by_name("b")->data() == slot);
  }
  shared.Reshape();
  CHECK(DataOf(*shared.Forward()[0]) == DataOf(*kept.Forward()[0]));
}

TEST_CASE("A net shares its activations by the shapes that its inputs have then") {
  for (const std::int64_t batch : {64, 1}) {
    CAPTURE(batch);
    Net<float> net(NetOf(Branched()), DefaultPlace(), RandomSeed{1});
    net.blob_by_name("x")->Reshape({batch, 6});
    net.share_activations();
    Fill(*net.blob_by_name("x"), 5);
    net.Forward();
    CHECK(BytesHeld(net) == net.activation_bytes().planned);
  }
}

TEST_CASE("An input may get another shape within a pass over shared activations") {
  Net<float> kept(NetOf(Branched()), DefaultPlace(), RandomSeed{1});
  Net<float> shared(NetOf(Branched()), DefaultPlace(), RandomSeed{1});
  shared.share_activations();
  for (Net<float>* net : {&kept, &shared}) {
    Fill(*net->blob_by_name("x"), 5);
    net->ForwardTo(2);
    net->blob_by_name("x")->Reshape({9, 6});
    net->ForwardFrom(3);
  }
  CHECK(DataOf(*shared.output_blobs()[0]) == DataOf(*kept.output_blobs()[0]));
}

TEST_CASE("A net shares its activations by the shapes that its inputs have, whatever the last pass had") {
  Net<float> net(NetOf(Branched()), DefaultPlace(), RandomSeed{1});
  for (const std::int64_t batch : {1, 4}) {  // it was made for 4
    net.blob_by_name("x")->Reshape({batch, 6});
    Fill(*net.blob_by_name("x"), 5);
    if (batch == 4) net.share_activations();
    net.Forward();
  }
  CHECK(BytesHeld(net) == net.activation_bytes().planned);
}

TEST_CASE("A net shares its activations again after shapes that did not fit") {
  Net<float> net(NetOf(Input("x", "4 6") + Product("a", "x", 8) + Product("b", "a", 8) +
                       Product("c", "b", 8) +
                       LayerText("Reshape", "r", "c", "r", "reshape_param { shape { dim: 4 dim: 8 } }") +
                       Product("out", "r", 3)));
  net.share_activations();
  net.blob_by_name("x")->Reshape({9, 6});
  CHECK(ErrorOf([&] { net.Forward(); }) != "");
  net.blob_by_name("x")->Reshape({4, 6});
  Fill(*net.blob_by_name("x"), 5);
  net.Forward();
  CHECK(BytesHeld(net) == net.activation_bytes().planned);
}

TEST_CASE("A layer whose tops depend on values shares by the most that they can be") {
  // No value has come to the selector yet.
  Net<float> net(
      NetOf(Input("x", "64 6") + Input("i", "64") + LayerText("Power", "selector", "i", "selector") +
            "layer { name: 'f' type: 'Filter' bottom: 'x' bottom: 'selector' top: 'f' }" +
            Product("a", "f", 8) + Product("b", "a", 8) + Product("c", "b", 8) + Product("out", "c", 8)));
  net.share_activations();
  Fill(*net.blob_by_name("x"), 5);
  Set(net.place(), 1, *net.blob_by_name("i"));
  net.Forward();
  CHECK(net.output_blobs()[0]->shape(0) == 64);
  CHECK(BytesHeld(net) == net.activation_bytes().planned);
}

TEST_CASE("Blobs of layers that Ferry does not know keep their own") {
  const std::string text = Input("x", "2 4") + Product("a", "x", 4) + LayerText("Lending", "l", "a", "l") +
                           Product("b", "l", 4) + Product("c", "b", 4) + Product("d", "c", 4) +
                           Product("out", "d", 4);
  Net<float> kept(NetOf(text), DefaultPlace(), RandomSeed{1});
  Net<float> shared(NetOf(text), DefaultPlace(), RandomSeed{1});
  shared.share_activations();
  CHECK(shared.blob_by_name("a")->data()->size() == 8 * sizeof(float));
  CHECK(shared.blob_by_name("b")->data() == shared.blob_by_name("d")->data());
  Fill(*kept.blob_by_name("x"), 1);
  Fill(*shared.blob_by_name("x"), 1);
  CHECK(DataOf(*shared.Forward()[0]) == DataOf(*kept.Forward()[0]));
  CHECK(DataOf(*shared.Forward()[0]) == DataOf(*kept.Forward()[0]));
}

TEST_CASE("A blob whose storage somebody else has, too, keeps it") {
  Net<float> net(NetOf(Branched()));
  const Blob<float> mine = net.blob_by_name("b")->Slice(0, 4).Slice(0, 4);
  const auto before = net.blob_by_name("b")->data();
  net.share_activations();
  CHECK(net.blob_by_name("b")->data() == before);
}

TEST_CASE("A net with gradients shares no activations") {
  const std::string text = Input("x", "2 4") + Product("a", "x", 4, "loss_weight: 1");
  Net<float> net(NetOf(text));
  CHECK_THAT(ErrorOf([&] { net.share_activations(); }), ContainsSubstring("layer 'a'"));
  CHECK(net.activations() == Activations::kKept);
  CHECK(net.activation_bytes().planned == net.activation_bytes().kept);
  Net<float> forced(NetOf("force_backward: true " + Input("x", "2 4")));
  CHECK(ErrorOf([&] { forced.share_activations(); }) != "");
}

TEST_CASE("A pass over shared activations begins at the first layer, or goes on") {
  Net<float> net(NetOf(Branched()), DefaultPlace(), RandomSeed{1});
  Fill(*net.blob_by_name("x"), 1);
  const auto expected = DataOf(*net.Forward()[0]);
  net.ForwardTo(2);
  net.share_activations();
  CHECK_THAT(ErrorOf([&] { net.ForwardFrom(3); }),
             ContainsSubstring(" after none, ") && ContainsSubstring("begin with layer 0"));
  net.ForwardTo(1);
  CHECK_THAT(ErrorOf([&] { net.ForwardFrom(3); }), ContainsSubstring(" after layer 1, "));
  net.ForwardTo(2);
  net.ForwardFrom(3);
  CHECK(DataOf(*net.output_blobs()[0]) == expected);
  SECTION("also after shapes that do not fit") {
    net.ForwardTo(1);
    net.blob_by_name("x")->Reshape({3, 7});
    CHECK(ErrorOf([&] { net.Forward(); }) != "");
    CHECK_THAT(ErrorOf([&] { net.ForwardFrom(2); }), ContainsSubstring(" after none, "));
  }
}

TEST_CASE("GoogLeNet's activations take at most 35 % when they are shared, as was said before") {
  const std::filesystem::path file =
      std::filesystem::path(FERRY_CAFFE_DATA) / "speed/googlenet_deploy_b4.prototxt";
  if (!std::filesystem::exists(file)) SKIP("no " << file.string());
  Net<float> net(file, TEST, DefaultPlace(), RandomSeed{1});
  const ActivationBytes bytes = net.activation_bytes();
  INFO(bytes.planned << " of " << bytes.kept);
  CHECK(100 * bytes.planned <= 35 * bytes.kept);
  net.input_blobs()[0]->Reshape({1, 3, 224, 224});
  net.Reshape();
  Fill(*net.input_blobs()[0], 1);
  const auto kept = DataOf(*net.Forward()[0]);
  net.share_activations();
  CHECK(DataOf(*net.Forward()[0]) == kept);
}

}  // namespace
}  // namespace ferry::nets_test
