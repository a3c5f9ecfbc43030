// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/nets/solver_registry.hpp"

#include <map>
#include <mutex>

#include "core/nets/solver/log_line.hpp"
#include "ferry/nets/sgd_solvers.hpp"

namespace ferry {
namespace {

template <class T>
class Registry {
 public:
  using Creator = typename SolverRegistry<T>::Creator;

  static Registry& Get() {
    static Registry registry;
    return registry;
  }
  bool Add(const std::string& type, Creator creator) {
    const std::lock_guard lock(mutex_);
    return creators_.emplace(type, creator).second;
  }
  /// Null where there is none.
  Creator Find(const std::string& type) const {
    const std::lock_guard lock(mutex_);
    const auto found = creators_.find(type);
    return found == creators_.end() ? nullptr : found->second;
  }
  std::vector<std::string> Types() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> types;
    types.reserve(creators_.size());
    for (const auto& [type, creator] : creators_) types.push_back(type);
    return types;
  }

 private:
  template <template <class> class S>
  static std::unique_ptr<Solver<T>> Make(const SolverParameter& param, const Place& place) {
    return std::make_unique<S<T>>(param, place);
  }

  mutable std::mutex mutex_;
  std::map<std::string, Creator> creators_{
      {"AdaDelta", Make<AdaDeltaSolver>}, {"AdaGrad", Make<AdaGradSolver>}, {"Adam", Make<AdamSolver>},
      {"Nesterov", Make<NesterovSolver>}, {"RMSProp", Make<RMSPropSolver>}, {"SGD", Make<SGDSolver>}};
};

}  // namespace

template <class T>
void SolverRegistry<T>::AddCreator(const std::string& type, Creator creator) {
  if (!Registry<T>::Get().Add(type, creator))
    throw NetError("solver type '" + type + "' is registered already");
}

template <class T>
std::unique_ptr<Solver<T>> SolverRegistry<T>::CreateSolver(const SolverParameter& param, const Place& place) {
  const Creator creator = Registry<T>::Get().Find(param.type());
  if (creator != nullptr) return creator(param, place);
  std::string known;
  for (const std::string& type : SolverTypeList()) known += (known.empty() ? "" : ", ") + type;
  detail::FailSolver("type '" + param.type() + "' is unknown; there are " + known);
}

template <class T>
std::vector<std::string> SolverRegistry<T>::SolverTypeList() {
  return Registry<T>::Get().Types();
}

template class SolverRegistry<float>;
template class SolverRegistry<double>;

}  // namespace ferry
