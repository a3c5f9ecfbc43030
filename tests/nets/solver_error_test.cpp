// SPDX-License-Identifier: BSD-2-Clause
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tests/nets/solver_world.hpp"

namespace ferry::nets_test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

struct Refused {
  const char* param;  ///< a SolverParameter's text; SmallSolver adds the net
  const char* error;  ///< what the error says
};

TEST_CASE("A solver that cannot be is refused, with what is allowed") {
  const Refused refused[] = {
      {"type: 'Sgd'", "type 'Sgd' is unknown; there are AdaDelta, AdaGrad, Adam, "},
      {"average_loss: 0", "average_loss 0; it must be 1 or more"},
      {"iter_size: 0", "iter_size 0; it must be 1 or more"},
      {"type: 'AdaGrad' momentum: 0.5", "momentum 0.500000; AdaGrad has none"},
      {"type: 'RMSProp' momentum: 0.5", "momentum 0.500000; RMSProp has none"},
      {"type: 'RMSProp' rms_decay: 1", "rms_decay 1.000000; it must be 0 or more and less than 1"},
      {"type: 'RMSProp' rms_decay: -0.5", "rms_decay -0.500000; it must be"},
      {"type: 'RMSProp' rms_decay: nan", "rms_decay nan; it must be"},
      {"train_net: 'x' net: 'y'", "several train nets: net, net_param, train_net; say one of"},
      {"test_net: 'x'", "0 test_iter for 1 test nets"},
      {"test_iter: 1 test_net: 'x' test_net_param { }", "1 test_iter for 2 test nets"},
      {"test_iter: 1 test_interval: 1 test_net: ''", "the path is empty"},
      {"test_iter: 1 test_iter: 1", "test_interval 0 with 2 test nets; it must be more than 0"},
      {"test_iter: 1 test_interval: 1 test_state { } test_state { }", "2 test_state for 1 test nets"},
      {"snapshot: 5", "snapshot 5 without snapshot_prefix"},
      {"snapshot: 5 snapshot_prefix: '/no/such/folder/x'", "the folder must be there, and writable"},
      {"weights: '/no/such/weights'", "/no/such/weights"},
      {"weights: ''", "weights '': a name is empty"},
  };
  const World world("host cpu");
  for (const auto& [param, error] : refused) {
    INFO(param);
    CHECK_THROWS_MATCHES(SolverRegistry<float>::CreateSolver(SmallSolver(param), world.place()), NetError,
                         MessageMatches(ContainsSubstring(error)));
  }
  CHECK_THROWS_MATCHES(SolverRegistry<float>::CreateSolver(SolverParameter(), world.place()), NetError,
                       MessageMatches(ContainsSubstring("there is no train net; say one of net, net_param")));
}

TEST_CASE("A train_net has a test_iter for each test net and no more") {
  const World world("host cpu");
  SolverParameter param = SmallSolver("test_iter: 1 test_interval: 1");
  param.mutable_train_net_param()->Swap(param.mutable_net_param());
  param.clear_net_param();
  CHECK_THROWS_MATCHES(SolverRegistry<float>::CreateSolver(param, world.place()), NetError,
                       MessageMatches(ContainsSubstring("1 test_iter for 0 test nets")));
}

