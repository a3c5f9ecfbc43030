// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/layers/recurrent_layer.hpp"

#include <utility>

#include "core/nets/philox.hpp"
#include "ferry/diff.hpp"
#include "ferry/kernels.hpp"

namespace ferry::detail {
namespace {

std::string Step(const std::string& name, std::int64_t t) { return name + "_" + std::to_string(t); }

template <class T>
void AddShape(const Blob<T>& blob, InputParameter* param) {
  BlobShape* const shape = param->add_shape();
  for (const std::int64_t dim : blob.shape()) shape->add_dim(dim);
}

constexpr const char* kInputs[] = {"x", "cont", "x_static"};

}  // namespace

template <class T>
RecurrentLayer<T>::RecurrentLayer(const LayerParameter& param, int states)
    : Layer<T>(param), states_(states) {}
template <class T>
RecurrentLayer<T>::~RecurrentLayer() = default;

template <class T>
void RecurrentLayer<T>::RequireShapes(const Blobs& bottom) const {
  const Blob<T>& x = *bottom[0];
  if (x.num_axes() < 2)
    this->Fail("bottom 0 has shape " + x.shape_string() + "; it must be steps x streams x ...");
  if (bottom[1]->shape() != Shape{x.shape(0), x.shape(1)})
    this->Fail("bottom 1 has shape " + bottom[1]->shape_string() + "; for a bottom 0 of " + x.shape_string() +
               " it must be steps x streams, " + std::to_string(x.shape(0)) + " x " +
               std::to_string(x.shape(1)));
  if (has_static_input_ && (bottom[2]->num_axes() < 1 || bottom[2]->shape(0) != x.shape(1)))
    this->Fail("bottom 2 has shape " + bottom[2]->shape_string() + "; its first dim must be that of " +
               std::to_string(x.shape(1)) + " streams");
  if (net_ != nullptr && x.shape(0) != steps_)
    this->Fail("bottom 0 has " + std::to_string(x.shape(0)) + " steps; the layer was set up for " +
               std::to_string(steps_) + ", which cannot change");
}

template <class T>
void RecurrentLayer<T>::LayerSetUp(const Blobs& bottom, const Blobs& /*top*/) {
  net_.reset();
  has_static_input_ = static_cast<int>(bottom.size()) > 2 + Exposed();
  RequireShapes(bottom);
  if (num_output() == 0) this->Fail("recurrent_param { num_output: 0 }; it must be 1 or more");
  steps_ = bottom[0]->shape(0);
  streams_ = bottom[0]->shape(1);
  if (steps_ == 0) this->Fail("bottom 0 has no steps; it must have 1 or more");

  NetParameter param;
  LayerParameter* const input = Add(&param, "Input", "", {}, {});
  for (std::size_t i = 0; i < (has_static_input_ ? 3 : 2); ++i) {
    input->add_top(kInputs[i]);
    AddShape(*bottom[i], input->mutable_input_param());
  }
  const Unrolled unrolled = Unroll(&param);
  const std::string& name = this->layer_param().name();
  if (!name.empty())
    for (LayerParameter& layer : *param.mutable_layer()) layer.set_name(name + "_" + layer.name());
  last_layer_ = param.layer_size();
  // Makes the output a loss, so that the net inside computes gradients. It never runs. By a name whose type
  // does not depend on T: nvcc drops the braces around one whose type does.
  const std::string& output = unrolled.output;
  Add(&param, "Reduction", output + "_pseudoloss", {output}, {output + "_pseudoloss"})->add_loss_weight(1);
  MakeNet(param, unrolled);
  TakeParameters();
}

template <class T>
void RecurrentLayer<T>::MakeNet(const NetParameter& param, const Unrolled& unrolled) {
  net_ = std::make_unique<Net<T>>(param, this->place(), RandomSeed{Philox(this->random_key()).Bits(0)});
  net_->set_debug_info(this->layer_param().recurrent_param().debug_info());
  last_layer_ = static_cast<int>(net_->layers().size()) - 2;  // more than in `param`, with Split layers
  inputs_.clear();
  for (std::size_t i = 0; i < (has_static_input_ ? 3 : 2); ++i) inputs_.push_back(Find(kInputs[i]));
  first_state_.clear();
  last_state_.clear();
  for (const std::string& name : unrolled.first_state) first_state_.push_back(Find(name));
  for (const std::string& name : unrolled.last_state) last_state_.push_back(Find(name));
  output_ = Find(unrolled.output);
  // No gradient comes from the next batch.
  for (const auto& state : last_state_) Set(this->place(), T(0), Diff(*state));
}

template <class T>
std::shared_ptr<Blob<T>> RecurrentLayer<T>::Find(const std::string& name) const {
  return net_->blob_by_name(name);
}

template <class T>
void RecurrentLayer<T>::TakeParameters() {
  const auto given = std::exchange(this->blobs_, {});
  for (std::size_t i = 0; i < net_->params().size(); ++i)
    if (net_->param_owners()[i] < 0) this->blobs_.push_back(net_->params()[i]);
  for (int i = 0; i < static_cast<int>(this->blobs_.size()); ++i) this->set_param_propagate_down(i, true);
  if (given.empty()) return;
  if (given.size() != this->blobs_.size())
    this->Fail(std::to_string(given.size()) + " blobs; it has " + std::to_string(this->blobs_.size()) +
               " parameters");
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i]->count() != this->blobs_[i]->count())
      this->Fail("blob " + std::to_string(i) + " has shape " + given[i]->shape_string() +
                 "; the parameter has " + this->blobs_[i]->shape_string());
    Copy(this->place(), *given[i], *this->blobs_[i]);
  }
}

