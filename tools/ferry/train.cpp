// SPDX-License-Identifier: BSD-2-Clause
// ferry train: trains a net, as `caffe train` does.
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ferry/log.hpp"
#include "inputs.hpp"
#include "loss_files.hpp"
#include "model.hpp"
#include "verbs.hpp"

namespace ferry::program {
namespace {

SolverAction::Enum ActionOf(const std::string& effect) {
  if (effect == "stop") return SolverAction::STOP;
  return effect == "snapshot" ? SolverAction::SNAPSHOT : SolverAction::NONE;
}

/// "1:02:03"
std::string HoursMinutesSeconds(double seconds) {
  const auto all = static_cast<long>(seconds);
  char text[32];
  std::snprintf(text, sizeof text, "%ld:%02ld:%02ld", all / 3600, all / 60 % 60, all % 60);
  return text;
}

/// The line that shows how far a training run is: on a terminal it replaces itself.
class Progress {
 public:
  /// `rows`: of the run that this one goes on with.
  Progress(int first, int last, std::int64_t images_an_iteration, std::vector<LossRow> rows)
      : iteration_(first), last_(last), images_(images_an_iteration), rows_(std::move(rows)) {}

  void Show(const SolverProgress& at) {
    if (!std::exchange(shown_, true))
      std::erase_if(rows_, [&](const LossRow& row) { return row.iteration >= iteration_; });
    const double before = rows_.empty() ? 0 : rows_.back().seconds;
    rows_.push_back({at.iteration, at.loss, at.rate, before + at.seconds});
    const int done = at.iteration - iteration_;
    iteration_ = at.iteration;
    const double each = done > 0 ? at.seconds / done : 0;
    std::fprintf(stderr, "%siteration %d of %d, loss %.5g, rate %.4g", terminal_ ? "\r\033[K" : "",
                 at.iteration, last_, at.loss, at.rate);
    if (each > 0 && images_ > 0) std::fprintf(stderr, ", %.0f images/s", static_cast<double>(images_) / each);
    if (each > 0)
      std::fprintf(stderr, ", %s left", HoursMinutesSeconds(each * (last_ - at.iteration)).c_str());
    std::fputs(terminal_ ? "" : "\n", stderr);
    open_ = terminal_;
  }
  /// Before another line, and at the end.
  void EndLine() {
    if (open_) std::fputs("\n", stderr);
    open_ = false;
  }
  const std::vector<LossRow>& rows() const { return rows_; }

 private:
  int iteration_, last_;
  std::int64_t images_;
  bool shown_ = false;
  const bool terminal_ = isatty(STDERR_FILENO) == 1;
  bool open_ = false;
  std::vector<LossRow> rows_;
};

/// While it lives, the log has all that Caffe says, on lines of its own.
class LogOnLines {
 public:
  explicit LogOnLines(std::optional<Progress>& progress) {
    SetLogLevel(std::min(log_level(), LogLevel::kInfo));
    SetLogSink([&](LogLevel, std::string_view line) {
      if (progress) progress->EndLine();
      std::cerr << line << '\n';
    });
  }
  ~LogOnLines() { SetLogSink({}); }
  LogOnLines(const LogOnLines&) = delete;
  LogOnLines& operator=(const LogOnLines&) = delete;
};

struct Train {
  Model model;
  std::string solver_file, snapshot, csv, plot;
  std::string sigint_effect = "stop", sighup_effect = "snapshot";

  void Run() const {
    if (!snapshot.empty() && !model.weights.empty())
      throw NetError("--snapshot and --weights: say where it goes on, or what it begins with");
    SolverParameter param;
    ReadSolverParamsFromTextFileOrDie(solver_file, &param);
    if (!model.weights.empty()) param.clear_weights();
    for (const std::string& one : model.weights) param.add_weights(one);
    param.mutable_train_state()->set_level(model.level);
    for (const std::string& stage : model.stages) param.mutable_train_state()->add_stage(stage);

    RequireOutputs(param);
    std::vector<LossRow> earlier;
    if (!snapshot.empty() && !csv.empty()) earlier = ReadCsv(csv);
    std::optional<Progress> progress;
    const LogOnLines log(progress);
    const auto solver = SolverRegistry<float>::CreateSolver(param, PlaceOf(param));
    const SignalHandler signals(ActionOf(sigint_effect), ActionOf(sighup_effect));
    solver->SetActionFunction(signals.GetActionFunction());
    if (!snapshot.empty()) solver->Restore(snapshot);
    progress.emplace(solver->iter(), param.max_iter(), ImagesAnIteration(*solver), std::move(earlier));
    solver->SetProgressFunction([&](const SolverProgress& at) { progress->Show(at); });
    try {
      solver->Solve();
    } catch (...) {  // the losses until then are worth as much
      try {
        WriteLosses(*progress);
      } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
      }
      throw;
    }
    WriteLosses(*progress);
  }

  /// Found out before hours of training, not after.
  void RequireOutputs(const SolverParameter& param) const {
    if (csv.empty() && plot.empty()) return;
    if (param.display() == 0)
      throw NetError(solver_file +
                     " displays no iteration, and --csv and --plot show those that are displayed; add "
                     "'display: 100'");
    const std::vector<std::string> inputs = InputsOf(solver_file, param, snapshot);
    for (const std::string& file : {csv, plot}) {
      if (file.empty()) continue;
      for (const std::string& input : inputs)
        if (IsRead(file, input)) throw NetError(file + " is what it reads; write the losses to another file");
      if (IsSnapshot(file, param.snapshot_prefix()))
        throw NetError(file + " is where a snapshot goes; write the losses to another file");
      RequireWritable(file);
    }
    if (!csv.empty() && !plot.empty() && AreOneFile(csv, plot))
      throw NetError("--csv " + csv + " and --plot " + plot + " are one file; name two");
  }

  void WriteLosses(Progress& progress) const {
    progress.EndLine();
    if (!csv.empty()) WriteCsv(csv, progress.rows());
    if (!plot.empty()) WritePlot(plot, progress.rows());
  }

  /// Flags win; then solver_mode: CPU, which is the host; else the default device, whatever device_id says.
  Place PlaceOf(const SolverParameter& param) const {
    const bool told = !model.device.empty() || model.gpu >= 0;
    if (!told && param.has_solver_mode() && param.solver_mode() == SolverParameter::CPU)
      return PlaceOn("host");
    return model.place();
  }

  static std::int64_t ImagesAnIteration(Solver<float>& solver) {
    const auto& tops = solver.net()->top_vecs();
    if (tops.empty() || tops[0].empty() || tops[0][0]->num_axes() == 0) return 0;
    return tops[0][0]->shape(0) * solver.param().iter_size();
  }
};

}  // namespace

void AddTrain(CLI::App& app) {
  const auto train = std::make_shared<Train>();
  CLI::App* const verb = app.add_subcommand("train", "train a net, or go on from a snapshot");
  verb->add_option("--solver", train->solver_file, "the solver, a prototxt")->required();
  verb->add_option("--snapshot", train->snapshot, "the .solverstate to go on from")
      ->check([](const std::string& file) { return file.empty() ? "no file is named" : ""; });
  verb->add_option("--weights", train->model.weights, "weights to begin with")->delimiter(',');
  verb->add_option("--level", train->model.level, "which layers are in the net, by level");
  verb->add_option("--stage", train->model.stages, "which layers are in the net, by stage")->delimiter(',');
  train->model.AddPlaceFlags(*verb);
  const CLI::IsMember effects({"stop", "snapshot", "none"});
  verb->add_option("--sigint_effect", train->sigint_effect, "what Ctrl-C does")
      ->capture_default_str()
      ->check(effects);
  verb->add_option("--sighup_effect", train->sighup_effect, "what SIGHUP does")
      ->capture_default_str()
      ->check(effects);
  verb->add_option(
      "--csv", train->csv,
      "write iteration, loss, rate and seconds to this file; with --snapshot, add to its rows from "
      "before");
  verb->add_option("--plot", train->plot, "draw the loss into this SVG file");
  verb->callback([train] { train->Run(); });
}

}  // namespace ferry::program
