// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ferry/nets/solver.hpp"

namespace ferry {

/// Makes solvers from what prototxt calls them. Caffe's SolverRegistry. Any thread may call.
template <class T>
class SolverRegistry {
 public:
  using Creator = std::unique_ptr<Solver<T>> (*)(const SolverParameter&, const Place&);

  /// Adds a type. Throws NetError for one that is there already.
  static void AddCreator(const std::string& type, Creator creator);
  /// A solver of the parameter's type at that place. Throws NetError for a type that nobody added, with a
  /// list of those that are there.
  static std::unique_ptr<Solver<T>> CreateSolver(const SolverParameter& param,
                                                 const Place& place = DefaultPlace());
  /// All types, sorted.
  static std::vector<std::string> SolverTypeList();
};

extern template class SolverRegistry<float>;
extern template class SolverRegistry<double>;

/// Adds a class template over the element type, for float and double, under a type's name.
template <template <class> class S>
class SolverRegistration {
 public:
  explicit SolverRegistration(const std::string& type) {
    SolverRegistry<float>::AddCreator(type, Make<float>);
    SolverRegistry<double>::AddCreator(type, Make<double>);
  }

 private:
  template <class T>
  static std::unique_ptr<Solver<T>> Make(const SolverParameter& param, const Place& place) {
    return std::make_unique<S<T>>(param, place);
  }
};

}  // namespace ferry

/// Registers the class template <type>Solver as a solver of that type, as in Caffe: one line in a source
/// file.
#define REGISTER_SOLVER_CLASS(type) \
  static const ::ferry::SolverRegistration<type##Solver> g_registration_of_solver_##type(#type)
