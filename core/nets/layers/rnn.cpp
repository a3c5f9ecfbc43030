// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/layers/layers.hpp"
#include "core/nets/layers/recurrent_layer.hpp"

namespace ferry::detail {
namespace {

/// h(t) = tanh(W_hh cont(t) h(t-1) + W_xh x(t) + b_h) and o(t) = tanh(W_ho h(t) + b_o), for each step t.
///
/// Parameters: recurrent_param { num_output: required, weight_filler: constant 0, bias_filler: constant 0,
/// debug_info: false, expose_hidden: false }.
/// Weights: W_xh, num_output x the count of x of one step and stream; b_h; W_xh_static, for an input that is
/// the same at each step, added to W_xh x; W_hh; W_ho; b_o.
/// Bottoms: x, steps x streams x ...; cont, steps x streams, 0 where a sequence begins; optionally an input
/// that is the same at each step, streams x ...; with expose_hidden h before the first step, 1 x streams x
/// num_output. Without, h after a pass is h before the next, also
/// across a snapshot of a solver.
/// Tops: o, steps x streams x num_output; with expose_hidden h after the last step.
/// Gradient: cont and exposed states have none.
/// Caffe: drops blobs that the layer's parameter has; here they are the weights, as of other layers. If a
/// pass has fewer streams and a later one more again, Caffe continues the missing streams from their old
/// state; here they begin anew. Weights that are shared with another layer: in phase TRAIN, Caffe's steps
/// after the first one keep those from before they were shared. Its BLAS decides what cont of 0 makes of an h
/// of not-a-number; here it stays that, and outlives its sequence.
template <class T>
class RNNLayer : public RecurrentLayer<T> {
 public:
  explicit RNNLayer(const LayerParameter& param) : RecurrentLayer<T>(param, 1) {}

  const char* type() const override { return "RNN"; }

 protected:
  typename RecurrentLayer<T>::Unrolled Unroll(NetParameter* net) const override {
    const std::int64_t outputs = this->num_output();
    this->AddStates(net, {"h_0"});
    this->AddInputs(net, outputs, "W_xh", "b_h", "W_xh_x");
    for (std::int64_t t = 1; t <= this->steps(); ++t) {
      const std::string before = std::to_string(t - 1);
      const std::string now = std::to_string(t);
      this->AddContinued(net, t);
      this->AddProduct(net, "W_hh_h_" + before, "h_conted_" + before, "W_hh_h_" + before, outputs, 2, "W_hh");
      this->AddSum(net, "h_input_sum_" + now, "W_hh_h_" + before, "W_xh_x", t, "h_neuron_input_" + now);
      this->Add(net, "TanH", "h_neuron_" + now, {"h_neuron_input_" + now}, {"h_" + now});
      this->AddProduct(net, "W_ho_h_" + now, "h_" + now, "W_ho_h_" + now, outputs, 2, "W_ho", "b_o");
      this->Add(net, "TanH", "o_neuron_" + now, {"W_ho_h_" + now}, {"o_" + now});
    }
    this->AddOutput(net, "o", "o");
    return {{"h_0"}, {"h_" + std::to_string(this->steps())}, "o"};
  }
};

}  // namespace

FERRY_NETS_MAKE_LAYER(RNN);

}  // namespace ferry::detail