template <class T>
void RecurrentLayer<T>::ShareParameters() {
  const auto& params = net_->params();
  for (std::size_t i = 0; i < params.size(); ++i) {
    const int owner = net_->param_owners()[i];
    if (owner < 0) continue;
    const Blob<T>& of = *params[static_cast<std::size_t>(owner)];
    if (params[i]->data() != of.data()) params[i]->ShareData(of);
    if (params[i]->diff() != of.diff()) params[i]->ShareDiff(of);
  }
}

template <class T>
void RecurrentLayer<T>::Reshape(const Blobs& bottom, const Blobs& top) {
  RequireShapes(bottom);
  bool changed = false;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    changed = changed || inputs_[i]->shape() != bottom[i]->shape();
    inputs_[i]->ReshapeLike(*bottom[i]);
  }
  streams_ = bottom[0]->shape(1);
  for (const auto& state : first_state_) state->Reshape({1, streams_, num_output()});
  if (changed) net_->Reshape();
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    inputs_[i]->ShareData(*bottom[i]);
    if (i != 1) inputs_[i]->ShareDiff(*bottom[i]);
  }
  top[0]->ReshapeLike(*output_);
  top[0]->ShareData(*output_);
  top[0]->ShareDiff(*output_);
  if (Exposed() == 0) return;
  for (std::size_t i = 0; i < first_state_.size(); ++i) {
    const Blob<T>& given = *bottom[inputs_.size() + i];
    if (given.shape() != first_state_[i]->shape())
      this->Fail("bottom " + std::to_string(inputs_.size() + i) + " has shape " + given.shape_string() +
                 "; the state has " + first_state_[i]->shape_string());
    first_state_[i]->ShareData(given);
    top[1 + i]->ReshapeLike(*last_state_[i]);
  }
}

template <class T>
void RecurrentLayer<T>::set_place(const Place& place) {
  Layer<T>::set_place(place);
  if (net_ != nullptr) net_->set_place(place);
}

template <class T>
std::vector<std::shared_ptr<Blob<T>>> RecurrentLayer<T>::state() const {
  if (Exposed() != 0) return {};
  return last_state_;
}

template <class T>
void RecurrentLayer<T>::Reset() {
  for (const auto& state : last_state_) Set(this->place(), T(0), *state);
}

template <class T>
void RecurrentLayer<T>::ForwardAt(const Place& place, const Blobs& /*bottom*/, const Blobs& top) {
  ShareParameters();
  if (Exposed() == 0)
    for (std::size_t i = 0; i < first_state_.size(); ++i) Copy(place, *last_state_[i], *first_state_[i]);
  net_->ForwardTo(last_layer_);
  if (Exposed() != 0)
    for (std::size_t i = 0; i < last_state_.size(); ++i) top[1 + i]->ShareData(*last_state_[i]);
}

template <class T>
void RecurrentLayer<T>::BackwardAt(const Place& /*place*/, const Blobs& /*top*/,
                                   const std::vector<bool>& propagate_down, const Blobs& /*bottom*/) {
  if (propagate_down[1]) this->Fail("bottom 1 is to get a gradient, and has none");
  net_->BackwardFrom(last_layer_);
}

