// SPDX-License-Identifier: BSD-2-Clause
#include <string>

#include "ferry/log.hpp"
#include "ferry/nets/error.hpp"
#include "ferry/nets/upgrade.hpp"

namespace ferry {
namespace {

const char* TypeName(SolverParameter::SolverType type) {
  switch (type) {
    case SolverParameter::SGD:
      return "SGD";
    case SolverParameter::NESTEROV:
      return "Nesterov";
    case SolverParameter::ADAGRAD:
      return "AdaGrad";
    case SolverParameter::RMSPROP:
      return "RMSProp";
    case SolverParameter::ADADELTA:
      return "AdaDelta";
    case SolverParameter::ADAM:
      return "Adam";
  }
  throw NetError("solver_type " + std::to_string(type) + " is none; there are 0 to 5");
}

}  // namespace

bool SolverNeedsTypeUpgrade(const SolverParameter& param) { return param.has_solver_type(); }

bool UpgradeSolverType(SolverParameter* param) {
  if (!param->has_solver_type()) return false;
  const char* const name = TypeName(param->solver_type());
  if (param->has_type())
    throw NetError("the solver has solver_type: " + SolverParameter::SolverType_Name(param->solver_type()) +
                   " and type: \"" + param->type() + "\"; keep type");
  param->set_type(name);
  param->clear_solver_type();
  return true;
}

bool UpgradeSolverAsNeeded(const std::string& file, SolverParameter* param) {
  if (!SolverNeedsTypeUpgrade(*param)) return true;
  try {
    UpgradeSolverType(param);
  } catch (const NetError& error) {
    throw NetError(file + ": " + error.what());
  }
  Log(LogLevel::kInfo, file + ": solver_type, of an old form, is upgraded to type");
  return true;
}

}  // namespace ferry
