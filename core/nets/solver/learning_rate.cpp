// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/solver/learning_rate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "core/nets/solver/log_line.hpp"
#include "core/nets/solver/refuse.hpp"

namespace ferry::detail {
namespace {

struct Policy {
  std::string_view name;
  bool gamma;     ///< whether it has a gamma, which is not negative
  bool stepsize;  ///< whether it has a step size, which is positive
  bool power;     ///< whether it has a power
};

constexpr std::array kPolicies{Policy{"fixed", false, false, false},    Policy{"step", true, true, false},
                               Policy{"exp", true, false, false},       Policy{"inv", true, false, true},
                               Policy{"multistep", true, false, false}, Policy{"poly", false, false, true},
                               Policy{"sigmoid", true, true, false}};

}  // namespace

void RequireLearningRate(const SolverParameter& param) {
  const std::string& name = param.lr_policy();
  const auto* const policy =
      std::find_if(kPolicies.begin(), kPolicies.end(), [&](const Policy& one) { return one.name == name; });
  if (policy == kPolicies.end()) {
    std::string known;
    for (const Policy& one : kPolicies) known += (known.empty() ? "" : ", ") + std::string(one.name);
    FailSolver("lr_policy '" + name + "' is unknown; there are " + known);
  }
  const auto fail = [&](const std::string& what, const char* allowed) {
    FailSolver(what + " for lr_policy '" + name + "'; it must be " + allowed);
  };
  RequireFinite("base_lr", param.base_lr());
  if (policy->power) RequireFinite("power", param.power());
  if (policy->gamma) RequireFinite("gamma", param.gamma());
  if (policy->gamma && param.gamma() < 0) fail("gamma " + std::to_string(param.gamma()), "0 or more");
  if (policy->stepsize && param.stepsize() <= 0)
    fail("stepsize " + std::to_string(param.stepsize()), "more than 0");
  if (name == "poly" && param.max_iter() <= 0)
    fail("max_iter " + std::to_string(param.max_iter()), "more than 0");
}

// Products and powers in the precision of Caffe's, so that rates are the same.
template <class T>
T LearningRate(const SolverParameter& param, int iter, int* step) {
  RequireLearningRate(param);
  const std::string& policy = param.lr_policy();
  const float rate = param.base_lr(), gamma = param.gamma();
  if (policy == "step") *step = iter / param.stepsize();
  if (policy == "multistep" && *step < param.stepvalue_size() && iter >= param.stepvalue(*step)) {
    ++*step;
    LogInfo("MultiStep Status: Iteration ", iter, ", step = ", *step);
  }
  if (policy == "step" || policy == "multistep") return static_cast<T>(rate * std::pow(double{gamma}, *step));
  if (policy == "exp") return static_cast<T>(rate * std::pow(double{gamma}, iter));
  if (policy == "inv") {
    const float rise = gamma * static_cast<float>(iter);
    return static_cast<T>(rate) * std::pow(T(1) + static_cast<T>(rise), static_cast<T>(-param.power()));
  }
  if (policy == "poly") {
    const T rest = T(1) - static_cast<T>(iter) / static_cast<T>(param.max_iter());
    return static_cast<T>(rate) * std::pow(rest, static_cast<T>(param.power()));
  }
  if (policy == "sigmoid") {
    const T from = static_cast<T>(iter) - static_cast<T>(param.stepsize());
    return static_cast<T>(rate) * (T(1) / (T(1) + std::exp(-static_cast<T>(gamma) * from)));
  }
  return static_cast<T>(rate);
}

template float LearningRate(const SolverParameter&, int, int*);
template double LearningRate(const SolverParameter&, int, int*);

}  // namespace ferry::detail
