// SPDX-License-Identifier: BSD-2-Clause
#include "model.hpp"

#include <cstdlib>

#include "ferry/transfer_guard.hpp"

namespace ferry::program {
namespace {

/// Caffe's "all" and "0,1" are none.
std::string WhyNoNumber(const std::string& text) {
  if (!text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos)
    return "";
  return "'" + text + "'; it is the number of one GPU, 0 or more";
}

}  // namespace

Place PlaceOn(const std::string& device) {
  Device& found = GetDevice(device);
  // Layers begin at the default device. NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread runs yet
  setenv("FERRY_DEVICE", device.c_str(), 1);
  return Place(found);
}

void Model::AddPlaceFlags(CLI::App& verb) {
  verb.add_option("--device", device, "where it runs, such as host, sim or cuda:1");
  verb.add_option("--gpu", gpu, "the same by a number: this GPU of the build's backend")->check(WhyNoNumber);
}

void Model::AddNetFlags(CLI::App& verb, const std::string& default_phase) {
  phase = default_phase;
  verb.add_option("--model", file, "the net, a prototxt")->required();
  verb.add_option("--weights", weights, "its weights, a .caffemodel or .caffemodel.h5; later ones win")
      ->delimiter(',');
  verb.add_option("--phase", phase, "TRAIN or TEST")
      ->capture_default_str()
      ->check(CLI::IsMember({"TRAIN", "TEST"}));
  verb.add_option("--level", level, "which layers are in the net, by level");
  verb.add_option("--stage", stages, "which layers are in the net, by stage")->delimiter(',');
  AddPlaceFlags(verb);
}

Place Model::place() const {
  if (gpu < 0) return device.empty() ? DefaultPlace() : PlaceOn(device);
  if (!device.empty())
    throw NetError("--device " + device + " and --gpu " + std::to_string(gpu) + ": say one");
  for (const Backend& backend : Backends())
    if (backend.name != std::string("host") && backend.name != std::string("sim"))
      return PlaceOn(backend.name + (':' + std::to_string(gpu)));
  throw NoDevice("--gpu " + std::to_string(gpu) + ": this build is for no GPU; --device sim simulates one");
}

std::unique_ptr<Net<float>> Model::MakeNet() const {
  auto net = std::make_unique<Net<float>>(file, phase == "TRAIN" ? TRAIN : TEST, level, &stages, place());
  for (const std::string& one : weights) net->CopyTrainedLayersFrom(one);
  const TransferGuard meant(TransferPolicy::kAllow);
  net->PrefetchParams();
  return net;
}

}  // namespace ferry::program
