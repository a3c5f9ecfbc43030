// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/layers/layers.hpp"
#include "ferry/kernels.hpp"

namespace ferry::detail {
namespace {

/// Takes blobs that nobody else reads, so that they are no outputs of the net.
///
/// Bottoms: 1 or more, of any shapes.
/// Tops: none.
/// Gradient: 0.
template <class T>
class SilenceLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Silence"; }
  int MinBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 0; }

  void Reshape(const Blobs& /*bottom*/, const Blobs& /*top*/) override {}

 protected:
  void ForwardAt(const Place& /*place*/, const Blobs& /*bottom*/, const Blobs& /*top*/) override {}
  void BackwardAt(const Place& place, const Blobs& /*top*/, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    for (std::size_t i = 0; i < bottom.size(); ++i)
      if (propagate_down[i]) Set(place, T(0), Diff(*bottom[i]));
  }
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Silence);

}  // namespace ferry::detail
