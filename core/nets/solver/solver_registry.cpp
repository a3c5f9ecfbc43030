// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/nets/solver_registry.hpp"

#include "core/nets/creators.hpp"
#include "core/nets/solver/refuse.hpp"
#include "ferry/nets/sgd_solvers.hpp"

namespace ferry {
namespace {

template <class T, template <class> class S>
std::unique_ptr<Solver<T>> Make(const SolverParameter& param, const Place& place) {
  return std::make_unique<S<T>>(param, place);
}

template <class T>
detail::Creators<typename SolverRegistry<T>::Creator>& SolverCreators() {
  static detail::Creators<typename SolverRegistry<T>::Creator> creators(
      {{"AdaDelta", Make<T, AdaDeltaSolver>},
       {"AdaGrad", Make<T, AdaGradSolver>},
       {"Adam", Make<T, AdamSolver>},
       {"Nesterov", Make<T, NesterovSolver>},
       {"RMSProp", Make<T, RMSPropSolver>},
       {"SGD", Make<T, SGDSolver>}});
  return creators;
}

}  // namespace

template <class T>
void SolverRegistry<T>::AddCreator(const std::string& type, Creator creator) {
  if (!SolverCreators<T>().Add(type, creator))
    throw NetError("solver type '" + type + "' is registered already");
}

template <class T>
std::unique_ptr<Solver<T>> SolverRegistry<T>::CreateSolver(const SolverParameter& param, const Place& place) {
  const Creator creator = SolverCreators<T>().Find(param.type());
  if (creator != nullptr) return creator(param, place);
  detail::FailSolver("type '" + param.type() + "' is unknown; there are " + SolverCreators<T>().Listed());
}

template <class T>
std::vector<std::string> SolverRegistry<T>::SolverTypeList() {
  return SolverCreators<T>().Types();
}

template class SolverRegistry<float>;
template class SolverRegistry<double>;

}  // namespace ferry
