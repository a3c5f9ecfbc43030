// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ferry/nets/layer.hpp"

namespace ferry {

namespace detail {
template <class T>
struct NetGraph;
}  // namespace detail

/// How a net keeps its blobs between layers.
enum class Activations : std::uint8_t {
  kKept,    ///< each blob has storage of its own: for training, and to look at them
  kShared,  ///< blobs whose lives do not overlap share storage: for inference
};

/// What the data of all blobs between layers takes, in bytes. Blobs that are one, as in place, count once.
struct ActivationBytes {
  std::size_t kept;     ///< each with storage of its own
  std::size_t planned;  ///< shared; as many as kept where the net cannot share
};

/// Layers that run one after the other. Caffe's Net, by its names.
///
/// An error is a NetError that names the layer and the blob; what a layer throws becomes one, with the first
/// error nested in it, except std::bad_alloc and what is no std::exception: these come out as they were
/// thrown. A call that throws has changed nothing, unless its comment says so. A net is for one thread at a
/// time, with those that share parameters with it.
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

  /// The layers that the net's state leaves in, with blobs on the place's device. Throws for a layer type, a
  /// bottom, a top, a shape or a shared parameter that cannot be, and where include and exclude rules meet.
  explicit Net(const NetParameter& param, const Place& place = DefaultPlace(), RandomSeed seed = FreshSeed());
  /// The same in that phase.
  Net(const NetParameter& param, Phase phase, const Place& place = DefaultPlace(),
      RandomSeed seed = FreshSeed());
  /// The same from prototxt, brought to today's form, with that level; `stages` are added to its own.
  Net(const std::filesystem::path& file, Phase phase, int level = 0,
      const std::vector<std::string>* stages = nullptr, const Place& place = DefaultPlace(),
      RandomSeed seed = FreshSeed());
  /// @overload
  Net(const std::filesystem::path& file, Phase phase, const Place& place, RandomSeed seed = FreshSeed());
  ~Net();
  Net(const Net&) = delete;
  Net& operator=(const Net&) = delete;

  /// @name Passes
  /// All layers, or those from `start` to `end`, both included; backward `start` is the later one. What has
  /// run before an error stays. Each pass forward first gives tops and buffers the shapes that the inputs
  /// ask for. The loss is the sum over all blobs with a loss weight. If it is not-a-number, layers on a GPU
  /// are asked whether a bottom has a value that they cannot use, such as a label without a class, and then
  /// the pass throws. To ask a layer needs the bottoms that it ran on. Where activations are shared they may
  /// have been overwritten, so only a layer whose own loss is not-a-number is asked, right after it ran.
  ///@{

  /// Returns the outputs, and where it is asked for, the loss.
  const std::vector<Blob<T>*>& Forward(T* loss = nullptr);
  /// The same, by Caffe's old name.
  const std::vector<Blob<T>*>& ForwardPrefilled(T* loss = nullptr) { return Forward(loss); }
  /// Returns the loss. Throws for layers that there are not; and, where activations are shared, for a start
  /// that does not go on where the last pass ended.
  T ForwardFromTo(int start, int end);
  T ForwardFrom(int start);  ///< @overload
  T ForwardTo(int end);      ///< @overload
  /// Copies `bottom` to the inputs first. Throws for more of them, and for other shapes.
  const std::vector<Blob<T>*>& Forward(const std::vector<Blob<T>*>& bottom, T* loss = nullptr);
  /// Gradients of the last pass forward: those of parameters add up, until they are cleared.
  void Backward();
  /// Throws for layers that there are not.
  void BackwardFromTo(int start, int end);
  void BackwardFrom(int start);  ///< @overload
  void BackwardTo(int end);      ///< @overload
  /// Both; returns the loss.
  T ForwardBackward();
  /// Only the shapes.
  void Reshape();
  ///@}

  /// Sets the gradients of all parameters to zero.
  void ClearParamDiffs();
  /// Takes its diff from each parameter's data.
  void Update();
  /// Begins to copy the parameters to the place, as Blob::Prefetch does; nothing where that is the CPU.
  void PrefetchParams() const;

  /// Where the net runs.
  const Place& place() const;
  /// Moves it to another place of the same device, the only one that it may be moved on.
  void set_place(const Place& place);
  /// The random numbers of the passes that follow are those of pass number `iteration`.
  void set_iteration(std::uint64_t iteration);
  /// From now on blobs share storage, so that a blob's data is good only until the last layer that reads it
  /// has run; inputs, outputs, tops of layers without bottoms, and blobs of layers of your own keep theirs.
  /// Throws where a layer needs a gradient.
  void share_activations();
  /// How they are kept.
  Activations activations() const;
  /// What they take, by the shapes as they are. A top that grows by the values of bottoms, as Filter's may,
  /// takes storage of its own, beside what was planned.
  ActivationBytes activation_bytes() const;

  /// @name Parameters of other nets and of files
  /// By the names of layers; layers that this net has not are left out. All are looked at before the first is
  /// copied. Throws where a layer has another number of parameters, or one of another shape. All parameters
  /// that are copied are locked at once; ThreadSanitizer ends a program with more than 64 of them, unless
  /// TSAN_OPTIONS has detect_deadlocks=0.
  ///@{

