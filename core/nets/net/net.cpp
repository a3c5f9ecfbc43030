// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/nets/net.hpp"

#include <stdexcept>
#include <utility>

#include "core/nets/format/filter_net.hpp"
#include "core/nets/net/graph.hpp"
#include "core/nets/net/naming_file.hpp"
#include "ferry/detail/blas_kernels.hpp"
#include "ferry/log.hpp"
#include "ferry/nets/proto_io.hpp"
#include "ferry/nets/upgrade.hpp"

namespace ferry {
namespace {

NetParameter ReadNet(const std::filesystem::path& file, Phase phase, int level,
                     const std::vector<std::string>* stages) {
  NetParameter param;
  ReadNetParamsFromTextFileOrDie(file, &param);
  NetState& state = *param.mutable_state();
  state.set_phase(phase);
  state.set_level(level);
  if (stages != nullptr)
    for (const std::string& stage : *stages) state.add_stage(stage);
  return param;
}

NetParameter InPhase(NetParameter param, Phase phase) {
  param.mutable_state()->set_phase(phase);
  return param;
}

/// What the map says of the name; a null pointer, with a warning, where it says nothing.
template <class V>
typename V::value_type Find(const V& of, const std::map<std::string, int>& index, const char* what,
                            const std::string& name) {
  const auto found = index.find(name);
  if (found != index.end()) return of[detail::Index(found->second)];
  Log(LogLevel::kWarning, std::string("Unknown ") + what + " name " + name);
  return nullptr;
}

}  // namespace

template <class T>
Net<T>::Net(const NetParameter& param, const Place& place, RandomSeed seed) {
  Init(param, place, seed);
}
template <class T>
Net<T>::Net(const NetParameter& param, Phase phase, const Place& place, RandomSeed seed)
    : Net(InPhase(param, phase), place, seed) {}
template <class T>
Net<T>::Net(const std::filesystem::path& file, Phase phase, int level, const std::vector<std::string>* stages,
            const Place& place, RandomSeed seed) {
  const NetParameter param = ReadNet(file, phase, level, stages);
  detail::NamingFile(file.string(), [&] { Init(param, place, seed); });
}
template <class T>
Net<T>::Net(const std::filesystem::path& file, Phase phase, const Place& place, RandomSeed seed)
    : Net(file, phase, 0, nullptr, place, seed) {}
template <class T>
Net<T>::~Net() = default;

template <class T>
void Net<T>::Init(const NetParameter& param, const Place& place, RandomSeed seed) {
  NetParameter filtered;
  detail::FilterNet(param, &filtered);
  detail::CheckConnections(filtered);
  NetParameter split;
  InsertSplits(filtered, &split);
  graph_ = detail::BuildNet<T>(split, place, seed);
  detail::WarnOfOldBlasKernels(place);
}

template <class T>
void Net<T>::FilterNet(const NetParameter& param, NetParameter* filtered) {
  detail::FilterNet(param, filtered);
}
template <class T>
bool Net<T>::StateMeetsRule(const NetState& state, const NetStateRule& rule, const std::string& layer_name) {
  return detail::StateMeetsRule(state, rule, layer_name);
}

#define FERRY_NET_FIELD(type, name, field) \
  template <class T>                       \
  type Net<T>::name() const {              \
    return graph_->field;                  \
  }
FERRY_NET_FIELD(const Place&, place, place)
FERRY_NET_FIELD(Activations, activations, activations)
FERRY_NET_FIELD(const std::string&, name, name)
FERRY_NET_FIELD(Phase, phase, phase)
FERRY_NET_FIELD(const std::vector<std::string>&, layer_names, layer_names)
FERRY_NET_FIELD(const std::vector<std::string>&, blob_names, blob_names)
FERRY_NET_FIELD(const std::vector<std::shared_ptr<Blob<T>>>&, blobs, blobs)
FERRY_NET_FIELD(const std::vector<std::shared_ptr<Layer<T>>>&, layers, layers)
FERRY_NET_FIELD(const std::vector<std::vector<Blob<T>*>>&, bottom_vecs, bottom_vecs)
FERRY_NET_FIELD(const std::vector<std::vector<Blob<T>*>>&, top_vecs, top_vecs)
FERRY_NET_FIELD(const std::vector<std::vector<bool>>&, bottom_need_backward, bottom_need_backward)
FERRY_NET_FIELD(const std::vector<T>&, blob_loss_weights, blob_loss_weights)
FERRY_NET_FIELD(const std::vector<bool>&, layer_need_backward, layer_need_backward)
FERRY_NET_FIELD(const std::vector<std::shared_ptr<Blob<T>>>&, params, params)
FERRY_NET_FIELD(const std::vector<Blob<T>*>&, learnable_params, learnable_params)
FERRY_NET_FIELD(const std::vector<int>&, learnable_param_ids, learnable_ids)
FERRY_NET_FIELD(const std::vector<float>&, params_lr, lr)
FERRY_NET_FIELD(const std::vector<bool>&, has_params_lr, has_lr)
FERRY_NET_FIELD(const std::vector<float>&, params_weight_decay, decay)
FERRY_NET_FIELD(const std::vector<bool>&, has_params_decay, has_decay)
using IndexByName = std::map<std::string, int>;
FERRY_NET_FIELD(const IndexByName&, param_names_index, param_index)
FERRY_NET_FIELD(const std::vector<int>&, param_owners, param_owners)
FERRY_NET_FIELD(const std::vector<std::string>&, param_display_names, param_display_names)
FERRY_NET_FIELD(const std::vector<Blob<T>*>&, input_blobs, inputs)
FERRY_NET_FIELD(const std::vector<Blob<T>*>&, output_blobs, outputs)
FERRY_NET_FIELD(const std::vector<int>&, input_blob_indices, input_ids)
FERRY_NET_FIELD(const std::vector<int>&, output_blob_indices, output_ids)
#undef FERRY_NET_FIELD

template <class T>
int Net<T>::num_inputs() const {
  return detail::SizeOf(graph_->inputs);
}
template <class T>
int Net<T>::num_outputs() const {
  return detail::SizeOf(graph_->outputs);
}
template <class T>
const std::vector<int>& Net<T>::top_ids(int i) const {
  return graph_->nodes.at(detail::Index(i)).top_ids;
}
template <class T>
const std::vector<int>& Net<T>::bottom_ids(int i) const {
  return graph_->nodes.at(detail::Index(i)).bottom_ids;
}

template <class T>
bool Net<T>::has_blob(const std::string& blob_name) const {
  return graph_->blob_index.contains(blob_name);
}
template <class T>
std::shared_ptr<Blob<T>> Net<T>::blob_by_name(const std::string& blob_name) const {
  return Find(graph_->blobs, graph_->blob_index, "blob", blob_name);
}
template <class T>
bool Net<T>::has_layer(const std::string& layer_name) const {
  return graph_->layer_index.contains(layer_name);
}
template <class T>
std::shared_ptr<Layer<T>> Net<T>::layer_by_name(const std::string& layer_name) const {
  return Find(graph_->layers, graph_->layer_index, "layer", layer_name);
}

template <class T>
void Net<T>::set_debug_info(bool value) {
  graph_->debug_info = value;
}

#define FERRY_NET_CALLBACKS(when)                                                                      \
  template <class T>                                                                                   \
  void Net<T>::add_##when(Callback* value) {                                                           \
    if (value == nullptr) throw std::invalid_argument("Net::add_" #when ": the pointer is null");      \
    graph_->when.push_back([value](int layer) { value->run(layer); });                                 \
  }                                                                                                    \
  template <class T>                                                                                   \
  void Net<T>::add_##when(LayerCallback callback) {                                                    \
    if (callback == nullptr) throw std::invalid_argument("Net::add_" #when ": the function is empty"); \
    graph_->when.push_back(std::move(callback));                                                       \
  }
FERRY_NET_CALLBACKS(before_forward)
FERRY_NET_CALLBACKS(after_forward)
FERRY_NET_CALLBACKS(before_backward)
FERRY_NET_CALLBACKS(after_backward)
#undef FERRY_NET_CALLBACKS

template class Net<float>;
template class Net<double>;

}  // namespace ferry
