// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>
#include <cstddef>
#include <string>

#include "core/nets/solver/gradient.hpp"
#include "core/nets/solver/learning_rate.hpp"
#include "core/nets/solver/log_line.hpp"
#include "core/nets/solver/refuse.hpp"

namespace ferry {
namespace detail {
namespace {

template <class T>
struct SgdUpdate {
  UpdateStep<T> step;
  T momentum;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, T* w, T* d, T* h) const {
    const T update = momentum * h[i] + AtRate(step.rate, GradientOf(step, d[i], w[i]));
    h[i] = update;
    d[i] = update;
    w[i] -= update;
  }
};

}  // namespace
}  // namespace detail

template <class T>
SGDSolver<T>::SGDSolver(const SolverParameter& param, const Place& place, int histories)
    : Solver<T>(param, place) {
  PreSolve(place, histories);
}

template <class T>
SGDSolver<T>::SGDSolver(const std::filesystem::path& param_file, const Place& place, int histories)
    : Solver<T>(param_file, place) {
  PreSolve(place, histories);
}

template <class T>
void SGDSolver<T>::PreSolve(const Place& place, int histories) {
  for (int i = 0; i < histories; ++i)
    for (const Blob<T>* param : this->net_->learnable_params()) {
      this->history_.push_back(std::make_shared<Blob<T>>(param->shape(), place.device()));
      this->history_.back()->set_name(param->name() + ".history." + std::to_string(i));
    }
}

template <class T>
Blob<T>& SGDSolver<T>::learnable(int param_id) const {
  return *this->net_->learnable_params()[static_cast<std::size_t>(param_id)];
}

template <class T>
Blob<T>& SGDSolver<T>::history(int param_id, int which) const {
  return *this->history_[static_cast<std::size_t>(which) * this->net_->learnable_params().size() +
                         static_cast<std::size_t>(param_id)];
}

template <class T>
T SGDSolver<T>::GetLearningRate() {
  return detail::LearningRate<T>(this->param_, this->iter_, &this->current_step_);
}

template <class T>
void SGDSolver<T>::CheckUpdate() const {
  detail::RequireLearningRate(this->param_);
  detail::RequireFinite("momentum", this->param_.momentum());
  detail::RequireFinite("weight_decay", this->param_.weight_decay());
  detail::RequireFinite("delta", this->param_.delta());
  if (std::isnan(this->param_.clip_gradients()))
    detail::FailSolver("clip_gradients nan; it must be a number");
  const std::string& type = this->param_.regularization_type();
  if (type == "L1" || type == "L2" || this->param_.weight_decay() == 0) return;
  for (const float decay : this->net_->params_weight_decay())
    if (decay != 0) detail::FailSolver("regularization_type '" + type + "' is unknown; there are L1, L2");
}

template <class T>
T SGDSolver<T>::ClipScale(const Place& place) const {
  const T most = static_cast<T>(this->param_.clip_gradients());
  if (most < 0) return 1;
  double sum = 0;
  for (Blob<T>* param : this->net_->learnable_params()) sum += Sumsq(place, Diff(*param));
  const T norm = static_cast<T>(std::sqrt(sum));
  if (!(norm > most)) return 1;
  const T scale = most / norm;
  detail::LogInfo("Gradient clipping: scaling down gradients (L2 norm ", norm, " > ", most,
                  ") by scale factor ", scale);
  return scale;
}

template <class T>
void SGDSolver<T>::ApplyUpdate() {
  CheckUpdate();
  this->rate_ = GetLearningRate();
  if (this->Displays()) detail::LogInfo("Iteration ", this->iter_, ", lr = ", this->rate_);
  const Place place = this->net_->place();
  const T scale = ClipScale(place) * (T(1) / static_cast<T>(this->param_.iter_size()));
  const bool l1 = this->param_.regularization_type() == "L1";
  const auto& rates = this->net_->params_lr();
  const auto& decays = this->net_->params_weight_decay();
  for (std::size_t i = 0; i < this->net_->learnable_params().size(); ++i) {
    const T decay = static_cast<T>(this->param_.weight_decay()) * static_cast<T>(decays[i]);
    UpdateAt(place, static_cast<int>(i),
             {this->rate_ * static_cast<T>(rates[i]), scale, l1 ? 0 : decay, l1 ? decay : 0});
  }
  ++this->iter_;
}

template <class T>
void SGDSolver<T>::UpdateAt(const Place& place, int param_id, const UpdateStep<T>& step) {
  const T momentum = static_cast<T>(this->param_.momentum());
  detail::UpdateEach(place, learnable(param_id), history(param_id), detail::SgdUpdate<T>{step, momentum});
}

FERRY_NETS_INSTANTIATE_SOLVER(SGD);

}  // namespace ferry