template <class T>
LayerParameter* RecurrentLayer<T>::Add(NetParameter* net, const char* type, const std::string& name,
                                       const std::vector<std::string>& bottoms,
                                       const std::vector<std::string>& tops) {
  LayerParameter* const layer = net->add_layer();
  layer->set_type(type);
  layer->set_name(name);
  for (const std::string& bottom : bottoms) layer->add_bottom(bottom);
  for (const std::string& top : tops) layer->add_top(top);
  return layer;
}

template <class T>
void RecurrentLayer<T>::AddStates(NetParameter* net, const std::vector<std::string>& names) const {
  LayerParameter* const input = Add(net, "Input", "", {}, names);
  BlobShape* const shape = input->mutable_input_param()->add_shape();
  for (const std::int64_t dim : {std::int64_t{1}, streams_, num_output()}) shape->add_dim(dim);
}

template <class T>
void RecurrentLayer<T>::AddProduct(NetParameter* net, const std::string& name, const std::string& bottom,
                                   const std::string& top, std::int64_t outputs, int axis,
                                   const std::string& weight, const std::string& bias) const {
  const RecurrentParameter& recurrent = this->layer_param().recurrent_param();
  LayerParameter* const layer = Add(net, "InnerProduct", name, {bottom}, {top});
  layer->add_param()->set_name(weight);
  InnerProductParameter* const param = layer->mutable_inner_product_param();
  param->set_num_output(static_cast<std::uint32_t>(outputs));
  param->set_axis(axis);
  param->set_bias_term(!bias.empty());
  *param->mutable_weight_filler() = recurrent.weight_filler();
  if (bias.empty()) return;
  layer->add_param()->set_name(bias);
  *param->mutable_bias_filler() = recurrent.bias_filler();
}

template <class T>
void RecurrentLayer<T>::AddInputs(NetParameter* net, std::int64_t outputs, const std::string& weight,
                                  const std::string& bias, const std::string& product) const {
  std::vector<std::string> conts;
  std::vector<std::string> parts;
  for (std::int64_t t = 1; t <= steps_; ++t) {
    conts.push_back(Step("cont", t));
    parts.push_back(Step(product, t));
  }
  Add(net, "Slice", "cont_slice", {"cont"}, conts)->mutable_slice_param()->set_axis(0);
  AddProduct(net, "x_transform", "x", product, outputs, 2, weight, bias);
  net->mutable_layer(net->layer_size() - 1)->add_propagate_down(true);
  if (has_static_input_) {
    AddProduct(net, product + "_static", "x_static", product + "_static_preshape", outputs, 1,
               weight + "_static");
    net->mutable_layer(net->layer_size() - 1)->add_propagate_down(true);
    LayerParameter* const reshape = Add(net, "Reshape", product + "_static_reshape",
                                        {product + "_static_preshape"}, {product + "_static"});
    for (const std::int64_t dim : {std::int64_t{1}, std::int64_t{-1}, outputs})
      reshape->mutable_reshape_param()->mutable_shape()->add_dim(dim);
  }
  Add(net, "Slice", product + "_slice", {product}, parts)->mutable_slice_param()->set_axis(0);
}

template <class T>
void RecurrentLayer<T>::AddContinued(NetParameter* net, std::int64_t t) const {
  const std::string name = Step("h_conted", t - 1);
  Add(net, "Scale", name, {Step("h", t - 1), Step("cont", t)}, {name})->mutable_scale_param()->set_axis(0);
}

template <class T>
void RecurrentLayer<T>::AddSum(NetParameter* net, const std::string& name, const std::string& hidden,
                               const std::string& product, std::int64_t t, const std::string& top) const {
  LayerParameter* const sum = Add(net, "Eltwise", name, {hidden, Step(product, t)}, {top});
  if (has_static_input_) sum->add_bottom(product + "_static");
  sum->mutable_eltwise_param()->set_operation(EltwiseParameter::SUM);
}

template <class T>
void RecurrentLayer<T>::AddOutput(NetParameter* net, const std::string& part,
                                  const std::string& output) const {
  std::vector<std::string> parts;
  for (std::int64_t t = 1; t <= steps_; ++t) parts.push_back(Step(part, t));
  Add(net, "Concat", output + "_concat", parts, {output})->mutable_concat_param()->set_axis(0);
}

template class RecurrentLayer<float>;
template class RecurrentLayer<double>;

}  // namespace ferry::detail
