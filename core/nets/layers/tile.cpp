// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/layers/layers.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

/// The bottom `tiles` times, one after the other along an axis.
///
/// Parameters: tile_param { axis: 1 tiles: must be said, 1 or more }.
/// Bottoms: 1.
/// Tops: 1; along the axis it is `tiles` times as large.
/// Gradient: the sum over the tiles.
template <class T>
class TileLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Tile"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }

  void Reshape(const Blobs& bottom, const Blobs& top) override {
    this->RequireApart(bottom, top);
    const TileParameter& param = this->layer_param().tile_param();
    const int axis = bottom[0]->CanonicalAxisIndex(param.axis());
    tiles_ = param.tiles();
    if (tiles_ <= 0)
      this->Fail((param.has_tiles() ? "tile_param's tiles is " + std::to_string(tiles_)
                                    : std::string("tile_param has no tiles")) +
                 "; it must be 1 or more");
    std::vector<std::int64_t> shape = bottom[0]->shape();
    shape[static_cast<std::size_t>(axis)] *= tiles_;
    top[0]->Reshape(shape);
    rows_ = bottom[0]->count(0, axis);
    length_ = bottom[0]->count(axis);
  }

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    if (length_ == 1) {  // else the fast loop would be of one element
      ParallelFor(
          place, {rows_, tiles_}, Read(*bottom[0], {rows_}), Overwrite(*top[0], {rows_, tiles_}),
          KOKKOS_LAMBDA(std::int64_t row, std::int64_t tile, View<const T, 1> x, View<T, 2> y) {
            y(row, tile) = x(row);
          });
      return;
    }
    ParallelFor(
        place, {rows_, tiles_, length_}, Read(*bottom[0], {rows_, length_}),
        Overwrite(*top[0], {rows_, tiles_, length_}),
        KOKKOS_LAMBDA(std::int64_t row, std::int64_t tile, std::int64_t i, View<const T, 2> x, View<T, 3> y) {
          y(row, tile, i) = x(row, i);
        });
  }

  /// A few elements at once, so that a CPU adds them in one register.
  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    if (!propagate_down[0]) return;
    const std::int64_t tiles = tiles_;
    const std::int64_t length = length_;
    ParallelFor(
        place, {rows_, (length_ + kRun - 1) / kRun}, Read(Diff(*top[0]), {rows_, tiles_, length_}),
        Overwrite(Diff(*bottom[0]), {rows_, length_}),
        KOKKOS_LAMBDA(std::int64_t row, std::int64_t run, View<const T, 3> dy, View<T, 2> dx) {
          const std::int64_t first = run * kRun;
          if (first + kRun <= length) {
            T sums[kRun] = {};
            for (std::int64_t tile = 0; tile < tiles; ++tile)
              for (int i = 0; i < kRun; ++i) sums[i] += (&dy(row, tile, first))[i];
            for (int i = 0; i < kRun; ++i) (&dx(row, first))[i] = sums[i];
          } else {
            for (std::int64_t i = first; i < length; ++i) {
              T sum = 0;
              for (std::int64_t tile = 0; tile < tiles; ++tile) sum += dy(row, tile, i);
              dx(row, i) = sum;
            }
          }
        });
  }

 private:
  static constexpr int kRun = 64;

  std::int64_t tiles_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t length_ = 0;
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Tile);

}  // namespace ferry::detail
