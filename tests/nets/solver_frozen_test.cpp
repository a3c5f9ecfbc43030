// SPDX-License-Identifier: BSD-2-Clause
// Parameters that a solver is to leave as they are.
#include <cmath>

#include "tests/nets/solver_world.hpp"

namespace ferry::nets_test {
namespace {

TEST_CASE("An infinite weight that nothing decays and nothing learns stays") {
  const World world("host cpu");
  for (const std::string& type : SolverRegistry<double>::SolverTypeList()) {
    INFO(type);
    SolverParameter param = SmallSolver("type: '" + type + "'");
    LayerParameter& mask = *param.mutable_net_param()->add_layer();
    REQUIRE(
        google::protobuf::TextFormat::ParseFromString("name: 'mask' type: 'Parameter' top: 'mask' param { "
                                                      "lr_mult: 0 } parameter_param { shape { dim: 1 } }",
                                                      &mask));
    const auto solver = FedSolver<double>(param, world.place());
    double& weight = *solver->net()->layer_by_name("mask")->blobs()[0]->mutable_cpu_data();
    weight = -HUGE_VAL;
    solver->Step(2);
    CHECK(solver->net()->layer_by_name("mask")->blobs()[0]->cpu_data()[0] == -HUGE_VAL);
  }
}

/// Gives the first parameter a gradient of its own.
class Push final : public Solver<double>::Callback {
 public:
  Push(Blob<double>& param, double gradient) : param_(&param), gradient_(gradient) {}

 protected:
  void on_start() override {}
  void on_gradients_ready() override { param_->mutable_cpu_diff()[0] = gradient_; }

 private:
  Blob<double>* param_;
  double gradient_;
};

TEST_CASE("A frozen parameter stays, whatever its gradient is, with a delta of 0, too") {
  const World world("host cpu");
  for (const char* const type : {"SGD", "Nesterov", "AdaGrad", "RMSProp", "AdaDelta", "Adam"})
    for (const double gradient : {0.0, HUGE_VAL}) {
      INFO(type << ", " << gradient);
      SolverParameter param = SolverOf(
          "lr_policy: 'fixed' base_lr: 0.5 delta: 0 snapshot_after_train: false net_param {"
          "layer { name: 'w' type: 'Parameter' top: 'w' param { lr_mult: 0 } parameter_param { shape { dim: "
          "1 } } }"
          "layer { name: 'sum' type: 'Reduction' bottom: 'w' top: 'sum' loss_weight: 1 } }");
      param.set_type(type);
      const auto solver = SolverRegistry<double>::CreateSolver(param, world.place());
      Blob<double>& weight = *solver->net()->learnable_params()[0];
      weight.mutable_cpu_data()[0] = 3;
      Push push(weight, gradient);
      solver->add_callback(&push);
      solver->Step(2);
      CHECK(weight.cpu_data()[0] == 3);
      CHECK(weight.cpu_diff()[0] == 0);
    }
}

TEST_CASE("A negative decay makes a parameter grow") {
  const World world("host cpu");
  const auto solver = SolverRegistry<double>::CreateSolver(
      SolverOf(
          "lr_policy: 'fixed' base_lr: 0.5 weight_decay: 0.5 snapshot_after_train: false net_param {"
          "layer { name: 'w' type: 'Parameter' top: 'w' param { decay_mult: -1 } parameter_param { shape "
          "{ dim: 1 } } }"
          "layer { name: 'sum' type: 'Reduction' bottom: 'w' top: 'sum' loss_weight: 1 } }"),
      world.place());
  Blob<double>& weight = *solver->net()->learnable_params()[0];
  weight.mutable_cpu_data()[0] = 4;
  solver->Step(1);
  CHECK(weight.cpu_data()[0] == 4 - 0.5 * (1 - 0.5 * 4));
}

TEST_CASE("A negative rate makes a parameter follow its gradient") {
  const World world("host cpu");
  for (const char* const type : {"SGD", "Nesterov", "AdaGrad", "RMSProp", "AdaDelta", "Adam"}) {
    INFO(type);
    SolverParameter param = SolverOf(
        "lr_policy: 'fixed' base_lr: 0.5 delta: 0.01 snapshot_after_train: false net_param {"
        "layer { name: 'w' type: 'Parameter' top: 'w' param { lr_mult: -1 } parameter_param { shape { dim: 1 "
        "} } }"
        "layer { name: 'sum' type: 'Reduction' bottom: 'w' top: 'sum' loss_weight: 1 } }");
    param.set_type(type);
    const auto solver = SolverRegistry<double>::CreateSolver(param, world.place());
    solver->net()->learnable_params()[0]->mutable_cpu_data()[0] = 3;
    solver->Step(1);
    CHECK(solver->net()->learnable_params()[0]->cpu_data()[0] > 3);
  }
}

}  // namespace
}  // namespace ferry::nets_test
