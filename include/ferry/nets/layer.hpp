// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ferry/blob.hpp"
#include "ferry/nets/layer_base.hpp"

namespace ferry {

/// One step of a net: computes its tops from its bottoms, and the gradients of bottoms and parameters from
/// those of the tops. Caffe's Layer.
///
/// A layer of your own is a class that overrides Reshape and either ForwardAt and BackwardAt, which run at
/// every place, or Caffe's Forward_cpu and Backward_cpu: then the memory ferries itself to the CPU. What an
/// override throws ends the pass. A layer is for one thread at a time.
template <class T>
class Layer : public LayerBase {
 public:
  /// Bottoms or tops; the net, or the caller, owns them.
  using Blobs = std::vector<Blob<T>*>;

  /// Takes over the blobs of `param`, if it has any.
  explicit Layer(const LayerParameter& param);

  /// Before the first pass: counts are checked, the layer sets itself up, tops get their shapes, and the
  /// diffs of tops with a loss weight are filled with it. Throws NetError and ShapeError.
  void SetUp(const Blobs& bottom, const Blobs& top);
  /// Once, with bottoms that have shapes.
  virtual void LayerSetUp(const Blobs& /*bottom*/, const Blobs& /*top*/) {}
  /// Gives tops and buffers their shapes. Called before each pass forward.
  virtual void Reshape(const Blobs& bottom, const Blobs& top) = 0;
  /// Reshape for bottoms whose shapes have changed since SetUp. The diffs of tops keep their loss weights,
  /// except of one that outgrows what it had at SetUp: in a lone layer that is not part of the loss any more,
  /// as in Caffe.
  void Refit(const Blobs& bottom, const Blobs& top);

  /// Returns the loss: the sum over tops with a loss weight of their data times their diff. Throws what
  /// CheckValues throws.
  T Forward(const Blobs& bottom, const Blobs& top);
  /// Throws NetError for a value in a bottom that the layer cannot use, such as a label without a class;
  /// reads bottoms on the CPU. Each pass forward begins with it where the layer runs on the host. Elsewhere
  /// that would be a copy and a wait, so there it is called after a pass, only if the layer's loss, or that
  /// of its net, is not-a-number. For layers that are never in place: bottoms must still be what they were.
  virtual void CheckValues(const Blobs& /*bottom*/) const {}
  /// The call after a pass: CheckValues, unless the layer runs on the host.
  void CheckValuesAfter(const Blobs& bottom) const;
  /// Gradients of the bottoms for which `propagate_down` is true (and of some layers' others, as in Caffe),
  /// and of the parameters, which add up. Throws NetError after a Reshape or a Forward that could not give
  /// tops their shapes.
  void Backward(const Blobs& top, const std::vector<bool>& propagate_down, const Blobs& bottom);

  /// The parameters that training changes.
  std::vector<std::shared_ptr<Blob<T>>>& blobs() { return blobs_; }
  /// @overload
  const std::vector<std::shared_ptr<Blob<T>>>& blobs() const { return blobs_; }
  /// The loss weight of a top; 0 where there is none.
  T loss(int top) const;
  /// Says which that is.
  void set_loss(int top, T value);

  /// Blobs, no parameters, whose data a pass leaves for the next one. A solver's snapshot has them.
  virtual std::vector<std::shared_ptr<Blob<T>>> state() const { return {}; }

  /// The layer's parameter, with its blobs.
  // NOLINTNEXTLINE(google-default-arguments): as Caffe's
  virtual void ToProto(LayerParameter* param, bool write_diff = false);

 protected:
  /// The mathematics, written once for all places: without an override, Caffe's functions below.
  virtual void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top);
  /// The same.
  virtual void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                          const Blobs& bottom);

  /// @name Caffe's four functions, for layers that have them
  ///@{
  virtual void Forward_cpu(const Blobs& bottom, const Blobs& top);
  virtual void Forward_gpu(const Blobs& bottom, const Blobs& top) { Forward_cpu(bottom, top); }
  virtual void Backward_cpu(const Blobs& top, const std::vector<bool>& propagate_down, const Blobs& bottom);
  virtual void Backward_gpu(const Blobs& top, const std::vector<bool>& propagate_down, const Blobs& bottom) {
    Backward_cpu(top, propagate_down, bottom);
  }
  ///@}

  /// Throws NetError if a top is a bottom: for a layer that cannot be in place.
  void RequireApart(const Blobs& bottom, const Blobs& top) const;
  /// Gives a parameter its first values, and a name unless it has one. The values depend on the random key
  /// and on how many blobs the layer has filled before, and on no pass. Throws NetError.
  void FillBlob(const FillerParameter& filler, Blob<T>* blob);

  std::vector<std::shared_ptr<Blob<T>>> blobs_;
  std::vector<T> loss_;  ///< a weight for each top, or none

 private:
  /// How many elements of a top's diff have its loss weight.
  struct Weighted {
    std::int64_t room;   ///< at most: as many as when the layer was set up
    std::int64_t count;  ///< now
  };

  void CheckLossWeights(std::size_t tops) const;
  void SetLossWeights(const Blobs& top);
  void KeepLossWeights(const Blobs& top);

  bool fits_ = false;               ///< the last Reshape was done to its end
  std::vector<Weighted> weighted_;  ///< of each top, 0 without a weight; none if no top has one
  std::uint64_t fills_ = 0;
};

extern template class Layer<float>;
extern template class Layer<double>;

}  // namespace ferry
