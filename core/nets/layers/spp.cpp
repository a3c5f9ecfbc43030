// SPDX-License-Identifier: BSD-2-Clause
#include <memory>
#include <string>

#include "core/nets/layers/copy_rows.hpp"
#include "core/nets/layers/layers.hpp"
#include "ferry/diff.hpp"
#include "ferry/kokkos.hpp"
#include "ferry/nets/layer_registry.hpp"

namespace ferry::detail {
namespace {

/// Spatial pyramid pooling: level i pools the image in 2^i x 2^i windows, each of ceil(size / 2^i) elements
/// along an axis, with equally much padding on both sides; the results of all levels follow each other.
///
/// Parameters: spp_param { pyramid_height, the number of levels, which must be given; pool: MAX, or AVE or
/// STOCHASTIC as in Pooling }. engine makes no difference.
/// Bottoms: 1, images x channels x height x width.
/// Tops: 1: with one level what Pooling gives, of 4 axes; else images x all elements of all levels.
/// Gradient: the sum of the levels'.
/// Caffe: it, too, refuses an image so small that the padding of a level would be as large as its window.
template <class T>
class SPPLayer final : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "SPP"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }

  void LayerSetUp(const Blobs& bottom, const Blobs& /*top*/) override {
    const std::uint32_t height = this->layer_param().spp_param().pyramid_height();
    if (height == 0 || height > 31)
      this->Fail("pyramid_height is " + std::to_string(height) + "; it must be 1 to 31");
    if (bottom[0]->num_axes() != 4)
      this->Fail("the bottom has shape " + bottom[0]->shape_string() +
                 "; it must have 4 axes: images, channels, height, width");
    if (bottom[0]->shape(2) == 0 || bottom[0]->shape(3) == 0)
      this->Fail("the bottom has shape " + bottom[0]->shape_string() + "; height and width must not be 0");
    levels_.clear();
  }

  void Reshape(const Blobs& bottom, const Blobs& top) override {
    this->RequireApart(bottom, top);
    const Blob<T>& x = *bottom[0];
    if (x.num_axes() != 4)
      this->Fail("the bottom has shape " + x.shape_string() +
                 "; it must have 4 axes: images, channels, height, width");
    if (levels_.empty() || shape_ != x.shape()) MakeLevels(x);
    if (levels_.size() == 1) {
      top[0]->ReshapeLike(levels_[0].y);
      return;
    }
    std::int64_t count = 0;
    for (const Level& level : levels_) count += level.y.count(1);
    top[0]->Reshape({x.shape(0), count});
  }

  void set_place(const Place& place) override {
    Layer<T>::set_place(place);
    for (const Level& level : levels_) level.pooling->set_place(place);
  }
  void set_random_key(const RandomKey& key) override {
    Layer<T>::set_random_key(key);
    for (std::size_t i = 0; i < levels_.size(); ++i) levels_[i].pooling->set_random_key(KeyOf(i));
  }

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    std::int64_t first = 0;
    for (Level& level : levels_) {
      level.x.ShareData(*bottom[0]);
      level.pooling->Forward({&level.x}, {&level.y});
      const std::int64_t rows = level.y.shape(0), size = level.y.count(1);
      if (size == 0) continue;
      CopyRows<T>(place, rows, size, {Read(level.y, {rows, size}), 0},
                  {ReadWrite(*top[0], {rows, top[0]->count(1)}), first});
      first += size;
    }
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    if (!propagate_down[0]) return;
    std::int64_t first = 0;
    for (Level& level : levels_) {
      const std::int64_t rows = level.y.shape(0), size = level.y.count(1);
      if (size == 0) continue;
      CopyRows<T>(place, rows, size, {Read(Diff(*top[0]), {rows, top[0]->count(1)}), first},
                  {Overwrite(Diff(level.y), {rows, size}), 0});
      level.pooling->Backward({&level.y}, {true}, {&level.x});
      if (first == 0)
        Copy(place, Diff(level.x), Diff(*bottom[0]));
      else
        Axpy(place, T(1), Diff(level.x), Diff(*bottom[0]));
      first += size;
    }
  }

 private:
  struct Level {
    std::shared_ptr<Layer<T>> pooling;
    Blob<T> x, y;  ///< x has the bottom's data, and a diff of its own
  };

  RandomKey KeyOf(std::size_t level) const {
    RandomKey key = this->random_key();
    key.seed += level;  // which Philox mixes
    return key;
  }

  void MakeLevels(const Blob<T>& x) {
    std::vector<Level> levels;
    const SPPParameter& param = this->layer_param().spp_param();
    for (std::uint32_t i = 0; i < param.pyramid_height(); ++i) {
      LayerParameter level;
      level.set_name(this->layer_param().name() + ", level " + std::to_string(i));
      level.set_type("Pooling");
      level.set_phase(this->phase_);
      PoolingParameter& pooling = *level.mutable_pooling_param();
      pooling.set_pool(static_cast<PoolingParameter::PoolMethod>(param.pool()));
      const std::int64_t windows = std::int64_t{1} << i;
      const auto kernel = [windows](std::int64_t size) {
        return static_cast<std::uint32_t>((size + windows - 1) / windows);
      };
      const auto pad = [windows, kernel](std::int64_t size) {
        return static_cast<std::uint32_t>((kernel(size) * windows - size + 1) / 2);
      };
      pooling.set_kernel_h(kernel(x.shape(2)));
      pooling.set_kernel_w(kernel(x.shape(3)));
      pooling.set_stride_h(pooling.kernel_h());
      pooling.set_stride_w(pooling.kernel_w());
      pooling.set_pad_h(pad(x.shape(2)));
      pooling.set_pad_w(pad(x.shape(3)));
      Level made{LayerRegistry<T>::CreateLayer(level, this->place()), Blob<T>(x.shape(), x.device()),
                 Blob<T>(x.device())};
      made.pooling->set_random_key(KeyOf(i));
      made.pooling->SetUp({&made.x}, {&made.y});
      levels.push_back(std::move(made));
    }
    shape_ = x.shape();
    levels_ = std::move(levels);
  }

  std::vector<Level> levels_;
  Shape shape_;
};

}  // namespace

FERRY_NETS_MAKE_LAYER(SPP);

}  // namespace ferry::detail
