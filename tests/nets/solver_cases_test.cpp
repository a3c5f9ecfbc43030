// SPDX-License-Identifier: BSD-2-Clause
// Each type of solver against what Caffe computed. FERRY_CASES=Adam runs the cases whose file begins so.
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "tests/nets/fills.hpp"
#include "tests/nets/solver_world.hpp"
#include "tests/worst.hpp"

namespace ferry::nets_test {
namespace {

std::vector<std::string> Cases() { return CaffeCases("solvers", 29); }

template <class T>
std::vector<double> Elements(const T* first, std::int64_t count) {
  return {first, first + count};
}

/// Equal within `tolerance` of the largest value.
void CheckNear(const std::vector<double>& values, const Json& expected, double tolerance, const char* what,
               std::size_t index) {
  INFO(what << ' ' << index);
  REQUIRE(values.size() == expected.size());
  double largest = 0;
  ferry::testing::Worst worst;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = expected[i];
    largest = std::max(largest, std::abs(value));
    worst.Take(std::abs(values[i] - value), i);
  }
  INFO("element " << worst.at() << " is off by " << worst.difference() << " of " << largest);
  CHECK(worst.difference() <= tolerance * largest);
}

template <class T>
class CaseRun {
 public:
  CaseRun(const Json& solver_case, const Place& place) : case_(solver_case) {
    SolverParameter param = SolverOf(case_["solver"].get<std::string>() + " display: 1");
    if (!google::protobuf::TextFormat::ParseFromString(case_["net"], param.mutable_net_param()))
      throw std::invalid_argument("net");
    solver_ = SolverRegistry<T>::CreateSolver(param, place);
    const auto& learnable = solver_->net()->learnable_params();
    REQUIRE(learnable.size() == case_["learnable"].size());
    for (std::size_t i = 0; i < learnable.size(); ++i) Fill(*learnable[i], case_["learnable"][i]["fill"], 0);
    solver_->net()->add_before_forward([this](int layer) {
      if (layer == 0) FillInputs();
    });
    solver_->SetProgressFunction([this](const SolverProgress& progress) {
      rates.push_back(progress.rate);
      losses.push_back(progress.loss);
    });
  }

  SGDSolver<T>& solver() { return dynamic_cast<SGDSolver<T>&>(*solver_); }
  void CheckWeights(const char* after, double tolerance) {
    const auto& learnable = solver_->net()->learnable_params();
    for (std::size_t i = 0; i < learnable.size(); ++i)
      CheckNear(Elements(learnable[i]->cpu_data(), learnable[i]->count()), case_["weights_after"][after][i],
                tolerance, after, i);
  }

  std::vector<double> rates, losses;

 private:
  void Fill(Blob<T>& blob, const Json& fill, std::int64_t first) {
    const std::vector<double> values = Values(fill, blob.count(), 0, first);
    std::transform(values.begin(), values.end(), blob.overwrite_cpu_data(),
                   [](double value) { return static_cast<T>(value); });
  }
  void FillInputs() {
    const int batch = pass_++ % case_["batches"].get<int>();
    for (const Json& input : case_["inputs"]) {
      Blob<T>& blob = *solver_->net()->blob_by_name(input["blob"]);
      Fill(blob, input["fill"], batch * blob.count());
    }
  }

  const Json& case_;
  int pass_ = 0;
  std::unique_ptr<Solver<T>> solver_;
};

void CheckCase(const Json& solver_case, const Place& place) {
  constexpr double kTolerance = 1e-10;
  CaseRun<double> run(solver_case, place);
  run.solver().Step(1);
  run.CheckWeights("1", kTolerance);
  run.solver().Step(1);
  run.CheckWeights("2", kTolerance);
  run.solver().Step(8);
  run.CheckWeights("10", kTolerance);
  CheckNear(run.rates, solver_case["rates"], 1e-14, "rates", 0);
  CheckNear(run.losses, solver_case["losses"], kTolerance, "losses", 0);
  const auto& history = run.solver().history();
  REQUIRE(history.size() == solver_case["history_at_end"].size());
  for (std::size_t i = 0; i < history.size(); ++i)
    CheckNear(Elements(history[i]->cpu_data(), history[i]->count()), solver_case["history_at_end"][i],
              kTolerance, "history", i);
  const auto& learnable = run.solver().net()->learnable_params();
  for (std::size_t i = 0; i < learnable.size(); ++i)
    CheckNear(Elements(learnable[i]->cpu_diff(), learnable[i]->count()), solver_case["update_at_end"][i],
              kTolerance, "update", i);
}

/// What a solver counts is in its snapshots.
int StepOf(Solver<double>& solver, const std::filesystem::path& state) {
  solver.Snapshot();
  SolverState message;
  ReadProtoFromBinaryFileOrDie(state, &message);
  return message.current_step();
}

TEST_CASE("Each solver does to a net what Caffe's does", "[cases]") {
  for (const std::string& file : Cases()) {
    const Json solver_case = ReadCaffe("solvers/" + file);
    for (const char* const where : {"host cpu", "host stream", "sim cpu", "sim stream"}) {
      INFO(file << " at " << where);
      const World world(where);
      CHECK_NOTHROW(CheckCase(solver_case, world.place()));
    }
  }
}

TEST_CASE("Each solver counts steps as Caffe's does", "[cases]") {
  const Folder folder;
  for (const std::string& file : Cases()) {
    INFO(file);
    Json solver_case = ReadCaffe("solvers/" + file);
    solver_case["solver"] =
        solver_case["solver"].get<std::string>() + " snapshot_prefix: '" + (folder / file).string() + "'";
    const World world("host cpu");
    CaseRun<double> run(solver_case, world.place());
    run.solver().Step(10);
    CHECK(StepOf(run.solver(), folder / (file + "_iter_10.solverstate")) ==
          solver_case["current_step_at_end"].get<int>());
  }
}

TEST_CASE("A solver of floats stays near Caffe's of doubles", "[cases]") {
  for (const std::string& file : Cases()) {
    const Json solver_case = ReadCaffe("solvers/" + file);
    INFO(file);
    const World world("sim stream");
    CaseRun<float> run(solver_case, world.place());
    run.solver().Step(2);
    run.CheckWeights("2", 2e-4);
  }
}

}  // namespace
}  // namespace ferry::nets_test
