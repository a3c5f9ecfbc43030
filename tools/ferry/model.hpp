// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "ferry/nets.hpp"

namespace ferry::program {

/// On that device, which becomes the default one: nets ask for that, too, and another might not be there.
Place PlaceOn(const std::string& device);

/// What the verbs that run a net are told of where, and of which of its layers.
struct Model {
  std::string file;                  ///< --model
  std::vector<std::string> weights;  ///< --weights
  std::string device;                ///< --device; empty: the default device
  int gpu = -1;                      ///< --gpu, Caffe's way to say one; -1: none
  std::string phase;                 ///< --phase
  int level = 0;                     ///< --level
  std::vector<std::string> stages;   ///< --stage

  /// The flags of where.
  void AddPlaceFlags(CLI::App& verb);
  /// Those, and the flags of a net.
  void AddNetFlags(CLI::App& verb, const std::string& default_phase);

  /// Throws NetError for two devices at once, and NoDevice.
  Place place() const;
  /// The net, with the weights.
  std::unique_ptr<Net<float>> MakeNet() const;
};

}  // namespace ferry::program
