// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ferry/nets/net.hpp"
#include "ferry/nets/solver_action.hpp"
#include "ferry/solver.pb.h"

namespace ferry {

/// What a solver tells of an iteration that it displays.
struct SolverProgress {
  int iteration;   ///< how many updates came before
  double loss;     ///< the mean of the last average_loss iterations
  double rate;     ///< the learning rate of the update
  double seconds;  ///< since the iteration displayed before, or since Step began
};

/// Trains a net: Caffe's Solver, by its names. A class derived from it says what an update is. Net, history
/// and updates are where `place` is. Not for several threads at once.
///
/// What Caffe logs is logged at LogLevel::kInfo. Throws NetError for parameters that cannot be, with what is
/// allowed, and what Net throws.
///
/// Random numbers and the order of data depend on the seed and the number of the pass alone, and a snapshot
/// has the state of layers. So a run that is restored from a snapshot goes on to the same bits. One
/// exception: a snapshot that was asked for within a test has recurrent test nets as they were then, and the
/// restored run makes the whole test again.
template <class T>
class Solver {
 public:
  /// Is called at two points of each iteration.
  class Callback {
   public:
    virtual ~Callback() = default;

   protected:
    virtual void on_start() = 0;            ///< before the passes
    virtual void on_gradients_ready() = 0;  ///< before the update
    template <class U>
    friend class Solver;
  };

  /// Makes the train net and the test nets.
  explicit Solver(SolverParameter param, const Place& place = DefaultPlace());
  /// Of a prototxt file.
  explicit Solver(const std::filesystem::path& param_file, const Place& place = DefaultPlace());
  virtual ~Solver() = default;
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  /// Trains up to iteration max_iter, from the snapshot if one is given, and writes a snapshot unless
  /// snapshot_after_train is false. Throws, before it trains, where it could not write that.
  void Solve(const char* resume_file = nullptr, const Site& site = Site::Caller());
  /// @overload
  void Solve(const std::filesystem::path& resume_file, const Site& site = Site::Caller()) {
    Solve(resume_file.c_str(), site);
  }
  /// So many iterations, or fewer where STOP is asked for. Throws NetError where the last one would be beyond
  /// int.
  void Step(int iters);
  /// Goes on from a .solverstate, or .solverstate.h5, and the weights that it names. Throws NetError where
  /// history or weights do not fit this net, or for another type of solver, and what an access of a blob
  /// throws; a call that throws has changed nothing. Recurrent layers of other streams, or of other test
  /// nets, begin with zeros. Weights are taken by the names of layers. A layer that the file lacks keeps its
  /// own. All blobs are locked before the first is written, as by Net::CopyTrainedLayersFrom.
  void Restore(const std::filesystem::path& state_file, const Site& site = Site::Caller());
  /// Writes <prefix>_iter_<n>.caffemodel and .solverstate, with .h5 for HDF5. Both files are written whole
  /// before the weights, and then the state, take their places. Where this throws, older files of the same
  /// names stay as they were, with one exception: where the state can't take its place, or the process ends
  /// before it does, the older state stays beside the new weights.
  void Snapshot();
  /// Makes an update of the gradients in the net, and counts iter() up.
  virtual void ApplyUpdate() = 0;

  const SolverParameter& param() const { return param_; }
  std::shared_ptr<Net<T>> net() { return net_; }
  const std::vector<std::shared_ptr<Net<T>>>& test_nets() const { return test_nets_; }
  /// How many updates the weights have had.
  int iter() const { return iter_; }
  /// As prototxt has it.
  virtual const char* type() const { return ""; }

  const std::vector<Callback*>& callbacks() const { return callbacks_; }
  /// The callback must outlive the solver.
  void add_callback(Callback* value) { callbacks_.push_back(value); }
  void SetActionFunction(ActionCallback function) { action_function_ = std::move(function); }
  SolverAction::Enum GetRequestedAction() {
    return action_function_ ? action_function_() : SolverAction::NONE;
  }
  /// Is called after each iteration that `display` asks for.
  void SetProgressFunction(std::function<void(const SolverProgress&)> function) {
    progress_function_ = std::move(function);
  }
  /// Throws NetError where `snapshot` is set and no file can be made beside snapshot_prefix.
  void CheckSnapshotWritePermissions();

 protected:
  /// Throws NetError where there could be no update, before the first iteration of a Step.
  virtual void CheckUpdate() const {}
  std::string SnapshotFilename(const std::string& extension) const;
  void TestAll();
  void Test(int test_net_id = 0);
  void UpdateSmoothedLoss(T loss, int start_iter, int average_loss);
  /// Whether `display` asks for this iteration.
  bool Displays() const { return param_.display() != 0 && iter_ % param_.display() == 0; }

  SolverParameter param_;
  int iter_ = 0;
  int current_step_ = 0;  ///< of a rate that falls by steps
  T rate_ = 0;            ///< of the last update
  std::shared_ptr<Net<T>> net_;
  std::vector<std::shared_ptr<Net<T>>> test_nets_;
  std::vector<std::shared_ptr<Blob<T>>> history_;  ///< what updates leave for the next; part of a snapshot

 private:
  void Init(const Place& place);
  void InitTrainNet(const Place& place);
  void InitTestNets(const Place& place);
  void LoadWeights(Net<T>& net) const;
  void RequireWritable() const;
  void PrefetchState();
  void SnapshotOnRequest();          ///< or the log says why not
  void SetPass(std::uint64_t pass);  ///< which of this iteration is next
  T Passes();
  double Display();
  bool MayGoOn();
  bool TestsNow() const { return param_.test_interval() != 0 && iter_ % param_.test_interval() == 0; }
  void SetSeed(std::uint64_t seed);
  /// Test nets have numbers of their own, not the train net's again.
  std::uint64_t TestSeed(std::size_t id) const { return seed_ + 1 + id; }

  std::uint64_t seed_ = 0;
  std::vector<Callback*> callbacks_;
  ActionCallback action_function_;
  std::function<void(const SolverProgress&)> progress_function_;
  bool requested_early_exit_ = false;
  std::vector<T> losses_;
  T smoothed_loss_ = 0;
  std::chrono::steady_clock::time_point displayed_at_;
  int displayed_iter_ = 0;
};

extern template class Solver<float>;
extern template class Solver<double>;

}  // namespace ferry
