// SPDX-License-Identifier: BSD-2-Clause
// Snapshots of nets whose layers leave something for the next pass.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <optional>

#include "ferry/nets/proto_io.hpp"
#include "ferry/sim.hpp"
#include "ferry/transfer_guard.hpp"
#include "tests/nets/solver_world.hpp"

namespace ferry::nets_test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

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

std::vector<float> StateOf(Solver<float>& solver) {
  std::vector<float> values = ElementsOf<float>(solver.net()->layer_by_name("r")->state());
  const auto of_test = ElementsOf<float>(solver.test_nets()[0]->layer_by_name("r")->state());
  values.insert(values.end(), of_test.begin(), of_test.end());
  return values;
}

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
  CHECK(state.layer_state_size() == 4);
  state.clear_layer_state();
  WriteProtoToBinaryFile(state, file);
  solver->Restore(file);
  CHECK(StateOf(*solver) == std::vector<float>(StateOf(*solver).size()));
}

TEST_CASE("A state of other layers is refused, and changes nothing") {
  for (const std::string format : {"BINARYPROTO", "HDF5"}) {
    INFO(format);
    const Folder folder;
    const World world("sim stream");
    const std::string text = PrefixIn(folder) + "snapshot_format: " + format;
    const auto lstm = FedSolver<float>(RecurrentSolver("LSTM", text), world.place());
    lstm->Step(3);
    const auto refuses = [&](const SolverParameter& param, const std::string& error) {
      const auto other = FedSolver<float>(param, world.place());
      other->Step(1);
      const Contents<float> before(*other);
      const std::vector<float> state = StateOf(*other);
      lstm->Snapshot();
      CHECK_THROWS_MATCHES(other->Restore(StateFile(folder, format)), NetError,
                           MessageMatches(ContainsSubstring(error)));
      CHECK(Contents<float>(*other) == before);
      CHECK(StateOf(*other) == state);
    };
    SolverParameter without_tests = RecurrentSolver("LSTM", text);
    without_tests.clear_test_iter();
    without_tests.clear_test_interval();
    const auto untested = FedSolver<float>(without_tests, world.place());
    lstm->Snapshot();
    CHECK_THROWS_MATCHES(untested->Restore(StateFile(folder, format)), NetError,
                         MessageMatches(ContainsSubstring("has 4 layers' state blobs, and the solver 2")));
    SolverParameter fewer = RecurrentSolver("LSTM", text);
    for (int i : {0, 1})
      fewer.mutable_net_param()->mutable_layer(0)->mutable_input_param()->mutable_shape(i)->set_dim(1, 2);
    fewer.mutable_net_param()->mutable_layer(1)->mutable_dummy_data_param()->mutable_shape(0)->set_dim(1, 2);
    refuses(fewer, "layers' state blob 0 has shape 1 4 3 (12)");
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
