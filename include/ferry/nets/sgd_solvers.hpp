// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "ferry/nets/solver.hpp"

namespace ferry {

/// One update of one parameter: what a kernel needs to know. The gradient is
/// scale * diff + l2 * weight + l1 * sign(weight), where the diff is the sum of the passes' gradients.
template <class T>
struct UpdateStep {
  T rate;   ///< learning rate times lr_mult
  T scale;  ///< of clip_gradients and iter_size
  T l2;     ///< weight_decay times decay_mult, if that is L2's; else 0
  T l1;     ///< the same of L1
};

/// Stochastic gradient descent with momentum: history = momentum * history + rate * gradient, and this is
/// subtracted. Caffe's SGDSolver, and the base of those whose updates are other functions of the gradient.
template <class T>
class SGDSolver : public Solver<T> {
 public:
  explicit SGDSolver(const SolverParameter& param, const Place& place = DefaultPlace())
      : SGDSolver(param, place, 1) {}
  explicit SGDSolver(const std::filesystem::path& param_file, const Place& place = DefaultPlace())
      : SGDSolver(param_file, place, 1) {}
  const char* type() const override { return "SGD"; }

  /// A blob for each learnable parameter; of AdaDelta and Adam then another one for each.
  const std::vector<std::shared_ptr<Blob<T>>>& history() { return this->history_; }
  /// Clips the gradients, and updates each parameter.
  void ApplyUpdate() override;
  /// That of this iteration, by lr_policy. Of "multistep", each call may take a step.
  T GetLearningRate();

 protected:
  /// With that many history blobs for each parameter.
  SGDSolver(const SolverParameter& param, const Place& place, int histories);
  SGDSolver(const std::filesystem::path& param_file, const Place& place, int histories);

  void CheckUpdate() const override;
  /// Leaves in the parameter's diff what is subtracted, and subtracts it: one kernel.
  virtual void UpdateAt(const Place& place, int param_id, const UpdateStep<T>& step);

  Blob<T>& learnable(int param_id) const;
  /// Number `which` of the parameter's history blobs.
  Blob<T>& history(int param_id, int which = 0) const;

 private:
  void PreSolve(const Place& place, int histories);
  /// What clipping scales the gradients by.
  T ClipScale(const Place& place) const;
};

/// Nesterov's accelerated gradient: as SGD, and subtracts (1 + momentum) * history - momentum * old history.
template <class T>
class NesterovSolver : public SGDSolver<T> {
 public:
  using SGDSolver<T>::SGDSolver;
  const char* type() const override { return "Nesterov"; }

 protected:
  void UpdateAt(const Place& place, int param_id, const UpdateStep<T>& step) override;
};

/// history += gradient^2, and rate * gradient / (sqrt(history) + delta) is subtracted. Refuses a momentum.
template <class T>
class AdaGradSolver : public SGDSolver<T> {
 public:
  explicit AdaGradSolver(const SolverParameter& param, const Place& place = DefaultPlace());
  explicit AdaGradSolver(const std::filesystem::path& param_file, const Place& place = DefaultPlace());
  const char* type() const override { return "AdaGrad"; }

 protected:
  void UpdateAt(const Place& place, int param_id, const UpdateStep<T>& step) override;
};

/// history = rms_decay * history + (1 - rms_decay) * gradient^2, and rate * gradient / (sqrt(history) +
/// delta) is subtracted. Refuses a momentum, and an rms_decay that is not in [0, 1).
template <class T>
class RMSPropSolver : public SGDSolver<T> {
 public:
  explicit RMSPropSolver(const SolverParameter& param, const Place& place = DefaultPlace());
  explicit RMSPropSolver(const std::filesystem::path& param_file, const Place& place = DefaultPlace());
  const char* type() const override { return "RMSProp"; }

 protected:
  void UpdateAt(const Place& place, int param_id, const UpdateStep<T>& step) override;

 private:
  void Check() const;
};

/// Means of gradient^2 and update^2 with momentum as their decay; update = gradient * sqrt((mean update^2 +
/// delta) / (mean gradient^2 + delta)), and rate * update is subtracted. Refuses a decay that is not in [0,
/// 1).
template <class T>
class AdaDeltaSolver : public SGDSolver<T> {
 public:
  explicit AdaDeltaSolver(const SolverParameter& param, const Place& place = DefaultPlace())
      : SGDSolver<T>(param, place, 2) {}
  explicit AdaDeltaSolver(const std::filesystem::path& param_file, const Place& place = DefaultPlace())
      : SGDSolver<T>(param_file, place, 2) {}
  const char* type() const override { return "AdaDelta"; }

 protected:
  void CheckUpdate() const override;
  void UpdateAt(const Place& place, int param_id, const UpdateStep<T>& step) override;
};

/// Means m of the gradient and v of its square, with momentum and momentum2 as their decays; subtracts rate *
/// sqrt(1 - momentum2^t) / (1 - momentum^t) * m / (sqrt(v) + delta) in update t, counted from 1. Refuses
/// decays that are not in [0, 1).
template <class T>
class AdamSolver : public SGDSolver<T> {
 public:
  explicit AdamSolver(const SolverParameter& param, const Place& place = DefaultPlace())
      : SGDSolver<T>(param, place, 2) {}
  explicit AdamSolver(const std::filesystem::path& param_file, const Place& place = DefaultPlace())
      : SGDSolver<T>(param_file, place, 2) {}
  const char* type() const override { return "Adam"; }

 protected:
  void CheckUpdate() const override;
  void UpdateAt(const Place& place, int param_id, const UpdateStep<T>& step) override;
};

extern template class SGDSolver<float>;
extern template class SGDSolver<double>;
extern template class NesterovSolver<float>;
extern template class NesterovSolver<double>;
extern template class AdaGradSolver<float>;
extern template class AdaGradSolver<double>;
extern template class RMSPropSolver<float>;
extern template class RMSPropSolver<double>;
extern template class AdaDeltaSolver<float>;
extern template class AdaDeltaSolver<double>;
extern template class AdamSolver<float>;
extern template class AdamSolver<double>;

}  // namespace ferry
