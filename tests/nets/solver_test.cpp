// SPDX-License-Identifier: BSD-2-Clause
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "ferry/statistics_device.hpp"
#include "ferry/transfer_guard.hpp"
#include "tests/nets/solver_world.hpp"

namespace ferry::nets_test {
namespace {

using Words = std::vector<std::string>;

/// What a solver does, in order.
class Recorder : public Solver<float>::Callback {
 public:
  Words events;

 protected:
  void on_start() override { events.emplace_back("start"); }
  void on_gradients_ready() override { events.emplace_back("gradients"); }
};

TEST_CASE("An iteration is: start, the passes, gradients ready, the update") {
  const World world("host cpu");
  const auto solver = FedSolver<float>(SmallSolver("iter_size: 2"), world.place());
  Recorder recorder;
  solver->add_callback(&recorder);
  solver->net()->add_before_forward([&](int layer) {
    if (layer == 0) recorder.events.emplace_back("pass");
  });
  const std::vector<float> before = WeightsOf(*solver);
  solver->Step(2);
  CHECK(recorder.events == Words{"start", "pass", "pass", "gradients", "start", "pass", "pass", "gradients"});
  CHECK(solver->iter() == 2);
  CHECK(WeightsOf(*solver) != before);
}

TEST_CASE("A pass's random numbers are those of its number") {
  const World world("host cpu");
  const auto solver = FedSolver<float>(SmallSolver("iter_size: 3"), world.place());
  const auto passes = PassesOf(*solver->net());
  solver->Step(1);
  solver->Step(1);
  CHECK(*passes == std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("The seed of a solver makes its weights, and a run") {
  const auto train = [](int seed) {
    const World world("host cpu");
    const auto solver = FedSolver<double>(SmallSolver("random_seed: " + std::to_string(seed)), world.place());
    solver->Step(3);
    return WeightsOf(*solver);
  };
  CHECK(train(3) == train(3));
  CHECK(train(3) != train(4));
  CHECK(train(-1) != train(-1));
}

TEST_CASE("The loss that is shown is the mean of the last average_loss ones") {
  const World world("host cpu");
  const auto losses = [&](int average) {
    std::vector<double> each;
    const auto solver = FedSolver<double>(
        SmallSolver("random_seed: 1 display: 1 average_loss: " + std::to_string(average)), world.place());
    solver->SetProgressFunction([&](const SolverProgress& progress) { each.push_back(progress.loss); });
    solver->Step(6);
    return each;
  };
  const std::vector<double> each = losses(1), smooth = losses(3);
  REQUIRE(smooth.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    double mean = 0;
    const std::size_t first = i < 3 ? 0 : i - 2;
    for (std::size_t j = first; j <= i; ++j) mean += each[j] / static_cast<double>(i - first + 1);
    CHECK(std::abs(smooth[i] - mean) < 1e-12 * mean);
  }
}

TEST_CASE("Progress is told of the iterations that display asks for") {
  const World world("host cpu");
  const auto solver = FedSolver<float>(SmallSolver("display: 3 base_lr: 0.5"), world.place());
  std::vector<int> iterations;
  solver->SetProgressFunction([&](const SolverProgress& progress) {
    iterations.push_back(progress.iteration);
    CHECK(progress.rate == double{0.5F});
    CHECK(progress.seconds >= 0);
  });
  solver->Step(7);
  CHECK(iterations == std::vector<int>{0, 3, 6});
}

TEST_CASE("Test nets run each test_interval with the weights of the train net, and go on in their data") {
  const World world("host cpu");
  const auto solver =
      FedSolver<float>(SmallSolver("test_iter: 2 test_iter: 1 test_interval: 2 max_iter: 4"), world.place());
  REQUIRE(solver->test_nets().size() == 2);
  CHECK(solver->test_nets()[0]->phase() == TEST);
  const auto first = PassesOf(*solver->test_nets()[0]), second = PassesOf(*solver->test_nets()[1]);
  solver->Solve();  // tests before iterations 0 and 2, and at the end
  CHECK(*first == std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5});
  CHECK(*second == std::vector<std::uint64_t>{0, 1, 2});
  CHECK(ElementsOf<float>(solver->test_nets()[1]->learnable_params()) == WeightsOf(*solver));
}

TEST_CASE("Without test_initialization the first test is at test_interval") {
  const World world("host cpu");
  const auto solver = FedSolver<float>(
      SmallSolver("test_iter: 2 test_interval: 2 test_initialization: false"), world.place());
  const auto passes = PassesOf(*solver->test_nets()[0]);
  solver->Step(2);
  CHECK(passes->empty());
  solver->Step(1);
  CHECK(*passes == std::vector<std::uint64_t>{0, 1});
}

TEST_CASE("Test nets are those of test_net_param, of test_net, then the train net, each with its state") {
  const World world("host cpu");
  const Folder folder;
  NetParameter net;
  net.set_name("from file");
  WriteProtoToTextFile(net, folder / "net.prototxt");
  const auto solver = FedSolver<float>(
      SmallSolver("test_iter: 1 test_iter: 1 test_iter: 1 test_interval: 5 test_net: '" +
                  (folder / "net.prototxt").string() +
                  "' test_net_param { name: 'own' layer { name: 'x' type: 'Input' top: 'x' input_param { "
                  "shape { dim: 1 } } include { stage: 'seen' } } } "
                  "test_state { stage: 'seen' } test_state { } test_state { }"),
      world.place());
  REQUIRE(solver->test_nets().size() == 3);
  CHECK(solver->test_nets()[0]->name() == "own");
  CHECK(solver->test_nets()[0]->has_layer("x"));
  CHECK(solver->test_nets()[1]->name() == "from file");
  CHECK(solver->test_nets()[2]->name() == "small");
}

TEST_CASE("The state of the train net is the solver's before the net's own") {
  const World world("host cpu");
  SolverParameter param = SmallSolver("train_state { stage: 'b' level: 2 }");
  param.mutable_net_param()->mutable_state()->add_stage("a");
  param.mutable_net_param()->mutable_state()->set_level(1);
  for (LayerParameter& layer : *param.mutable_net_param()->mutable_layer()) {
    NetStateRule& rule = *layer.add_include();
    rule.set_phase(TRAIN);
    rule.set_min_level(2);
    rule.add_stage("a");
    rule.add_stage("b");
  }
  CHECK(FedSolver<float>(param, world.place())->net()->layers().size() == 5);
}

TEST_CASE("Nets are read from the file of a solver's file") {
  const World world("host cpu");
  const Folder folder;
  WriteProtoToTextFile(SmallSolver("").net_param(), folder / "net.prototxt");
  SolverParameter param = SolverOf("train_net: '" + (folder / "net.prototxt").string() + "'");
  WriteProtoToTextFile(param, folder / "solver.prototxt");
  SGDSolver<float> solver(folder / "solver.prototxt", world.place());
  CHECK(solver.net()->name() == "small");
  CHECK(solver.param().snapshot_prefix() == (folder / "solver").string());
}

TEST_CASE("A solver begins with the weights that it names, of several files") {
  const World world("host cpu");
  const Folder folder;
  const auto source = FedSolver<float>(SmallSolver(""), world.place());
  NetParameter all, one;
  source->net()->ToProto(&all);
  one = all;
  for (int i = 0; i < 3; ++i) one.mutable_layer(i)->set_name("other");
  for (LayerParameter& layer : *all.mutable_layer())
    if (layer.name() == "second") layer.set_name("other");
  WriteProtoToBinaryFile(all, folder / "a");
  WriteProtoToBinaryFile(one, folder / "b");
  const auto solver =
      FedSolver<float>(SmallSolver("weights: ' " + (folder / "a").string() + " , " + (folder / "b").string() +
                                   "' test_iter: 1 test_interval: 1"),
                       world.place());
  CHECK(WeightsOf(*solver) == WeightsOf(*source));
  CHECK(ElementsOf<float>(solver->test_nets()[0]->learnable_params()) == WeightsOf(*source));
}

TEST_CASE("Clipping is by the norm of all gradients") {
  const World world("host cpu");
  const auto largest = [&](const std::string& text) {
    const auto solver = FedSolver<double>(SmallSolver("random_seed: 1 base_lr: 1 " + text), world.place());
    solver->Step(1);
    double sum = 0;
    for (std::size_t i = 0; i < solver->net()->learnable_params().size(); ++i) {
      const double multiplier = solver->net()->params_lr()[i];
      sum += solver->net()->learnable_params()[i]->sumsq_diff() / (multiplier * multiplier);
    }
    return std::sqrt(sum);
  };
  CHECK(largest("") > 0.5);
  CHECK(std::abs(largest("clip_gradients: 0.125") - 0.125) < 1e-12);
  CHECK(largest("clip_gradients: 1000") == largest(""));
}

template <class T>
class HalvingSolver : public Solver<T> {
 public:
  using Solver<T>::Solver;
  const char* type() const override { return "Halving"; }
  void ApplyUpdate() override {
    for (Blob<T>* param : this->net_->learnable_params()) Scale(this->net_->place(), T(0.5), *param);
    ++this->iter_;
  }
};
REGISTER_SOLVER_CLASS(Halving);

TEMPLATE_TEST_CASE("A program may add a type of solver", "", float, double) {
  const World world("sim stream");
  const auto solver = FedSolver<TestType>(SmallSolver("type: 'Halving'"), world.place());
  std::vector<TestType> expected = WeightsOf(*solver);
  for (TestType& weight : expected) weight /= 2;
  solver->Step(1);
  CHECK(WeightsOf(*solver) == expected);
}

TEST_CASE("An iteration on a device copies the batch up and its sums down, and allocates nothing") {
  for (const char* const type : {"SGD", "Nesterov", "AdaGrad", "RMSProp", "AdaDelta", "Adam"}) {
    INFO(type);
    const World world("sim stream");
    const bool momentum = std::string(type) == "SGD" || std::string(type) == "Adam";
    const auto solver =
        FedSolver<float>(SmallSolver("weight_decay: 0.1 clip_gradients: 2 iter_size: 2 type: '" +
                                     std::string(type) + (momentum ? "' momentum: 0.9" : "'")),
                         world.place());
    solver->Step(2);
    const Statistics before = GetStatistics(world.device());
    solver->Step(5);
    const Statistics did = GetStatistics(world.device()) - before;
    CHECK(did.host_to_device.count == 20);  // 5 iterations of 2 passes, each with 2 blobs
    CHECK(did.host_to_device.bytes == sizeof(float) * 5 * 2 * (12 + 8));
    CHECK(did.device_to_host.bytes <= sizeof(double) * 5 * (2 + 4));  // losses, and sums for clipping
    CHECK(did.allocations.count == 0);
    CHECK(HistoryOf(*solver).size() >= WeightsOf(*solver).size());
  }
}

TEST_CASE(
    "Weights that a program copies between iterations go to the net's place where transfers are forbidden") {
  const World world("sim stream");
  const auto solver = SolverRegistry<float>::CreateSolver(
      SolverOf(R"(lr_policy: 'fixed' base_lr: 0.1 snapshot_after_train: false net_param {
               layer { name: 'in' type: 'DummyData' top: 'x' top: 'y'
                       dummy_data_param { shape { dim: 2 dim: 3 } shape { dim: 2 dim: 4 } } }
               layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'p' inner_product_param { num_output: 4 } }
               layer { name: 'loss' type: 'EuclideanLoss' bottom: 'p' bottom: 'y' top: 'loss' } })"),
      world.place());
  const auto step = [&] {
    const TransferGuard guard(TransferPolicy::kThrow);
    solver->Step(1);
  };
  NetParameter weights;
  solver->net()->ToProto(&weights);
  CHECK_NOTHROW(step());
  solver->net()->CopyTrainedLayersFrom(weights);
  CHECK_NOTHROW(step());
}

TEST_CASE("Weights are the same to the bit at every place") {
  for (const char* const type : {"SGD", "Nesterov", "AdaGrad", "RMSProp", "AdaDelta", "Adam"}) {
    INFO(type);
    std::vector<float> first;
    for (const char* const where : {"host cpu", "host stream", "sim cpu", "sim stream"}) {
      const World world(where);
      const auto solver = FedSolver<float>(
          SmallSolver("random_seed: 5 weight_decay: 0.1 clip_gradients: 2 type: '" + std::string(type) + "'"),
          world.place());
      solver->Step(4);
      if (first.empty()) first = WeightsOf(*solver);
      CHECK(WeightsOf(*solver) == first);
    }
  }
}

}  // namespace
}  // namespace ferry::nets_test
