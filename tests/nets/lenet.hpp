// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "tests/nets/nets.hpp"

/// A small LeNet, and batches for it.
namespace ferry::nets_test {

inline std::string Convolution(const std::string& name, const std::string& bottom, int outputs) {
  return LayerText("Convolution", name, bottom, name,
                   "convolution_param { num_output: " + std::to_string(outputs) +
                       " kernel_size: 3 weight_filler { type: 'xavier' } bias_filler { type: 'uniform' } }");
}
inline std::string MaxPooling(const std::string& name, const std::string& bottom) {
  return LayerText("Pooling", name, bottom, name, "pooling_param { pool: MAX kernel_size: 2 stride: 2 }");
}

/// With a dropout, whose numbers are the same everywhere.
inline std::string LeNet() {
  return "name: 'lenet' " + Input("data", "4 1 14 14") + Input("label", "4") +
         Convolution("conv1", "data", 6) + MaxPooling("pool1", "conv1") + Convolution("conv2", "pool1", 8) +
         MaxPooling("pool2", "conv2") + Product("ip1", "pool2", 20) +
         LayerText("ReLU", "relu1", "ip1", "ip1") + LayerText("Dropout", "drop1", "ip1", "ip1") +
         Product("ip2", "ip1", 5) +
         "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'ip2' bottom: 'label' top: 'loss' }";
}

template <class T>
void FillBatch(Net<T>& net, std::uint64_t seed) {
  Fill(*net.blob_by_name("data"), seed);
  FillLabels(*net.blob_by_name("label"), 5);
}

}  // namespace ferry::nets_test
