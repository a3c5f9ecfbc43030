// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/layers/layers.hpp"

namespace ferry::detail {
namespace {

/// The tops are what the program writes to them: the net's inputs.
///
/// Parameters: input_param { shape: one for all tops, one for each, or none }.
/// Bottoms: none.
/// Tops: 1 or more, of these shapes; without a shape, of that which the program gives them.
template <class T>
class InputLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Input"; }
  int ExactNumBottomBlobs() const override { return 0; }
  int MinTopBlobs() const override { return 1; }

  void LayerSetUp(const Blobs& /*bottom*/, const Blobs& top) override {
    const InputParameter& param = this->layer_param().input_param();
    const auto shapes = static_cast<std::size_t>(param.shape_size());
    if (shapes > 1 && shapes != top.size())
      this->Fail("input_param has " + std::to_string(shapes) + " shape for " + std::to_string(top.size()) +
                 " tops; say one, one for each top, or none");
    for (std::size_t i = 0; i < top.size() && shapes != 0; ++i)
      top[i]->Reshape(param.shape(shapes == 1 ? 0 : static_cast<int>(i)));
  }
  void Reshape(const Blobs& /*bottom*/, const Blobs& /*top*/) override {}

 protected:
  void ForwardAt(const Place& /*place*/, const Blobs& /*bottom*/, const Blobs& /*top*/) override {}
  void BackwardAt(const Place& /*place*/, const Blobs& /*top*/, const std::vector<bool>& /*propagate_down*/,
                  const Blobs& /*bottom*/) override {}
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Input);

}  // namespace ferry::detail
