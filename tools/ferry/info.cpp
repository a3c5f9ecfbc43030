// SPDX-License-Identifier: BSD-2-Clause
// ferry info: the devices of this machine, or what is in a net.
#include <cstdio>
#include <iostream>

#include "model.hpp"
#include "verbs.hpp"

namespace ferry::program {
namespace {

struct Info {
  Model model;

  void Run() const { model.file.empty() ? PrintBuild() : PrintNet(); }

  static void PrintBuild() {
    for (const Backend& backend : Backends()) {
      const int count = backend.count();
      std::cout << backend.name << ": ";
      if (count == 0 && backend.missing != nullptr)
        std::cout << backend.missing() << '\n';
      else
        std::cout << count << (count == 1 ? " device\n" : " devices\n");
    }
    std::cout << "layers:";
    for (const std::string& type : LayerRegistry<float>::LayerTypeList()) std::cout << ' ' << type;
    std::cout << "\nsolvers:";
    for (const std::string& type : SolverRegistry<float>::SolverTypeList()) std::cout << ' ' << type;
    std::cout << '\n';
  }

  void PrintNet() const {
    const auto net = model.MakeNet();
    std::printf("%-28s %-20s %14s  %s\n", "layer", "type", "parameters", "tops");
    for (std::size_t i = 0; i < net->layers().size(); ++i) {
      std::int64_t own = 0;
      for (const auto& blob : net->layers()[i]->blobs()) own += blob->count();
      std::string tops;
      for (std::size_t k = 0; k < net->top_vecs()[i].size(); ++k) {
        const auto blob = static_cast<std::size_t>(net->top_ids(static_cast<int>(i))[k]);
        tops += (k == 0 ? "" : ", ") + net->blob_names()[blob] + ' ' + net->top_vecs()[i][k]->shape_string();
      }
      std::printf("%-28s %-20s %14lld  %s\n", net->layer_names()[i].c_str(), net->layers()[i]->type(),
                  static_cast<long long>(own), tops.c_str());
    }
    std::int64_t parameters = 0;  // those that layers share count once
    for (const Blob<float>* const blob : net->learnable_params()) parameters += blob->count();
    std::printf("%zu layers, %lld parameters, %.1f MB of weights\n", net->layers().size(),
                static_cast<long long>(parameters), static_cast<double>(parameters) * sizeof(float) / 1e6);
    const ActivationBytes activations = net->activation_bytes();
    std::printf("%.1f MB of activations", static_cast<double>(activations.kept) / 1e6);
    if (activations.planned < activations.kept)  // else the net may be one that cannot share them
      std::printf(", %.1f MB with share_activations", static_cast<double>(activations.planned) / 1e6);
    std::printf("\n");
  }
};

}  // namespace

void AddInfo(CLI::App& app) {
  const auto info = std::make_shared<Info>();
  CLI::App* const verb = app.add_subcommand("info", "show the devices and layers of this build, or a net's");
  info->model.AddNetFlags(*verb, "TEST");
  CLI::Option* const net = verb->get_option("--model")->required(false);
  for (const char* const name : {"--weights", "--device", "--gpu", "--phase", "--level", "--stage"})
    verb->get_option(name)->needs(net);
  verb->callback([info] { info->Run(); });
}

}  // namespace ferry::program
