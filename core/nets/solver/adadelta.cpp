// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>

#include "core/nets/solver/gradient.hpp"
#include "core/nets/solver/refuse.hpp"

namespace ferry {
namespace detail {
namespace {

template <class T>
struct AdaDeltaUpdate {
  UpdateStep<T> step;
  T delta, decay;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, T* w, T* d, T* gradients, T* updates) const {
    const T gradient = GradientOf(step, d[i], w[i]);
    const T mean = decay * gradients[i] + (T(1) - decay) * (gradient * gradient);
    const T raw = gradient * std::sqrt((delta + updates[i]) / (delta + mean));
    const T update = AtRate(step.rate, raw);
    gradients[i] = mean;
    updates[i] = decay * updates[i] + (T(1) - decay) * (raw * raw);
    d[i] = update;
    w[i] -= update;
  }
};

}  // namespace
}  // namespace detail

template <class T>
void AdaDeltaSolver<T>::CheckUpdate() const {
  SGDSolver<T>::CheckUpdate();
  detail::RequireDecay("momentum", this->param_.momentum());
  detail::RequireRoot("delta", this->param_.delta());
}

template <class T>
void AdaDeltaSolver<T>::UpdateAt(const Place& place, int param_id, const UpdateStep<T>& step) {
  const T delta = static_cast<T>(this->param_.delta());
  const T decay = static_cast<T>(this->param_.momentum());
  detail::UpdateEach(place, this->learnable(param_id), this->history(param_id), this->history(param_id, 1),
                     detail::AdaDeltaUpdate<T>{step, delta, decay});
}

FERRY_NETS_INSTANTIATE_SOLVER(AdaDelta);

}  // namespace ferry
