// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ferry/net.pb.h"
#include "ferry/nets/layer.hpp"
#include "ferry/nets/net.hpp"

namespace ferry::detail {

/// A network with state, run along the first axis of its bottom: a net inside, in which each time step has
/// layers of its own and all share their parameters. Caffe's RecurrentLayer.
///
/// Bottoms are x, T x N x ...; cont, T x N, which is 0 where a sequence begins; an input that is the same at
/// each step, N x ..., if there is one; and with expose_hidden the state before the first step. Tops are the
/// output, and with expose_hidden the state after the last step. Without expose_hidden the state after a pass
/// is the state before the next.
template <class T>
class RecurrentLayer : public Layer<T> {
 public:
  using typename Layer<T>::Blobs;

  /// `states` is how many blobs make up the state.
  RecurrentLayer(const LayerParameter& param, int states);
  ~RecurrentLayer() override;

  int MinBottomBlobs() const override { return 2 + Exposed(); }
  int MaxBottomBlobs() const override { return 3 + Exposed(); }
  int ExactNumTopBlobs() const override { return 1 + Exposed(); }
  bool AllowForceBackward(int bottom) const override { return bottom != 1; }

  void LayerSetUp(const Blobs& bottom, const Blobs& top) override;
  void Reshape(const Blobs& bottom, const Blobs& top) override;
  void set_place(const Place& place) override;
  /// The one after the last step, unless it is exposed.
  std::vector<std::shared_ptr<Blob<T>>> state() const override;

  /// Makes the state that the next pass begins with zeros.
  void Reset();
  /// The net inside.
  const Net<T>& unrolled_net() const { return *net_; }

 protected:
  /// What a layer of a type says of the net inside.
  struct Unrolled {
    std::vector<std::string> first_state;  ///< the blobs before the first step: inputs
    std::vector<std::string> last_state;   ///< the blobs after the last one, in the same order
    std::string output;
  };

  /// Adds all layers but the input of x, cont and x_static, and says what its blobs are called. The state is
  /// 1 x streams() x num_output.
  virtual Unrolled Unroll(NetParameter* net) const = 0;

  std::int64_t steps() const noexcept { return steps_; }
  bool has_static_input() const noexcept { return has_static_input_; }
  /// recurrent_param's.
  std::int64_t num_output() const { return this->layer_param().recurrent_param().num_output(); }

  /// @name Parts of the net inside, which layers of all types have
  ///@{
  static LayerParameter* Add(NetParameter* net, const char* type, const std::string& name,
                             const std::vector<std::string>& bottoms, const std::vector<std::string>& tops);
  /// Inputs, each of the state's shape.
  void AddStates(NetParameter* net, const std::vector<std::string>& names) const;
  /// The product of a blob, from an axis on, and a weight of that name; with a bias if that has one.
  void AddProduct(NetParameter* net, const std::string& name, const std::string& bottom,
                  const std::string& top, std::int64_t outputs, int axis, const std::string& weight,
                  const std::string& bias = "") const;
  /// cont in slices cont_1 ..., and the product of x and a weight in slices `product`_1 ...; if there is an
  /// input that is the same at each step, also `product`_static.
  void AddInputs(NetParameter* net, std::int64_t outputs, const std::string& weight, const std::string& bias,
                 const std::string& product) const;
  /// The state blob of step t - 1, where the sequence goes on, else zeros: h_conted_<t - 1>.
  void AddContinued(NetParameter* net, std::int64_t t) const;
  /// The sum of `hidden` and the slice of `product` for step t.
  void AddSum(NetParameter* net, const std::string& name, const std::string& hidden,
              const std::string& product, std::int64_t t, const std::string& top) const;
  /// All steps' blobs `part`_1 ... in one.
  void AddOutput(NetParameter* net, const std::string& part, const std::string& output) const;
  ///@}

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override;
  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override;

 private:
  int Exposed() const { return this->layer_param().recurrent_param().expose_hidden() ? states_ : 0; }
  void RequireShapes(const Blobs& bottom) const;
  void MakeNet(const NetParameter& param, const Unrolled& unrolled);
  void TakeParameters();
  /// Parameters of the net inside may have got other storage since they were shared between its steps.
  void ShareParameters();
  std::shared_ptr<Blob<T>> Find(const std::string& name) const;

  int states_;
  std::int64_t steps_ = 0;
  std::int64_t streams_ = 0;
  bool has_static_input_ = false;
  int last_layer_ = -1;  ///< the last one that runs
  std::unique_ptr<Net<T>> net_;
  // Blobs of that net.
  std::vector<std::shared_ptr<Blob<T>>> inputs_;  ///< x, cont and, if there is one, x_static
  std::vector<std::shared_ptr<Blob<T>>> first_state_, last_state_;
  std::shared_ptr<Blob<T>> output_;
};

extern template class RecurrentLayer<float>;
extern template class RecurrentLayer<double>;

}  // namespace ferry::detail
