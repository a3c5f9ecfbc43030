// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>

#include "core/nets/solver/gradient.hpp"
#include "core/nets/solver/refuse.hpp"

namespace ferry {
namespace detail {
namespace {

template <class T>
struct RmsPropUpdate {
  UpdateStep<T> step;
  T delta, decay;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, T* w, T* d, T* h) const {
    const T gradient = GradientOf(step, d[i], w[i]);
    const T mean = decay * h[i] + (T(1) - decay) * (gradient * gradient);
    const T update = AtRate(step.rate, gradient / (std::sqrt(mean) + delta));
    h[i] = mean;
    d[i] = update;
    w[i] -= update;
  }
};

}  // namespace
}  // namespace detail

template <class T>
RMSPropSolver<T>::RMSPropSolver(const SolverParameter& param, const Place& place)
    : SGDSolver<T>(param, place) {
  Check();
}

template <class T>
RMSPropSolver<T>::RMSPropSolver(const std::filesystem::path& param_file, const Place& place)
    : SGDSolver<T>(param_file, place) {
  Check();
}

template <class T>
void RMSPropSolver<T>::Check() const {
  detail::RefuseMomentum(this->param_, "RMSProp");
  detail::RequireDecay("rms_decay", this->param_.rms_decay());
}

template <class T>
void RMSPropSolver<T>::UpdateAt(const Place& place, int param_id, const UpdateStep<T>& step) {
  const T delta = static_cast<T>(this->param_.delta());
  const T decay = static_cast<T>(this->param_.rms_decay());
  detail::UpdateEach(place, this->learnable(param_id), this->history(param_id),
                     detail::RmsPropUpdate<T>{step, delta, decay});
}

FERRY_NETS_INSTANTIATE_SOLVER(RMSProp);

}  // namespace ferry
