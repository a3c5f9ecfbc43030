// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/solver/gradient.hpp"

namespace ferry {
namespace detail {
namespace {

template <class T>
struct NesterovUpdate {
  UpdateStep<T> step;
  T momentum;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, T* w, T* d, T* h) const {
    const T old = h[i];
    const T next = momentum * old + AtRate(step.rate, GradientOf(step, d[i], w[i]));
    const T update = (T(1) + momentum) * next - momentum * old;
    h[i] = next;
    d[i] = update;
    w[i] -= update;
  }
};

}  // namespace
}  // namespace detail

template <class T>
void NesterovSolver<T>::UpdateAt(const Place& place, int param_id, const UpdateStep<T>& step) {
  const T momentum = static_cast<T>(this->param_.momentum());
  detail::UpdateEach(place, this->learnable(param_id), this->history(param_id),
                     detail::NesterovUpdate<T>{step, momentum});
}

FERRY_NETS_INSTANTIATE_SOLVER(Nesterov);

}  // namespace ferry
