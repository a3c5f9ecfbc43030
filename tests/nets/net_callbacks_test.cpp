// SPDX-License-Identifier: BSD-2-Clause
// What is called before and after layers, and the random numbers of each pass.
#include <stdexcept>

#include "tests/nets/nets.hpp"

namespace ferry::nets_test {

/// Writes its random key to its top.
template <class T>
class KeyLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Key"; }
  void LayerSetUp(const Blobs& /*bottom*/, const Blobs& /*top*/) override { at_setup_ = this->random_key(); }
  void Reshape(const Blobs& /*bottom*/, const Blobs& top) override { top[0]->Reshape({4}); }

 protected:
  void Forward_cpu(const Blobs& /*bottom*/, const Blobs& top) override {
    const RandomKey key = this->random_key();
    T* const out = top[0]->overwrite_cpu_data();
    out[0] = static_cast<T>(key.seed);
    out[1] = static_cast<T>(key.layer);
    out[2] = static_cast<T>(key.iteration);
    out[3] = static_cast<T>(at_setup_.layer);
  }

 private:
  RandomKey at_setup_{};
};

namespace {

REGISTER_LAYER_CLASS(Key);

const std::string kThreeLayers = "force_backward: true " + Input("x", "2") +
                                 LayerText("ReLU", "r", "x", "y") +
                                 LayerText("ReLU", "s", "y", "z", "loss_weight: 1");

class Recorder : public Net<double>::Callback {
 public:
  explicit Recorder(std::string& to, const char* what) : to_(&to), what_(what) {}

 protected:
  void run(int layer) override { *to_ += what_ + std::to_string(layer) + ' '; }

 private:
  std::string* to_;
  std::string what_;
};

TEST_CASE("Callbacks are told each layer before and after it has run, in the order they were added") {
  Net<double> net(NetOf(kThreeLayers));
  std::string calls;
  Recorder before(calls, "<");
  Recorder after(calls, ">");
  net.add_before_forward(&before);
  net.add_before_forward([&](int layer) { calls += "also" + std::to_string(layer) + ' '; });
  net.add_after_forward(&after);
  net.Forward();
  CHECK(calls == "<0 also0 >0 <1 also1 >1 <2 also2 >2 ");
  calls.clear();
  net.add_before_backward(&before);
  net.add_after_backward(&after);
  net.BackwardFromTo(2, 1);
  CHECK(calls == "<2 >2 <1 >1 ");
}

TEST_CASE("Callbacks backward are told layers that need no gradient, too") {
  Net<double> net(NetOf(Input("x", "2") + LayerText("ReLU", "r", "x", "y")));
  std::string calls;
  net.add_before_backward([&](int layer) { calls += '<' + std::to_string(layer); });
  net.add_after_backward([&](int layer) { calls += '>' + std::to_string(layer); });
  net.Backward();
  CHECK(calls == "<1>1<0>0");
}

TEST_CASE("A callback sees a layer's top before it has run, and after") {
  Net<double> net(NetOf(kThreeLayers));
  Fill(*net.blob_by_name("x"), 3);
  std::vector<double> seen;
  const auto look = [&](int layer) {
    if (layer == 1) seen.push_back(net.blob_by_name("y")->asum_data());
  };
  net.add_before_forward(look);
  net.add_after_forward(look);
  net.Forward();
  CHECK(seen == std::vector<double>{0, net.blob_by_name("y")->asum_data()});
}

TEST_CASE("What a callback throws ends the pass as it is") {
  Net<double> net(NetOf(kThreeLayers));
  net.add_after_forward([](int layer) {
    if (layer == 1) throw std::domain_error("stop");
  });
  CHECK_THROWS_AS(net.Forward(), std::domain_error);
}

TEST_CASE("No callback is no callback") {
  Net<double> net(NetOf(kThreeLayers));
  CHECK_THROWS_AS(net.add_before_forward(static_cast<Net<double>::Callback*>(nullptr)),
                  std::invalid_argument);
  CHECK_THROWS_AS(net.add_after_backward(Net<double>::LayerCallback()), std::invalid_argument);
}

TEST_CASE("A layer's random numbers are those of the net's seed, its index and the pass") {
  Net<double> net(NetOf(Input("x", "2") + LayerText("Key", "k", "x", "k")), DefaultPlace(), RandomSeed{7});
  const auto& key = *net.blob_by_name("k");
  net.Forward();
  CHECK(DataOf(key) == std::vector<double>{7, 1, 0, 1});
  net.Forward();
  CHECK(DataOf(key) == std::vector<double>{7, 1, 1, 1});
  net.set_iteration(40);
  net.Forward();
  CHECK(DataOf(key) == std::vector<double>{7, 1, 40, 1});
}

TEST_CASE("Nets of one seed have the same parameters, and of another seed others") {
  const std::string text = Input("x", "2 3") + Product("a", "x", 4);
  const Net<double> one(NetOf(text), DefaultPlace(), RandomSeed{1});
  const Net<double> same(NetOf(text), DefaultPlace(), RandomSeed{1});
  const Net<double> other(NetOf(text), DefaultPlace(), RandomSeed{2});
  CHECK(DataOf(*one.params()[0]) == DataOf(*same.params()[0]));
  CHECK(DataOf(*one.params()[0]) != DataOf(*other.params()[0]));
}

}  // namespace
}  // namespace ferry::nets_test
