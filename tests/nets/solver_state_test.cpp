// SPDX-License-Identifier: BSD-2-Clause
// States that Restore refuses.
#include "core/nets/solver/solver_state.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>

#include "core/nets/hdf5/hdf5_file.hpp"
#include "ferry/nets/proto_io.hpp"
#include "tests/nets/solver_world.hpp"

namespace ferry::nets_test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

/// That a solver of this text refuses the state, and stays as it was.
void CheckRefuses(const SolverParameter& param, const std::filesystem::path& state, const World& world,
                  const std::string& error) {
  const auto solver = FedSolver<float>(param, world.place());
  solver->Step(1);
  const Contents<float> before(*solver);
  CHECK_THROWS_MATCHES(solver->Restore(state), NetError, MessageMatches(ContainsSubstring(error)));
  CHECK(Contents<float>(*solver) == before);
  CHECK_NOTHROW(solver->Step(1));
}

TEST_CASE("A state that is another solver's is refused, and changes nothing") {
  for (const std::string format : {"BINARYPROTO", "HDF5"}) {
    INFO(format);
    const Folder folder;
    const World world("sim stream");
    const std::string end = format == "HDF5" ? ".h5" : "";
    const auto solver =
        FedSolver<float>(SmallSolver(PrefixIn(folder) + "snapshot_format: " + format), world.place());
    solver->Step(2);
    solver->Snapshot();
    const std::filesystem::path state = folder / ("s_iter_2.solverstate" + end);
    CheckRefuses(SmallSolver("", 6), state, world, "history blob 0 of shape 5 3 (15)");
    CheckRefuses(SmallSolver("type: 'Adam'"), state, world, "has 4 history blobs, and the solver 8");
    CheckRefuses(SmallSolver("type: 'Nesterov'"), state, world,
                 "is of a solver of type SGD, and this one is Nesterov");
    CheckRefuses(SmallSolver(""), folder / ("s_iter_2.caffemodel" + end), world, "s_iter_2.caffemodel");
    CheckRefuses(SmallSolver(""), folder / "none", world, "none");
    std::filesystem::remove(folder / ("s_iter_2.caffemodel" + end));
    CheckRefuses(SmallSolver(""), state, world, "s_iter_2.caffemodel");
    std::filesystem::resize_file(state, std::filesystem::file_size(state) / 2);
    CheckRefuses(SmallSolver(""), state, world, "solverstate");
  }
}

TEST_CASE("A solver's history is named after its parameters, also once it was read from a file") {
  for (const std::string format : {"BINARYPROTO", "HDF5"}) {
    INFO(format);
    const Folder folder;
    const World world("host cpu");
    const std::string end = format == "HDF5" ? ".h5" : "";
    const std::string text = PrefixIn(folder) + "type: 'Adam' snapshot_format: " + format;
    const auto solver = FedSolver<float>(SmallSolver(text), world.place());
    solver->Snapshot();
    for (int pass = 0; pass < 2; ++pass) {
      const auto& params = solver->net()->learnable_params();
      const auto& history = dynamic_cast<SGDSolver<float>&>(*solver).history();
      REQUIRE(history.size() == 2 * params.size());
      for (std::size_t i = 0; i < history.size(); ++i)
        CHECK(history[i]->name() ==
              params[i % params.size()]->name() + ".history." + std::to_string(i / params.size()));
      solver->Restore(folder / ("s_iter_0.solverstate" + end));
    }
  }
}

TEST_CASE("A state of an iteration that none is, or of a step that none is, is refused") {
  for (const std::string format : {"BINARYPROTO", "HDF5"}) {
    INFO(format);
    const Folder folder;
    const World world("host cpu");
    const std::string text = "lr_policy: 'multistep' gamma: 0.5 stepvalue: 3 ";
    const auto solver = FedSolver<double>(SmallSolver(text), world.place());
    solver->net()->ToHDF5(folder / "net");
    detail::Kept<double> kept;
    for (const auto& blob : dynamic_cast<SGDSolver<double>&>(*solver).history()) kept.history.push_back(blob);
    const auto write = [&](int iter, int step) {
      SolverState state;
      state.set_iter(iter);
      state.set_current_step(step);
      state.set_solver_type("SGD");
      state.set_learned_net(folder / "net");
      std::filesystem::path file = folder / "state";
      detail::StageState(file, SolverOf("snapshot_format: " + format).snapshot_format(), state, kept)
          ->Commit();
      return file;
    };
    CheckRefuses(SmallSolver(text), write(-5, 0), world,
                 ": iter is -5; it must be a whole number from 0 to 2147483647");
    CheckRefuses(SmallSolver(text), write(3, -1), world, ": current_step is -1; it must be a whole");
    solver->Restore(write(std::numeric_limits<int>::max() - 1, 9));
    CHECK_THROWS_MATCHES(solver->Step(2), Error, MessageMatches(ContainsSubstring("Step: 2 iterations")));
    solver->Step(1);
    CHECK(solver->iter() == std::numeric_limits<int>::max());
  }
}

