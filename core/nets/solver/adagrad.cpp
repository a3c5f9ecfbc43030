// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>

#include "core/nets/solver/gradient.hpp"
#include "core/nets/solver/refuse.hpp"

namespace ferry {
namespace detail {
namespace {

template <class T>
struct AdaGradUpdate {
  UpdateStep<T> step;
  T delta;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, T* w, T* d, T* h) const {
    const T gradient = GradientOf(step, d[i], w[i]);
    const T sum = h[i] + gradient * gradient;
    const T update = AtRate(step.rate, gradient / (std::sqrt(sum) + delta));
    h[i] = sum;
    d[i] = update;
    w[i] -= update;
  }
};

}  // namespace
}  // namespace detail

template <class T>
AdaGradSolver<T>::AdaGradSolver(const SolverParameter& param, const Place& place)
    : SGDSolver<T>(param, place) {
  detail::RefuseMomentum(this->param_, "AdaGrad");
}

template <class T>
AdaGradSolver<T>::AdaGradSolver(const std::filesystem::path& param_file, const Place& place)
    : SGDSolver<T>(param_file, place) {
  detail::RefuseMomentum(this->param_, "AdaGrad");
}

template <class T>
void AdaGradSolver<T>::UpdateAt(const Place& place, int param_id, const UpdateStep<T>& step) {
  const T delta = static_cast<T>(this->param_.delta());
  detail::UpdateEach(place, this->learnable(param_id), this->history(param_id),
                     detail::AdaGradUpdate<T>{step, delta});
}

FERRY_NETS_INSTANTIATE_SOLVER(AdaGrad);

}  // namespace ferry
