// SPDX-License-Identifier: BSD-2-Clause
// Snapshots of nets whose layers leave something for the next pass.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <optional>

#include "ferry/nets/proto_io.hpp"
#include "ferry/sim.hpp"
#include "ferry/transfer_guard.hpp"
#include "tests/log_lines.hpp"
#include "tests/nets/solver_world.hpp"

namespace ferry::nets_test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using ferry::testing::LogLines;

/// A layer of that type over some steps of four streams, each of which goes on for ever; tested each
/// iteration.
SolverParameter RecurrentSolver(const std::string& type, const std::string& text, int steps = 2) {
  const std::string dims = "dim: " + std::to_string(steps) + " dim: 4 ";
  const std::string net = R"(
    layer { name: "in" type: "Input" top: "x" top: "target"
            input_param { shape { )" +
                          dims + "dim: 3 } shape { " + dims + R"(dim: 3 } } }
    layer { name: "cont" type: "DummyData" top: "cont"
            dummy_data_param { shape { )" +
                          dims + R"(} data_filler { value: 1 } } }
    layer { name: "r" type: ")" +
                          type + R"(" bottom: "x" bottom: "cont" top: "y"
            recurrent_param { num_output: 3 weight_filler { type: "gaussian" std: 0.5 } } }
    layer { name: "loss" type: "EuclideanLoss" bottom: "y" bottom: "target" top: "loss" })";
  return SolverOf(
      "lr_policy: 'fixed' base_lr: 0.05 snapshot_after_train: false test_iter: 1 test_interval: 1 "
      "random_seed: 3 " +
      text + " net_param {" + net + "}");
}

std::vector<float> StateOf(const Net<float>& net) {
  return ElementsOf<float>(net.layer_by_name("r")->state());
}
std::vector<float> StateOf(Solver<float>& solver) {
  std::vector<float> values = StateOf(*solver.net());
  const auto of_test = StateOf(*solver.test_nets()[0]);
  values.insert(values.end(), of_test.begin(), of_test.end());
  return values;
}
std::vector<float> Zeros(const std::vector<float>& values) { return std::vector<float>(values.size()); }

std::filesystem::path StateFile(const Folder& folder, const std::string& format) {
  return folder / (format == "HDF5" ? "s_iter_3.solverstate.h5" : "s_iter_3.solverstate");
}

/// That a restored run of such a layer goes on as the one that was not interrupted.
void CheckGoesOn(const std::string& type, const std::string& format, int steps, const World& world) {
  const Folder folder;
  const SolverParameter param = RecurrentSolver(type, PrefixIn(folder) + "snapshot_format: " + format, steps);
  const auto whole = FedSolver<float>(param, world.place());
  whole->Step(3);
  whole->Snapshot();
  whole->Step(4);

  const auto restored = FedSolver<float>(param, world.place());
  restored->Restore(StateFile(folder, format));
  restored->Step(4);
  CHECK(Contents<float>(*restored) == Contents<float>(*whole));
  CHECK(StateOf(*restored) == StateOf(*whole));
}

TEST_CASE("A restored run of recurrent layers goes on with their state, in tests too") {
  for (const std::string type : {"RNN", "LSTM"})
    for (const std::string format : {"BINARYPROTO", "HDF5"})
      for (const int steps : {1, 2})  // the output of one is the state itself
        for (const char* const where : {"host cpu", "sim stream"}) {
          INFO(type << ", " << format << ", " << steps << ", " << where);
          CheckGoesOn(type, format, steps, World(where));
        }
}

TEST_CASE("From a state without that of layers, as Caffe writes it, they begin with zeros") {
  const Folder folder;
  const World world("host cpu");
  const SolverParameter param = RecurrentSolver("LSTM", PrefixIn(folder));
  const auto solver = FedSolver<float>(param, world.place());
  solver->Step(3);
  solver->Snapshot();
  const std::filesystem::path file = StateFile(folder, "");
  SolverState state;
  ReadProtoFromBinaryFileOrDie(file, &state);
  CHECK(state.layer_state_size() == 2);
  CHECK(state.test_layer_state_size() == 2);
  state.clear_layer_state();
  state.clear_test_layer_state();
  WriteProtoToBinaryFile(state, file);
  const LogLines log;
  solver->Restore(file);
  CHECK_FALSE(log.Has("begin with zeros"));
  CHECK(StateOf(*solver) == Zeros(StateOf(*solver)));
}

/// A solver after three iterations, with its snapshot written.
std::unique_ptr<Solver<float>> After3(const SolverParameter& param, const World& world) {
  auto solver = FedSolver<float>(param, world.place());
  solver->Step(3);
  solver->Snapshot();
  return solver;
}

TEST_CASE("A run goes on with other test nets, which begin with zeros") {
  for (const std::string format : {"BINARYPROTO", "HDF5"}) {
    INFO(format);
    const Folder folder;
    const World world("sim stream");
    const std::string text = PrefixIn(folder) + "snapshot_format: " + format;
    const SolverParameter tested = RecurrentSolver("LSTM", text);
    SolverParameter untested = tested;
    untested.clear_test_iter();
    untested.clear_test_interval();
    const LogLines log;
    {
      const auto whole = After3(tested, world), less = FedSolver<float>(untested, world.place());
      less->Restore(StateFile(folder, format));
      CHECK(StateOf(*less->net()) == StateOf(*whole->net()));
      CHECK(Contents<float>(*less) == Contents<float>(*whole));
      CHECK_FALSE(log.Has("begin with zeros"));
    }
    const auto whole = After3(untested, world), more = FedSolver<float>(tested, world.place());
    more->Step(1);
    more->Restore(StateFile(folder, format));
    CHECK_FALSE(log.Has("begin with zeros"));
    CHECK(StateOf(*more->net()) == StateOf(*whole->net()));
    CHECK(StateOf(*more->test_nets()[0]) == Zeros(StateOf(*more->test_nets()[0])));
    CHECK(Contents<float>(*more) == Contents<float>(*whole));
  }
}

TEST_CASE("A run goes on with other streams, which begin with zeros, and says so") {
  for (const std::string format : {"BINARYPROTO", "HDF5"}) {
    INFO(format);
    const Folder folder;
    const World world("sim stream");
    const SolverParameter param = RecurrentSolver("LSTM", PrefixIn(folder) + "snapshot_format: " + format);
    const auto whole = After3(param, world);
    SolverParameter fewer = param;
    for (int i : {0, 1})
      fewer.mutable_net_param()->mutable_layer(0)->mutable_input_param()->mutable_shape(i)->set_dim(1, 2);
    fewer.mutable_net_param()->mutable_layer(1)->mutable_dummy_data_param()->mutable_shape(0)->set_dim(1, 2);
    const auto other = FedSolver<float>(fewer, world.place());
    other->Step(1);
    const LogLines log;
    other->Restore(StateFile(folder, format));
    CHECK(Contents<float>(*other) == Contents<float>(*whole));
    CHECK(StateOf(*other) == Zeros(StateOf(*other)));
    CHECK(
        log.Has("layers' state blob 0 of shape 1 4 3 (12), and the solver's has 1 2 3 (6); all of the "
                "solver's begin with zeros"));
  }
}

/// What a solver has, and what the next iteration makes of it.
struct Course {
  explicit Course(Solver<float>& solver) : now(solver), state(StateOf(solver)) {
    solver.Step(1);
    next = Contents<float>(solver).weights;
    next_state = StateOf(solver);
  }
  bool operator==(const Course&) const = default;

  Contents<float> now;
  std::vector<float> state, next, next_state;
};

/// Of a solver on a machine of these options, one iteration old, that has restored the file if there is one.
struct Restoring {
  Restoring(const SolverParameter& param, const std::filesystem::path& file, const sim::Options& options) {
    const World world("sim stream", options);
    const auto solver = FedSolver<float>(param, world.place());
    solver->Step(1);
    first_call = sim::Inspect().calls + 1;
    try {
      if (!file.empty()) solver->Restore(file);
    } catch (const std::exception&) {
      failed = true;
    }
    last_call = sim::Inspect().calls;
    course.emplace(*solver);
  }

  long first_call, last_call;
  bool failed = false;
  std::optional<Course> course;
};

TEST_CASE("A snapshot is restored whole or not at all, whichever call of the device fails") {
  for (const std::string format : {"BINARYPROTO", "HDF5"}) {
    const Folder folder;
    const std::string prefix = PrefixIn(folder);
    const SolverParameter param = RecurrentSolver(
        "LSTM", std::string("momentum: 0.9 snapshot_format: ").append(format).append(" ").append(prefix));
    {
      const World world("sim stream");
      const auto solver = FedSolver<float>(param, world.place());
      solver->Step(3);
      solver->Snapshot();
    }
    const std::filesystem::path file = StateFile(folder, format);
    const Restoring before(param, "", {}), restored(param, file, {});
    REQUIRE(!restored.failed);
    REQUIRE(*before.course != *restored.course);
    REQUIRE(restored.first_call <= restored.last_call);
    for (const bool late : {false, true})
      for (long nth = restored.first_call; nth <= restored.last_call; ++nth) {
        CAPTURE(format, late, nth);
        const Restoring met(param, file, {.fail_at = nth, .fail_late = late});
        CHECK(*met.course == *(met.failed ? before : restored).course);
      }
  }
}

TEST_CASE("Layers' state that was restored goes to the net's place where a program forbids transfers") {
  const Folder folder;
  const World world("sim stream");
  const auto solver = FedSolver<float>(RecurrentSolver("LSTM", PrefixIn(folder)), world.place());
  BringInputs(*solver, world);
  const TransferGuard forbidden(TransferPolicy::kThrow);
  solver->Step(3);
  solver->Snapshot();
  solver->Restore(StateFile(folder, ""));
  CHECK_NOTHROW(solver->Step(1));
}

}  // namespace
}  // namespace ferry::nets_test
