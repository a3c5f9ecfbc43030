// SPDX-License-Identifier: BSD-2-Clause
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fstream>
#include <sstream>
#include <utility>

#include "ferry/nets/proto_io.hpp"
#include "ferry/observer.hpp"
#include "ferry/transfer_guard.hpp"
#include "tests/full_disk.hpp"
#include "tests/log_lines.hpp"
#include "tests/nets/solver_world.hpp"

namespace ferry::nets_test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using ferry::testing::FullDisk;
using ferry::testing::LogLines;
using Words = std::vector<std::string>;

constexpr const char* kTypes[] = {"SGD", "Nesterov", "AdaGrad", "RMSProp", "AdaDelta", "Adam"};

/// A rate that falls, decay, two passes an iteration, and a momentum where the type may have one.
std::string Text(const std::string& type) {
  const bool momentum = type != "AdaGrad" && type != "RMSProp";
  return "type: '" + type + (momentum ? "' momentum: 0.9" : "'") +
         " lr_policy: 'multistep' gamma: 0.5 stepvalue: 2 stepvalue: 4 weight_decay: 0.1 iter_size: 2 ";
}

std::string BytesOf(const std::filesystem::path& file) {
  std::ostringstream bytes;
  bytes << std::ifstream(file, std::ios::binary).rdbuf();
  return bytes.str();
}

SolverState StateIn(const std::filesystem::path& file) {
  SolverState state;
  ReadProtoFromBinaryFileOrDie(file, &state);
  return state;
}

template <class T>
void CheckGoesOn(const std::string& type, const std::string& format, const World& world) {
  const Folder folder;
  const std::string text = Text(type) + PrefixIn(folder) + "snapshot_format: " + format;
  const std::string state = format == "HDF5" ? "s_iter_3.solverstate.h5" : "s_iter_3.solverstate";
  const auto whole = FedSolver<T>(SmallSolver(text), world.place());
  whole->Step(3);
  whole->Snapshot();
  whole->Step(4);

  const auto restored = FedSolver<T>(SmallSolver(text), world.place());
  restored->Restore(folder / state);
  CHECK(restored->iter() == 3);
  restored->Step(4);
  CHECK(Contents<T>(*restored) == Contents<T>(*whole));
}

TEMPLATE_TEST_CASE("A restored run goes on to the same bits", "", float, double) {
  for (const char* const type : kTypes)
    for (const char* const format : {"BINARYPROTO", "HDF5"})
      for (const char* const where : {"host cpu", "sim stream"}) {
        INFO(type << ", " << format << ", " << where);
        const World world(where);
        CheckGoesOn<TestType>(type, format, world);
      }
}

TEST_CASE("Solve resumes from a snapshot, and goes on in the data of its tests") {
  const Folder folder;
  const World world("host cpu");
  const std::string text =
      PrefixIn(folder) + "max_iter: 6 snapshot: 3 test_iter: 2 test_interval: 2 snapshot_after_train: true";
  const auto whole = FedSolver<float>(SmallSolver(text), world.place());
  whole->Solve();
  CHECK(folder.Files() ==
        Words{"s_iter_3.caffemodel", "s_iter_3.solverstate", "s_iter_6.caffemodel", "s_iter_6.solverstate"});
  const auto resumed = FedSolver<float>(SmallSolver(text), world.place());
  resumed->Solve(folder / "s_iter_3.solverstate");
  CHECK(Contents<float>(*resumed) == Contents<float>(*whole));
  const auto last = [](Solver<float>& solver) {
    return ElementsOf<float>(solver.test_nets()[0]->output_blobs());
  };
  CHECK(last(*resumed) == last(*whole));
}

TEST_CASE("Records of what Restore copies have the program's line") {
  for (const std::string format : {"BINARYPROTO", "HDF5"}) {
    const Folder folder;
    const World world("sim stream");
    FedSolver<float>(SmallSolver(PrefixIn(folder) + "snapshot_format: " + format), world.place())->Snapshot();
    const auto solver = FedSolver<float>(SmallSolver(""), world.place());
    const auto solved = FedSolver<float>(SmallSolver(""), world.place());
    long accesses = 0;
    const Watch watch([&](const AccessRecord& access) {
      if (access.on != nullptr) return;  // what Solve takes to the net's place
      ++accesses;
      CHECK(std::string(access.site.file()).ends_with("solver_snapshot_test.cpp"));
    });
    solver->Restore(folder / (format == "HDF5" ? "s_iter_0.solverstate.h5" : "s_iter_0.solverstate"));
    const long restored = std::exchange(accesses, 0);
    CHECK(restored > 0);
    solved->Solve(folder / (format == "HDF5" ? "s_iter_0.solverstate.h5" : "s_iter_0.solverstate"));
    CHECK(accesses == restored);
  }
}

