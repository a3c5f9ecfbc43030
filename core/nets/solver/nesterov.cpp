// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/solver/gradient.hpp"

namespace ferry {

template <class T>
void NesterovSolver<T>::UpdateAt(const Place& place, int param_id, const UpdateStep<T>& step) {
  const T momentum = static_cast<T>(this->param_.momentum());
  detail::UpdateEach(
      place, this->learnable(param_id), this->history(param_id),
      KOKKOS_LAMBDA(std::int64_t i, T * w, T * d, T * h) {
        const T old = h[i];
        const T next = momentum * old + step.rate * detail::GradientOf(step, d[i], w[i]);
        const T update = (T(1) + momentum) * next - momentum * old;
        h[i] = next;
        d[i] = update;
        w[i] -= update;
      });
}

FERRY_NETS_INSTANTIATE_SOLVER(Nesterov);

}  // namespace ferry
