// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ferry/nets/layer.hpp"

namespace ferry {

/// How a net keeps its blobs between layers.
enum class Activations : std::uint8_t {
  kKept,    ///< each blob has storage of its own: for training, and to look at them
  kShared,  ///< blobs whose lives do not overlap share storage: for inference
};

/// Layers that run one after the other. Caffe's Net, by its names. Not for several threads at once.
template <class T>
class Net {
 public:
  /// A function that is told the index of a layer, before or after it has run.
  class Callback {
   public:
    virtual ~Callback() = default;

   protected:
    virtual void run(int layer) = 0;
    friend class Net;
  };
  using LayerCallback = std::function<void(int)>;

  explicit Net(const NetParameter& param, const Place& place = DefaultPlace(), RandomSeed seed = FreshSeed());
  Net(const NetParameter& param, Phase phase, const Place& place = DefaultPlace(),
      RandomSeed seed = FreshSeed());
  Net(const std::filesystem::path& file, Phase phase, int level = 0,
      const std::vector<std::string>* stages = nullptr, const Place& place = DefaultPlace(),
      RandomSeed seed = FreshSeed());
  Net(const std::filesystem::path& file, Phase phase, const Place& place, RandomSeed seed = FreshSeed());

  const std::vector<Blob<T>*>& Forward(T* loss = nullptr);
  T ForwardFromTo(int start, int end);
  T ForwardFrom(int start);
  T ForwardTo(int end);
  const std::vector<Blob<T>*>& Forward(const std::vector<Blob<T>*>& bottom, T* loss = nullptr);
  void ClearParamDiffs();
  void Backward();
  void BackwardFromTo(int start, int end);
  void BackwardFrom(int start);
  void BackwardTo(int end);
  T ForwardBackward();
  void Reshape();
  void Update();

  const Place& place() const;
  void set_place(const Place& place);
  /// The random numbers of the passes that follow are those of pass number `iteration`.
  void set_iteration(std::uint64_t iteration);
  void share_activations();

  void ShareTrainedLayersWith(const Net* other);
  void CopyTrainedLayersFrom(const NetParameter& param);
  void CopyTrainedLayersFrom(const std::filesystem::path& file);
  void CopyTrainedLayersFromBinaryProto(const std::filesystem::path& file);
  void CopyTrainedLayersFromHDF5(const std::filesystem::path& file);
  void ToProto(NetParameter* param, bool write_diff = false) const;
  void ToHDF5(const std::filesystem::path& file, bool write_diff = false) const;

  const std::string& name() const;
  Phase phase() const;
  const std::vector<std::string>& layer_names() const;
  const std::vector<std::string>& blob_names() const;
  const std::vector<std::shared_ptr<Blob<T>>>& blobs() const;
  const std::vector<std::shared_ptr<Layer<T>>>& layers() const;
  const std::vector<std::vector<Blob<T>*>>& bottom_vecs() const;
  const std::vector<std::vector<Blob<T>*>>& top_vecs() const;
  const std::vector<int>& top_ids(int i) const;
  const std::vector<int>& bottom_ids(int i) const;
  const std::vector<std::vector<bool>>& bottom_need_backward() const;
  const std::vector<T>& blob_loss_weights() const;
  const std::vector<bool>& layer_need_backward() const;
  const std::vector<std::shared_ptr<Blob<T>>>& params() const;
  const std::vector<Blob<T>*>& learnable_params() const;
  const std::vector<float>& params_lr() const;
  const std::vector<bool>& has_params_lr() const;
  const std::vector<float>& params_weight_decay() const;
  const std::vector<bool>& has_params_decay() const;
  const std::map<std::string, int>& param_names_index() const;
  const std::vector<int>& param_owners() const;
  const std::vector<std::string>& param_display_names() const;
  int num_inputs() const;
  int num_outputs() const;
  const std::vector<Blob<T>*>& input_blobs() const;
  const std::vector<Blob<T>*>& output_blobs() const;
  const std::vector<int>& input_blob_indices() const;
  const std::vector<int>& output_blob_indices() const;
  bool has_blob(const std::string& blob_name) const;
  const std::shared_ptr<Blob<T>> blob_by_name(const std::string& blob_name) const;
  bool has_layer(const std::string& layer_name) const;
  const std::shared_ptr<Layer<T>> layer_by_name(const std::string& layer_name) const;
  void set_debug_info(bool value);
  void add_before_forward(Callback* value);
  void add_before_forward(LayerCallback callback);
  void add_after_forward(Callback* value);
  void add_after_forward(LayerCallback callback);
  void add_before_backward(Callback* value);
  void add_before_backward(LayerCallback callback);
  void add_after_backward(Callback* value);
  void add_after_backward(LayerCallback callback);

  static void FilterNet(const NetParameter& param, NetParameter* filtered);
  static bool StateMeetsRule(const NetState& state, const NetStateRule& rule, const std::string& layer_name);
};

}  // namespace ferry