TEST_CASE("A seed that the parameter says stands above the snapshot's") {
  const Folder folder;
  const World world("host cpu");
  FedSolver<float>(SmallSolver(PrefixIn(folder) + "random_seed: 7"), world.place())->Snapshot();
  const auto key = [&](const std::string& seed) {
    const auto solver = FedSolver<float>(SmallSolver(seed), world.place());
    solver->Restore(folder / "s_iter_0.solverstate");
    return solver->net()->layer_by_name("drop")->random_key().seed;
  };
  CHECK(key("") == 7);
  CHECK(key("random_seed: 8") == 8);
}

TEST_CASE("Test nets draw on from the snapshot's seed, too") {
  const Folder folder;
  const World world("host cpu");
  const std::string tests = PrefixIn(folder) + "test_iter: 1 test_interval: 1 ";
  FedSolver<float>(SmallSolver(tests + "random_seed: 7"), world.place())->Snapshot();
  const auto solver = FedSolver<float>(SmallSolver(tests), world.place());
  solver->Restore(folder / "s_iter_0.solverstate");
  for (const auto& layer : solver->test_nets()[0]->layers()) CHECK(layer->random_key().seed == 8);
}

TEST_CASE("A snapshot is Caffe's, with what Caffe skips") {
  const Folder folder;
  const World world("host cpu");
  const auto solver = FedSolver<float>(SmallSolver(Text("Adam") + PrefixIn(folder)), world.place());
  solver->Step(3);
  solver->Snapshot();
  const SolverState state = StateIn(folder / "s_iter_3.solverstate");
  CHECK(state.iter() == 3);
  CHECK(state.current_step() == 1);
  CHECK(state.learned_net() == (folder / "s_iter_3.caffemodel").string());
  REQUIRE(state.history_size() == 8);
  CHECK(state.history(0).shape().dim_size() == 2);
  CHECK(state.history(0).data_size() == 15);
  NetParameter net;
  ReadNetParamsFromBinaryFileOrDie(state.learned_net(), &net);
  CHECK(net.name() == "small");
  REQUIRE(net.layer_size() == 5);
  CHECK(net.layer(1).blobs_size() == 2);
  CHECK(net.layer(1).blobs(0).diff_size() == 0);
}

TEST_CASE("A snapshot has the diffs if snapshot_diff says so") {
  const Folder folder;
  const World world("host cpu");
  FedSolver<float>(SmallSolver(PrefixIn(folder) + "snapshot_diff: true"), world.place())->Snapshot();
  NetParameter net;
  ReadNetParamsFromBinaryFileOrDie(folder / "s_iter_0.caffemodel", &net);
  CHECK(net.layer(1).blobs(0).diff_size() == 15);
}

TEST_CASE("A state as Caffe writes it is restored, of old shapes too, without a net") {
  const Folder folder;
  const World world("host cpu");
  const auto solver = FedSolver<double>(SmallSolver(PrefixIn(folder) + "momentum: 0.9"), world.place());
  solver->Step(2);
  solver->Snapshot();
  SolverState state = StateIn(folder / "s_iter_2.solverstate");
  state.clear_seed();
  state.clear_solver_type();
  state.clear_learned_net();
  const std::vector<double> expected = HistoryOf(*solver);
  for (BlobProto& blob : *state.mutable_history()) {
    const auto last = blob.shape().dim_size() - 1;
    blob.set_num(1);
    blob.set_channels(1);
    blob.set_height(last == 0 ? 1 : static_cast<int>(blob.shape().dim(0)));
    blob.set_width(static_cast<int>(blob.shape().dim(last)));
    blob.clear_shape();
  }
  WriteProtoToBinaryFile(state, folder / "old");
  const auto other = FedSolver<double>(SmallSolver("momentum: 0.9"), world.place());
  const std::vector<double> weights = WeightsOf(*other);
  other->Restore(folder / "old");
  CHECK(HistoryOf(*other) == expected);
  for (const auto& blob : dynamic_cast<SGDSolver<double>&>(*other).history())
    CHECK(blob->num_axes() <= 2);  // the parameters' shapes, and not the four dims of old
  CHECK(WeightsOf(*other) == weights);
  CHECK(other->iter() == 2);
  CHECK_NOTHROW(other->Step(1));
}