TEST_CASE("What makes no update is refused before the first iteration") {
  const Refused refused[] = {
      {"lr_policy: 'Fixed'",
       "lr_policy 'Fixed' is unknown; there are fixed, step, exp, inv, multistep, poly, sigmoid"},
      {"lr_policy: ''", "lr_policy '' is unknown"},
      {"lr_policy: 'step' gamma: 1", "stepsize 0 for lr_policy 'step'; it must be more than 0"},
      {"lr_policy: 'sigmoid' gamma: 1", "stepsize 0 for lr_policy 'sigmoid'"},
      {"lr_policy: 'step' stepsize: 1 gamma: -1",
       "gamma -1.000000 for lr_policy 'step'; it must be 0 or more"},
      {"lr_policy: 'exp' gamma: -1", "gamma -1.000000 for lr_policy 'exp'"},
      {"lr_policy: 'inv' gamma: -1", "gamma -1.000000 for lr_policy 'inv'"},
      {"lr_policy: 'multistep' gamma: -1", "gamma -1.000000 for lr_policy 'multistep'"},
      {"lr_policy: 'sigmoid' stepsize: 1 gamma: -1", "gamma -1.000000 for lr_policy 'sigmoid'"},
      {"lr_policy: 'poly'", "max_iter 0 for lr_policy 'poly'"},
      {"weight_decay: 1 regularization_type: 'L3'", "regularization_type 'L3' is unknown; there are L1, L2"},
      {"base_lr: nan", "base_lr nan; it must be finite"},
      {"base_lr: inf", "base_lr inf"},
      {"lr_policy: 'inv' gamma: 1 power: nan", "power nan"},
      {"lr_policy: 'poly' max_iter: 9 power: inf", "power inf"},
      {"lr_policy: 'exp' gamma: inf", "gamma inf"},
      {"lr_policy: 'step' stepsize: 1 gamma: nan", "gamma nan"},
      {"lr_policy: 'inv' gamma: nan", "gamma nan"},
      {"lr_policy: 'multistep' gamma: inf", "gamma inf"},
      {"lr_policy: 'sigmoid' stepsize: 1 gamma: inf", "gamma inf"},
      {"momentum: -inf", "momentum -inf"},
      {"weight_decay: nan", "weight_decay nan"},
      {"clip_gradients: nan", "clip_gradients nan; it must be a number"},
      {"type: 'RMSProp' delta: nan", "delta nan"},
      {"type: 'AdaDelta' delta: nan", "delta nan"},
      {"type: 'AdaDelta' momentum: -0.5", "momentum -0.500000; it must be 0 or more and less than 1"},
      {"type: 'AdaDelta' momentum: 1", "momentum 1.000000"},
      {"type: 'AdaDelta' delta: -1", "delta -1.000000; it must be 0 or more"},
      {"type: 'Adam' delta: nan", "delta nan"},
      {"type: 'Adam' momentum: 1", "momentum 1.000000; it must be 0 or more and less than 1"},
      {"type: 'Adam' momentum: -1", "momentum -1.000000"},
      {"type: 'Adam' momentum2: 1", "momentum2 1.000000"},
      {"type: 'Adam' momentum2: nan", "momentum2 nan"},
  };
  const World world("host cpu");
  for (const auto& [param, error] : refused) {
    INFO(param);
    const auto solver = FedSolver<double>(SmallSolver(param), world.place());
    const std::vector<double> before = WeightsOf(*solver);
    CHECK_THROWS_MATCHES(solver->Step(1), NetError, MessageMatches(ContainsSubstring(error)));
    CHECK_THROWS_MATCHES(solver->ApplyUpdate(), NetError, MessageMatches(ContainsSubstring(error)));
    CHECK(solver->iter() == 0);
    CHECK(WeightsOf(*solver) == before);
    CHECK_NOTHROW(solver->Step(0));
  }
}

TEST_CASE("What an lr_policy has not may be any number") {
  const World world("host cpu");
  for (const char* const param :
       {"gamma: nan power: nan", "lr_policy: 'step' stepsize: 1 gamma: 0 power: nan",
        "lr_policy: 'exp' gamma: 0 power: nan", "lr_policy: 'multistep' gamma: 0 power: nan",
        "lr_policy: 'sigmoid' stepsize: 1 gamma: 0 power: nan", "lr_policy: 'inv' gamma: 0 power: 0",
        "lr_policy: 'poly' max_iter: 9 gamma: nan"}) {
    INFO(param);
    CHECK_NOTHROW(FedSolver<float>(SmallSolver(param), world.place())->Step(1));
  }
}

TEST_CASE("A regularization that no parameter has may be of any type") {
  const World world("host cpu");
  CHECK_NOTHROW(FedSolver<float>(SmallSolver("regularization_type: 'L3'"), world.place())->Step(1));
  SolverParameter param = SmallSolver("weight_decay: 1 regularization_type: 'L3'");
  for (LayerParameter& layer : *param.mutable_net_param()->mutable_layer())
    if (layer.type() == "InnerProduct")
      for (int i = 0; i < 2; ++i)
        (i < layer.param_size() ? layer.mutable_param(i) : layer.add_param())->set_decay_mult(0);
  CHECK_NOTHROW(FedSolver<float>(param, world.place())->Step(1));
}

TEST_CASE("A type of solver is added once") {
  const auto creator = [](const SolverParameter& param,
                          const Place& place) -> std::unique_ptr<Solver<float>> {
    return std::make_unique<SGDSolver<float>>(param, place);
  };
  CHECK_THROWS_MATCHES(SolverRegistry<float>::AddCreator("SGD", creator), NetError,
                       MessageMatches(ContainsSubstring("'SGD' is registered already")));
}

TEST_CASE("Solve of a solver beyond max_iter trains no more") {
  const World world("host cpu");
  const auto solver = FedSolver<float>(SmallSolver("max_iter: -2147483647"), world.place());
  solver->Step(2);
  CHECK_NOTHROW(solver->Solve());
  CHECK(solver->iter() == 2);
}

TEST_CASE("Solve asks before it trains whether its last snapshot can be written") {
  const World world("host cpu");
  const auto solver = FedSolver<float>(
      SmallSolver("max_iter: 2 snapshot_after_train: true snapshot_prefix: '/no/such/folder/x'"),
      world.place());
  CHECK_THROWS_MATCHES(solver->Solve(), NetError, MessageMatches(ContainsSubstring("/no/such/folder/x")));
  CHECK(solver->iter() == 0);
}

}  // namespace
}  // namespace ferry::nets_test
