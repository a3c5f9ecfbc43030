// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/layers/layers.hpp"
#include "core/nets/layers/recurrent_layer.hpp"

namespace ferry::detail {
namespace {

/// c(t), h(t) = LSTMUnit(c(t-1), W_hc cont(t) h(t-1) + W_xc x(t) + b_c, cont(t)), for each step t: Long
/// Short-Term Memory.
///
/// Parameters: recurrent_param { num_output: required, weight_filler: constant 0, bias_filler: constant 0,
/// debug_info: false, expose_hidden: false }.
/// Weights: W_xc, 4 num_output x the count of x of one step and stream, in the order input, forget, output
/// gate, candidate; b_c; W_xc_static, for an input that is the same at each step, added to W_xc x; W_hc.
/// Bottoms: x, steps x streams x ...; cont, steps x streams, 0 where a sequence begins; optionally an input
/// that is the same at each step, streams x ...; with expose_hidden h and c before the first step, each 1 x
/// streams x num_output. Without, h and c after a pass are those before the next, also
/// across a snapshot of a solver.
/// Tops: h, steps x streams x num_output; with expose_hidden h and c after the last step.
/// Gradient: cont and exposed states have none.
/// Caffe: drops blobs that the layer's parameter has; here they are the weights, as of other layers. If a
/// pass has fewer streams and a later one more again, Caffe continues the missing streams from their old
/// state; here they begin anew. Weights that are shared with another layer: in phase TRAIN, Caffe's steps
/// after the first one keep those from before they were shared.
template <class T>
class LSTMLayer : public RecurrentLayer<T> {
 public:
  explicit LSTMLayer(const LayerParameter& param) : RecurrentLayer<T>(param, 2) {}

  const char* type() const override { return "LSTM"; }

 protected:
  typename RecurrentLayer<T>::Unrolled Unroll(NetParameter* net) const override {
    const std::int64_t gates = 4 * this->num_output();
    const std::string last = std::to_string(this->steps());
    this->AddStates(net, {"c_0", "h_0"});
    this->AddInputs(net, gates, "W_xc", "b_c", "W_xc_x");
    for (std::int64_t t = 1; t <= this->steps(); ++t) {
      const std::string before = std::to_string(t - 1);
      const std::string now = std::to_string(t);
      this->AddContinued(net, t);
      this->AddProduct(net, "transform_" + now, "h_conted_" + before, "W_hc_h_" + before, gates, 2, "W_hc");
      this->AddSum(net, "gate_input_" + now, "W_hc_h_" + before, "W_xc_x", t, "gate_input_" + now);
      this->Add(net, "LSTMUnit", "unit_" + now, {"c_" + before, "gate_input_" + now, "cont_" + now},
                {"c_" + now, "h_" + now});
    }
    this->Add(net, "Split", "", {"c_" + last}, {"c_T"});
    this->AddOutput(net, "h", "h");
    return {{"h_0", "c_0"}, {"h_" + last, "c_T"}, "h"};
  }
};

}  // namespace

FERRY_NETS_MAKE_LAYER(LSTM);

}  // namespace ferry::detail