TEST_CASE("A state whose model is of another net is refused, and changes nothing") {
  const Folder folder;
  const World world("host cpu");
  const auto solver = FedSolver<float>(SmallSolver(PrefixIn(folder)), world.place());
  solver->Step(2);
  solver->Snapshot();
  NetParameter net;
  ReadNetParamsFromBinaryFileOrDie(folder / "s_iter_2.caffemodel", &net);
  net.mutable_layer(3)->mutable_blobs(0)->mutable_shape()->set_dim(0, 5);
  net.mutable_layer(3)->mutable_blobs(0)->mutable_shape()->set_dim(1, 2);
  WriteProtoToBinaryFile(net, folder / "s_iter_2.caffemodel");
  CheckRefuses(SmallSolver(""), folder / "s_iter_2.solverstate", world, "second");
  CheckRefuses(SmallSolver(""), folder / "s_iter_2.solverstate", world,
               "s_iter_2.solverstate, its learned_net");
  folder.Write("s_iter_2.caffemodel", "name: 'small'");
  CheckRefuses(SmallSolver(""), folder / "s_iter_2.solverstate", world,
               "s_iter_2.solverstate, its learned_net");
}

TEST_CASE("A state whose history lacks elements, or has dims that none are, is refused") {
  const Folder folder;
  const World world("host cpu");
  FedSolver<float>(SmallSolver(PrefixIn(folder)), world.place())->Snapshot();
  SolverState state;
  ReadProtoFromBinaryFileOrDie(folder / "s_iter_0.solverstate", &state);
  state.mutable_history(1)->mutable_data()->RemoveLast();
  WriteProtoToBinaryFile(state, folder / "few");
  CheckRefuses(SmallSolver(""), folder / "few", world,
               "few: history blob 1: the source has 4 elements and 0");
  state.mutable_history(0)->mutable_shape()->set_dim(0, -5);
  WriteProtoToBinaryFile(state, folder / "negative");
  CheckRefuses(SmallSolver(""), folder / "negative", world, "negative: history blob 0: ");
}

TEST_CASE("Numbers of a state of HDF5 that no int holds are refused") {
  if (!detail::HasHdf5()) SKIP("a build without HDF5");
  const Folder folder;
  const World world("host cpu");
  const auto write = [&](double iter, double step, const std::string& seed) {
    std::filesystem::path path = folder / "state.h5";
    detail::Hdf5File file = detail::Hdf5File::Create(path);
    file.Write("iter", {1}, &iter);
    file.Write("current_step", {1}, &step);
    file.WriteString("seed", seed);
    file.Close();
    return path;
  };
  for (const double number : {4294967298.0, 2147483648.0, 1e300, 2.75, -0.5, -1.0, std::nan("")}) {
    CAPTURE(number);
    CheckRefuses(SmallSolver(""), write(number, 0, "1"), world, "state.h5: iter is ");
    CheckRefuses(SmallSolver(""), write(1, number, "1"), world, "state.h5: current_step is ");
  }
  CheckRefuses(SmallSolver(""), write(2147483648.0, 0, "1"), world, "iter is 2147483648; it must be");
  CheckRefuses(SmallSolver(""), write(2.0000001, 0, "1"), world, "iter is 2.0000001; it must be");
  for (const std::string seed : {"12abc", "-1", "", "18446744073709551616"})
    CheckRefuses(SmallSolver(""), write(1, 0, seed), world, "state.h5: seed '" + seed + "' is no number");
}

}  // namespace
}  // namespace ferry::nets_test
