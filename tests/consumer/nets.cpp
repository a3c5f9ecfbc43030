// SPDX-License-Identifier: BSD-2-Clause
// A program of ferry::nets: a layer from the registry is there although nothing names its file.
#include "ferry/nets.hpp"

int main() {
  ferry::NetParameter param;
  ferry::LayerParameter* const layer = param.add_layer();
  layer->set_name("input");
  layer->set_type("Input");
  layer->add_top("x");
  layer->mutable_input_param()->add_shape()->add_dim(2);
  ferry::Net<float> net(param, ferry::TEST);
  net.input_blobs()[0]->mutable_cpu_data()[1] = 7;
  return net.Forward()[0]->cpu_data()[1] == 7 ? 0 : 1;
}