  /// Parameters that share get their owner's storage once more, for who has given them another.
  void ShareWeights();
  /// This net's parameters get the storage of the other's, on the same device. Not their diffs.
  void ShareTrainedLayersWith(const Net* other);
  void CopyTrainedLayersFrom(const NetParameter& param, const Site& site = Site::Caller());
  /// HDF5, or else a binary NetParameter. Throws NetError or FormatError for a file that is neither.
  void CopyTrainedLayersFrom(const std::filesystem::path& file, const Site& site = Site::Caller());
  /// @overload
  void CopyTrainedLayersFromBinaryProto(const std::filesystem::path& file, const Site& site = Site::Caller());
  /// A parameter that shares another's storage may be missing in the file. Throws in a build without HDF5.
  void CopyTrainedLayersFromHDF5(const std::filesystem::path& path, const Site& site = Site::Caller());
  ///@}
  /// The layers as they run here, with their parameters, and no inputs or state.
  void ToProto(NetParameter* param, bool write_diff = false) const;
  /// The parameters as data/<layer>/<number>, one that is shared once, and with `write_diff` all gradients as
  /// diff/<layer>/<number>. The file appears whole or not at all. Throws in a build without HDF5.
  void ToHDF5(const std::filesystem::path& path, bool write_diff = false) const;

  const std::string& name() const;
  Phase phase() const;
  const std::vector<std::string>& layer_names() const;
  const std::vector<std::string>& blob_names() const;
  /// Data and diffs between layers, each once, in the order in which layers make them.
  const std::vector<std::shared_ptr<Blob<T>>>& blobs() const;
  /// In the order in which they run, with those that Caffe inserts.
  const std::vector<std::shared_ptr<Layer<T>>>& layers() const;
  const std::vector<std::vector<Blob<T>*>>& bottom_vecs() const;  ///< of each layer
  const std::vector<std::vector<Blob<T>*>>& top_vecs() const;     ///< of each layer
  /// Indices of layer i's blobs. Throws std::out_of_range.
  ///@{
  const std::vector<int>& top_ids(int i) const;
  const std::vector<int>& bottom_ids(int i) const;
  ///@}
  const std::vector<std::vector<bool>>& bottom_need_backward() const;  ///< of each layer
  const std::vector<T>& blob_loss_weights() const;                     ///< of each blob
  const std::vector<bool>& layer_need_backward() const;
  /// All parameters, layer by layer.
  const std::vector<std::shared_ptr<Blob<T>>>& params() const;
  /// Those that share no other's storage; here and below, for solvers.
  const std::vector<Blob<T>*>& learnable_params() const;
  const std::vector<int>& learnable_param_ids() const;  ///< of each parameter: which of them it is or shares
  const std::vector<float>& params_lr() const;
  const std::vector<bool>& has_params_lr() const;  ///< whether the net says it
  const std::vector<float>& params_weight_decay() const;
  const std::vector<bool>& has_params_decay() const;  ///< whether the net says it
  const std::map<std::string, int>& param_names_index() const;
  const std::vector<int>& param_owners() const;  ///< of each parameter: whose storage it shares, or -1
  const std::vector<std::string>& param_display_names() const;
  int num_inputs() const;
  int num_outputs() const;
  /// The tops of Input layers.
  const std::vector<Blob<T>*>& input_blobs() const;
  /// What no layer reads, sorted by name.
  const std::vector<Blob<T>*>& output_blobs() const;
  const std::vector<int>& input_blob_indices() const;
  const std::vector<int>& output_blob_indices() const;
  bool has_blob(const std::string& blob_name) const;
  /// Null, with a warning, where there is none.
  std::shared_ptr<Blob<T>> blob_by_name(const std::string& blob_name) const;
  bool has_layer(const std::string& layer_name) const;
  /// Null, with a warning, where there is none.
  std::shared_ptr<Layer<T>> layer_by_name(const std::string& layer_name) const;
  /// Whether each pass logs means of absolute values, at level info, which waits for each layer.
  void set_debug_info(bool value);
  /// Functions that are called for each layer of a pass, in the order in which they were added. A Callback
  /// must outlive the net; what it throws ends the pass, as it is.
  ///@{
  void add_before_forward(Callback* value);
  void add_before_forward(LayerCallback callback);
  void add_after_forward(Callback* value);
  void add_after_forward(LayerCallback callback);
  void add_before_backward(Callback* value);
  void add_before_backward(LayerCallback callback);
  void add_after_backward(Callback* value);
  void add_after_backward(LayerCallback callback);
  ///@}

  /// `filtered` is the net without the layers that its state leaves out. Throws where rules meet.
  static void FilterNet(const NetParameter& param, NetParameter* filtered);
  /// Whether a state is as the rule asks.
  static bool StateMeetsRule(const NetState& state, const NetStateRule& rule, const std::string& layer_name);

 private:
  void Init(const NetParameter& param, const Place& place, RandomSeed seed);
  void RequireLayers(const char* call, int first, int last) const;
  void RunForward(int i, T& loss);

  template <class U>
  friend class Solver;  // its snapshots are more than a net's weights

  std::unique_ptr<detail::NetGraph<T>> graph_;
};

extern template class Net<float>;
extern template class Net<double>;

}  // namespace ferry
