// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "core/device/name.hpp"
#include "core/nets/net/graph.hpp"
#include "core/nets/net/naming_layer.hpp"
#include "core/nets/prefetch.hpp"

namespace ferry {

using detail::Index;
using detail::SizeOf;

namespace {

/// Does to layer `i` what may fail. What comes after a layer that failed is whole again when it has been done
/// to the end.
template <class T, class Work>
void Attempt(detail::NetGraph<T>& graph, int i, const Work& work) {
  const int failed = std::exchange(graph.failed, std::min(graph.failed, i));
  detail::NamingLayer(graph.layers[Index(i)]->layer_param(), work);
  constexpr int kNone = detail::NetGraph<T>::kNone;
  const int next = i + 1 == SizeOf(graph.layers) ? kNone : i + 1;
  graph.failed = failed == kNone || failed < i ? failed : next;
}

}  // namespace

template <class T>
void Net<T>::RequireLayers(const char* call, int first, int last) const {
  const int layers = SizeOf(graph_->layers);
  if (first < 0 || last >= layers || (layers > 0 && (first >= layers || last < 0)))
    throw NetError(std::string(call) + ": layers " + std::to_string(first) + " to " + std::to_string(last) +
                   " of net '" + graph_->name + "', which has " + std::to_string(layers) +
                   "; the first is 0, the last " + std::to_string(layers - 1));
}

template <class T>
void Net<T>::RunForward(int i, T& loss) {
  for (const auto& callback : graph_->before_forward) callback(i);
  Attempt(*graph_, i, [&] {
    loss += graph_->layers[Index(i)]->Forward(graph_->bottom_vecs[Index(i)], graph_->top_vecs[Index(i)]);
  });
  if (graph_->debug_info) LogForward(*graph_, i);
  graph_->next_layer = i + 1;
  for (const auto& callback : graph_->after_forward) callback(i);
}

template <class T>
T Net<T>::ForwardFromTo(int start, int end) {
  RequireLayers("Net::ForwardFromTo", start, end);
  if (graph_->activations == Activations::kShared) {
    if (start != 0 && start != graph_->next_layer)
      throw NetError(
          "Net::ForwardFromTo: layer " + std::to_string(start) + " ('" + graph_->layer_names[Index(start)] +
          "') after " +
          (graph_->next_layer == 0 ? "none" : "layer " + std::to_string(graph_->next_layer - 1)) +
          ", while blobs share storage: its bottoms may be gone; begin with layer 0 or go on where "
          "the last pass ended");
    if (start == 0 && detail::InputShapes(*graph_) != graph_->fitted_to) Reshape();
  } else {
    graph_->fitted_to.clear();  // each layer is fitted to what its bottoms have then
  }
  T loss = 0;
  for (int i = start; i <= end; ++i) RunForward(i, loss);
  if (std::isnan(loss) && graph_->activations == Activations::kKept)
    for (int i = start; i <= end; ++i)
      Attempt(*graph_, i, [&] { graph_->layers[Index(i)]->CheckValuesAfter(graph_->bottom_vecs[Index(i)]); });
  return loss;
}

template <class T>
T Net<T>::ForwardFrom(int start) {
  return ForwardFromTo(start, SizeOf(graph_->layers) - 1);
}
template <class T>
T Net<T>::ForwardTo(int end) {
  return ForwardFromTo(0, end);
}

template <class T>
const std::vector<Blob<T>*>& Net<T>::Forward(T* loss) {
  const T sum = graph_->layers.empty() ? T(0) : ForwardFrom(0);
  if (loss != nullptr) *loss = sum;
  return graph_->outputs;
}

template <class T>
const std::vector<Blob<T>*>& Net<T>::Forward(const std::vector<Blob<T>*>& bottom, T* loss) {
  if (bottom.size() > graph_->inputs.size())
    throw NetError("Net::Forward: " + std::to_string(bottom.size()) + " blobs for net '" + graph_->name +
                   "', which has " + std::to_string(graph_->inputs.size()) + " inputs");
  if (std::find(bottom.begin(), bottom.end(), nullptr) != bottom.end())
    throw std::invalid_argument("Net::Forward: a blob's pointer is null");
  for (std::size_t i = 0; i < bottom.size(); ++i)
    if (bottom[i]->shape() != graph_->inputs[i]->shape())
      throw NetError("Net::Forward: input " + std::to_string(i) + " has shape " + bottom[i]->shape_string() +
                     ", and the net's '" + graph_->inputs[i]->name() + "' has " +
                     graph_->inputs[i]->shape_string() + "; reshape the net's input first");
  for (std::size_t i = 0; i < bottom.size(); ++i) graph_->inputs[i]->CopyFrom(*bottom[i]);
  return Forward(loss);
}

template <class T>
void Net<T>::BackwardFromTo(int start, int end) {
  RequireLayers("Net::BackwardFromTo", end, start);
  if (start >= graph_->failed)
    throw NetError("Net::BackwardFromTo: the last pass forward of net '" + graph_->name +
                   "' failed in layer '" + graph_->layer_names[Index(graph_->failed)] +
                   "'; make one that reaches the end first");
  for (int i = start; i >= end; --i) {
    for (const auto& callback : graph_->before_backward) callback(i);
    if (graph_->layer_need_backward[Index(i)]) {
      Layer<T>& layer = *graph_->layers[Index(i)];
      detail::NamingLayer(layer.layer_param(), [&] {
        layer.Backward(graph_->top_vecs[Index(i)], graph_->bottom_need_backward[Index(i)],
                       graph_->bottom_vecs[Index(i)]);
      });
      if (graph_->debug_info) LogBackward(*graph_, i);
    }
    for (const auto& callback : graph_->after_backward) callback(i);
  }
}

template <class T>
void Net<T>::BackwardFrom(int start) {
  BackwardFromTo(start, 0);
}
template <class T>
void Net<T>::BackwardTo(int end) {
  BackwardFromTo(SizeOf(graph_->layers) - 1, end);
}
template <class T>
void Net<T>::Backward() {
  if (!graph_->layers.empty()) BackwardTo(0);
  if (graph_->debug_info) LogAllBackward(*graph_);
}
template <class T>
T Net<T>::ForwardBackward() {
  T loss = 0;
  Forward(&loss);
  Backward();
  return loss;
}

template <class T>
void Net<T>::Reshape() {
  graph_->next_layer = 0;
  graph_->fitted_to.clear();
  for (int i = 0; i < SizeOf(graph_->layers); ++i) {
    Attempt(*graph_, i, [&] {
      graph_->layers[Index(i)]->Refit(graph_->bottom_vecs[Index(i)], graph_->top_vecs[Index(i)]);
    });
  }
  graph_->fitted_to = detail::InputShapes(*graph_);
  if (graph_->activations == Activations::kShared) ShareActivations(*graph_);
}

template <class T>
void Net<T>::ClearParamDiffs() {
  for (Blob<T>* param : graph_->learnable_params) Set(graph_->place, T(0), Diff(*param));
}
template <class T>
void Net<T>::Update() {
  for (Blob<T>* param : graph_->learnable_params) Axpy(graph_->place, T(-1), Diff(*param), *param);
}

template <class T>
void Net<T>::PrefetchParams() const {
  for (const Blob<T>* const param : graph_->learnable_params) detail::PrefetchTo(graph_->place, *param);
}

template <class T>
void Net<T>::set_place(const Place& place) {
  if (&place.device() != &graph_->place.device())
    throw NetError("Net::set_place: net '" + graph_->name + "' is on the device " +
                   Name(graph_->place.device()) + ", the place on another, " + Name(place.device()) +
                   "; make a net there, and copy by ToProto and CopyTrainedLayersFrom");
  for (const auto& layer : graph_->layers) layer->set_place(place);
  graph_->place = place;
}

template <class T>
void Net<T>::set_iteration(std::uint64_t iteration) {
  for (const auto& layer : graph_->layers) {
    RandomKey key = layer->random_key();
    key.iteration = iteration;
    layer->set_random_key(key);
  }
}

#define FERRY_INSTANTIATE(T)                                                               \
  template void Net<T>::RequireLayers(const char*, int, int) const;                        \
  template void Net<T>::RunForward(int, T&);                                               \
  template T Net<T>::ForwardFromTo(int, int);                                              \
  template T Net<T>::ForwardFrom(int);                                                     \
  template T Net<T>::ForwardTo(int);                                                       \
  template const std::vector<Blob<T>*>& Net<T>::Forward(T*);                               \
  template const std::vector<Blob<T>*>& Net<T>::Forward(const std::vector<Blob<T>*>&, T*); \
  template void Net<T>::BackwardFromTo(int, int);                                          \
  template void Net<T>::BackwardFrom(int);                                                 \
  template void Net<T>::BackwardTo(int);                                                   \
  template void Net<T>::Backward();                                                        \
  template T Net<T>::ForwardBackward();                                                    \
  template void Net<T>::Reshape();                                                         \
  template void Net<T>::ClearParamDiffs();                                                 \
  template void Net<T>::Update();                                                          \
  template void Net<T>::PrefetchParams() const;                                            \
  template void Net<T>::set_place(const Place&);                                           \
  template void Net<T>::set_iteration(std::uint64_t)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry
