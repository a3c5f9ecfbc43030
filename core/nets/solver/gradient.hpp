// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "ferry/kokkos.hpp"
#include "ferry/nets/sgd_solvers.hpp"

namespace ferry::detail {

/// The gradient that an update is made of. Without weight decay, an infinite weight has no part in it.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T GradientOf(const UpdateStep<T>& step, T diff, T weight) {
  const T sign = (weight > 0 ? T(1) : T(0)) - (weight < 0 ? T(1) : T(0));
  const T decay = step.l2 != 0 ? step.l2 * weight : T(0);
  return step.scale * diff + decay + step.l1 * sign;
}

/// rate * change, and 0 for a rate of 0, even where `change` is infinite or not-a-number, as in Caffe.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T AtRate(T rate, T change) {
  return rate != 0 ? rate * change : T(0);
}

/// Calls body(i, weights, diff, history) for each element of a parameter, where the update is to be. On the
/// GPU it is queued.
template <class T, class Body>
void UpdateEach(const Place& place, Blob<T>& param, Blob<T>& history, const Body& body) {
  ParallelFor(place, param.count(), ReadWrite(param), ReadWrite(Diff(param)), ReadWrite(history), body);
}
/// The same with two blobs of history.
template <class T, class Body>
void UpdateEach(const Place& place, Blob<T>& param, Blob<T>& first, Blob<T>& second, const Body& body) {
  ParallelFor(place, param.count(), ReadWrite(param), ReadWrite(Diff(param)), ReadWrite(first),
              ReadWrite(second), body);
}

}  // namespace ferry::detail

/// At the end of a solver's file.
#define FERRY_NETS_INSTANTIATE_SOLVER(name) \
  template class name##Solver<float>;       \
  template class name##Solver<double>