TEST_CASE("A disk that is full leaves the last snapshot as it was") {
  for (const std::string format : {"BINARYPROTO", "HDF5"}) {
    INFO(format);
    const Folder folder;
    const World world("host cpu");
    const std::string end = format == "HDF5" ? ".h5" : "";
    const auto solver =
        FedSolver<float>(SmallSolver(PrefixIn(folder) + "snapshot_format: " + format), world.place());
    solver->Step(2);
    solver->Snapshot();
    const Words files{"s_iter_2.caffemodel" + end, "s_iter_2.solverstate" + end};
    CHECK(folder.Files() == files);
    const std::string model = BytesOf(folder / files[0]), state = BytesOf(folder / files[1]);
    const Contents<float> then(*solver);
    for (Blob<float>* param : solver->net()->learnable_params()) param->scale_data(2);
    for (const rlim_t bytes : {rlim_t{64}, static_cast<rlim_t>(model.size() - 1)}) {
      bool failed = false;
      try {
        const FullDisk full(bytes, true);
        solver->Snapshot();
      } catch (const Error&) {
        failed = true;
      }
      CHECK(failed);
      CHECK(folder.Files() == files);
      CHECK((BytesOf(folder / files[0]) == model));
      CHECK((BytesOf(folder / files[1]) == state));
    }
    solver->Restore(folder / files[1]);
    CHECK(Contents<float>(*solver) == then);
  }
}

TEST_CASE("Where the state cannot be written, the weights of the snapshot before stay") {
  for (const std::string format : {"BINARYPROTO", "HDF5"}) {
    INFO(format);
    const Folder folder;
    const World world("host cpu");
    const std::string end = format == "HDF5" ? ".h5" : "";
    const Words files{"s_iter_2.caffemodel" + end, "s_iter_2.solverstate" + end};
    const auto solver = FedSolver<float>(
        SmallSolver("type: 'Adam' snapshot_format: " + format + ' ' + PrefixIn(folder), 100), world.place());
    solver->Step(2);
    solver->Snapshot();
    const std::string model = BytesOf(folder / files[0]), state = BytesOf(folder / files[1]);
    for (Blob<float>* param : solver->net()->learnable_params()) param->scale_data(2);
    const auto fails = [&] {
      CHECK_THROWS_AS(solver->Snapshot(), NetError);
      CHECK((BytesOf(folder / files[0]) == model));
      CHECK(folder.Files() == files);
    };
    REQUIRE(model.size() < state.size());
    {
      const FullDisk full(static_cast<rlim_t>(model.size()));
      fails();
    }
    CHECK((BytesOf(folder / files[1]) == state));
    std::filesystem::remove(folder / files[1]);
    std::filesystem::create_directory(folder / files[1]);
    fails();
  }
}

TEST_CASE("A solver's own transfers are meant where a program forbids transfers") {
  const Folder folder;
  const World world("sim stream");
  SolverParameter param = SmallSolver(
      PrefixIn(folder) + "momentum: 0.9 display: 1 test_iter: 1 test_interval: 2 snapshot_diff: true");
  LayerParameter& of_tests = *param.mutable_net_param()->add_layer();  // with weights that no other net has
  of_tests.set_name("own");
  of_tests.set_type("InnerProduct");
  of_tests.add_bottom("second");
  of_tests.add_top("own");
  of_tests.mutable_inner_product_param()->set_num_output(1);
  of_tests.add_include()->set_phase(TEST);
  const auto solver = FedSolver<float>(param, world.place());
  BringInputs(*solver, world);
  const LogLines log(LogLevel::kInfo);
  const TransferGuard forbidden(TransferPolicy::kThrow);
  solver->Step(2);
  solver->Snapshot();
  solver->Restore(folder / "s_iter_2.solverstate");
  solver->Step(1);
  CHECK(log.Has("Train net output #0"));
  CHECK_THROWS_AS(solver->net()->learnable_params()[0]->cpu_data(), TransferRefused);
}

TEST_CASE("What is done between Restore and the first pass is of the snapshot's iteration") {
  const Folder folder;
  const World world("host cpu");
  const auto solver = FedSolver<float>(SmallSolver(PrefixIn(folder) + "iter_size: 3"), world.place());
  solver->Step(2);
  solver->Snapshot();
  const auto restored = FedSolver<float>(SmallSolver("iter_size: 3"), world.place());
  restored->Restore(folder / "s_iter_2.solverstate");
  for (const auto& layer : restored->net()->layers()) CHECK(layer->random_key().iteration == 6);
}

TEST_CASE("A solver that begins leaves no file to see whether it may write") {
  const Folder folder;
  const World world("host cpu");
  FedSolver<float>(SmallSolver(PrefixIn(folder) + "snapshot: 2"), world.place());
  CHECK(folder.Files().empty());
}

}  // namespace
}  // namespace ferry::nets_test
