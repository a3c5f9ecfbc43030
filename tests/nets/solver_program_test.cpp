// SPDX-License-Identifier: BSD-2-Clause
// What a program asks of a solver, and hears from it.
#include <catch2/catch_test_macros.hpp>
#include <csignal>

#include "ferry/nets/signal_handler.hpp"
#include "tests/log_lines.hpp"
#include "tests/nets/solver_world.hpp"

namespace ferry::nets_test {
namespace {

using ferry::testing::LogLines;
using Words = std::vector<std::string>;

/// How many lines begin so.
std::int64_t CountOf(const LogLines& log, std::string_view begin) {
  return std::ranges::count_if(log.lines(), [&](const std::string& line) { return line.starts_with(begin); });
}

TEST_CASE("A solver logs Caffe's lines") {
  const World world("host cpu");
  const LogLines log(LogLevel::kInfo);
  const auto solver = FedSolver<float>(SmallSolver("display: 2 max_iter: 2 test_iter: 3 test_interval: 2 "
                                                   "test_compute_loss: true clip_gradients: 1e-9"),
                                       world.place());
  solver->Solve();
  CHECK(CountOf(log, "Creating training net specified by net_param") == 1);
  CHECK(CountOf(log, "Creating test net (#0) specified by net_param") == 1);
  CHECK(CountOf(log, "Solving small") == 1);
  CHECK(CountOf(log, "Learning Rate Policy: fixed") == 1);
  CHECK(CountOf(log, "Iteration 0, Testing net (#0)") == 1);
  CHECK(CountOf(log, "Iteration 2, Testing net (#0)") == 1);
  CHECK(CountOf(log, "Test loss: ") == 2);
  CHECK(CountOf(log, "    Test net output #0: loss = ") == 2);
  CHECK(CountOf(log, "Iteration 0 (0 iter/s, ") == 1);
  CHECK(CountOf(log, "    Train net output #0: loss = ") == 1);
  CHECK(CountOf(log, "Iteration 0, lr = 0.05") == 1);
  CHECK(CountOf(log, "Gradient clipping: scaling down gradients (L2 norm ") == 2);
  CHECK(CountOf(log, "Iteration 2, loss = ") == 1);
  CHECK(log.lines().back() == "Optimization Done.");
}

TEST_CASE("A test of no passes has no result") {
  for (const int passes : {0, -3}) {
    const World world("host cpu");
    SolverParameter param = SmallSolver("max_iter: 1 test_compute_loss: true");
    param.add_test_iter(passes);
    param.set_test_interval(1);
    LogLines log(LogLevel::kInfo);
    const auto solver = FedSolver<float>(param, world.place());
    const auto runs = PassesOf(*solver->test_nets()[0]);
    solver->Solve();
    CHECK(runs->empty());
    CHECK(CountOf(log, "Test loss") == 0);
    CHECK_FALSE(log.Has("nan"));
  }
}

TEST_CASE("A program may ask a solver to stop, or for a snapshot") {
  const World world("host cpu");
  const Folder folder;
  SolverParameter param = SmallSolver("max_iter: 9 snapshot_prefix: '" + (folder / "s").string() + "'");
  std::vector<SolverAction::Enum> answers{SolverAction::NONE, SolverAction::SNAPSHOT, SolverAction::STOP};
  const auto ask = [&](Solver<float>& solver) {
    solver.SetActionFunction([answers, next = std::size_t{0}]() mutable { return answers.at(next++); });
  };
  SECTION("between iterations") {
    const auto solver = FedSolver<float>(param, world.place());
    ask(*solver);
    solver->Solve();
    CHECK(solver->iter() == 3);
    CHECK(folder.Files() == Words{"s_iter_2.caffemodel", "s_iter_2.solverstate"});
  }
  SECTION("and gets a snapshot after it, unless snapshot_after_train is false") {
    param.set_snapshot_after_train(true);
    const auto solver = FedSolver<float>(param, world.place());
    answers = {SolverAction::STOP};
    ask(*solver);
    solver->Solve();
    CHECK(folder.Files() == Words{"s_iter_1.caffemodel", "s_iter_1.solverstate"});
  }
  SECTION("within a test") {
    param.add_test_iter(5);
    param.set_test_interval(1);
    const auto solver = FedSolver<float>(param, world.place());
    const auto passes = PassesOf(*solver->test_nets()[0]);
    answers = {SolverAction::NONE, SolverAction::NONE, SolverAction::STOP, SolverAction::SNAPSHOT,
               SolverAction::NONE};
    ask(*solver);
    solver->Solve();
    CHECK(solver->iter() == 0);
    CHECK(passes->size() == 2);
    CHECK(folder.Files() == Words{"s_iter_0.caffemodel", "s_iter_0.solverstate"});
  }
}

TEST_CASE("A snapshot that was asked for and cannot be written ends no training") {
  const World world("host cpu");
  const auto solver = FedSolver<float>(
      SmallSolver("snapshot_prefix: '/no/such/folder/s' test_iter: 1 test_interval: 1"), world.place());
  bool ask = false;
  std::int64_t asked = 0;
  solver->SetActionFunction([&] {
    ask = !ask;
    asked += ask ? 1 : 0;
    return ask ? SolverAction::SNAPSHOT : SolverAction::NONE;
  });
  const LogLines log;
  CHECK_NOTHROW(solver->Step(2));
  CHECK(solver->iter() == 2);
  CHECK(CountOf(log, "There is no snapshot, and training goes on: ") == asked);
  for (const char* const name : {"s_iter_0", "s_iter_2"})  // in a test, and between iterations
    CHECK(log.Has("/no/such/folder/" + std::string(name) + ".caffemodel"));
}

TEST_CASE("Signals become requests, and then do again what they did") {
  static int caught = 0;
  const auto count = [](int) { ++caught; };
  void (*const old)(int) = std::signal(SIGINT, count);
  {
    const SignalHandler handler(SolverAction::STOP, SolverAction::SNAPSHOT);
    const ActionCallback request = handler.GetActionFunction();
    CHECK(request() == SolverAction::NONE);
    std::raise(SIGINT);
    std::raise(SIGHUP);
    CHECK(request() == SolverAction::SNAPSHOT);
    CHECK(request() == SolverAction::STOP);
    CHECK(request() == SolverAction::NONE);
    CHECK_THROWS_AS(SignalHandler(SolverAction::STOP, SolverAction::STOP), NetError);
    CHECK(caught == 0);
  }
  std::raise(SIGINT);
  CHECK(caught == 1);
  std::signal(SIGINT, old);
  CHECK_NOTHROW(SignalHandler(SolverAction::STOP, SolverAction::STOP));
}

}  // namespace
}  // namespace ferry::nets_test
