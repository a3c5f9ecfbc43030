// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>

#include "core/nets/solver/gradient.hpp"
#include "core/nets/solver/refuse.hpp"

namespace ferry {
namespace detail {
namespace {

template <class T>
struct AdamUpdate {
  UpdateStep<T> step;
  T rate, delta, decay1, decay2;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, T* w, T* d, T* m, T* v) const {
    const T gradient = GradientOf(step, d[i], w[i]);
    const T first = decay1 * m[i] + (T(1) - decay1) * gradient;
    const T second = decay2 * v[i] + (T(1) - decay2) * (gradient * gradient);
    const T update = AtRate(rate, first / (std::sqrt(second) + delta));
    m[i] = first;
    v[i] = second;
    d[i] = update;
    w[i] -= update;
  }
};

}  // namespace
}  // namespace detail

template <class T>
void AdamSolver<T>::CheckUpdate() const {
  SGDSolver<T>::CheckUpdate();
  detail::RequireDecay("momentum", this->param_.momentum());
  detail::RequireDecay("momentum2", this->param_.momentum2());
}

template <class T>
void AdamSolver<T>::UpdateAt(const Place& place, int param_id, const UpdateStep<T>& step) {
  const T delta = static_cast<T>(this->param_.delta());
  const T decay1 = static_cast<T>(this->param_.momentum());
  const T decay2 = static_cast<T>(this->param_.momentum2());
  const int t = this->iter_ + 1;
  // In double: in float, 1 - momentum2^t is wrong by a part in a thousand at first.
  const double correction = std::sqrt(1 - std::pow(double{decay2}, t)) / (1 - std::pow(double{decay1}, t));
  const T rate = step.rate * static_cast<T>(correction);
  detail::UpdateEach(place, this->learnable(param_id), this->history(param_id), this->history(param_id, 1),
                     detail::AdamUpdate<T>{step, rate, delta, decay1, decay2});
}

FERRY_NETS_INSTANTIATE_SOLVER(Adam);

}  // namespace ferry
