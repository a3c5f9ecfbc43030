// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/layers/layers.hpp"

namespace ferry::detail {
namespace {

/// The top is a parameter, which training changes.
///
/// Parameters: parameter_param { shape: none, which is one element }.
/// Weights: 1, of that shape; zeros at first.
/// Bottoms: none.
/// Tops: 1, which shares data and diff with the weight.
template <class T>
class ParameterLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Parameter"; }
  int ExactNumBottomBlobs() const override { return 0; }
  int ExactNumTopBlobs() const override { return 1; }

  void LayerSetUp(const Blobs& /*bottom*/, const Blobs& top) override {
    top[0]->Reshape(this->layer_param().parameter_param().shape());
    if (this->blobs_.empty()) {
      this->blobs_.push_back(std::make_shared<Blob<T>>(top[0]->shape(), top[0]->device()));
      return;
    }
    if (this->blobs_[0]->count() != top[0]->count())
      this->Fail("its weight has shape " + this->blobs_[0]->shape_string() + ", parameter_param's is " +
                 top[0]->shape_string() + "; the counts must be equal");
    if (&this->blobs_[0]->device() == &top[0]->device()) return;
    auto here = std::make_shared<Blob<T>>(top[0]->device());  // what is shared is on one device
    here->CopyFrom(*this->blobs_[0], BlobPart::kData, WithReshape::kYes);
    this->blobs_[0] = std::move(here);
  }
  void Reshape(const Blobs& /*bottom*/, const Blobs& /*top*/) override {}

 protected:
  void ForwardAt(const Place& /*place*/, const Blobs& /*bottom*/, const Blobs& top) override {
    top[0]->ShareData(*this->blobs_[0]);
    top[0]->ShareDiff(*this->blobs_[0]);
  }
  void BackwardAt(const Place& /*place*/, const Blobs& /*top*/, const std::vector<bool>& /*propagate_down*/,
                  const Blobs& /*bottom*/) override {}
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Parameter);

}  // namespace ferry::detail
