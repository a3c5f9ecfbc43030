// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/layers/columns.hpp"
#include "core/nets/layers/layers.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

/// A part of the gradient of a row.
template <class T>
struct AddTiles {
  std::int64_t tiles;
  Parts parts;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, std::int64_t part, View<const T, 3> dy,
                                              View<T, 2> dx) const {
    std::int64_t i = parts.First(part);
    for (; i + kRun <= parts.Last(part); i += kRun) Add<kRun>(&dy(row, 0, i), &dx(row, i));
    for (; i < parts.Last(part); ++i) Add<1>(&dy(row, 0, i), &dx(row, i));
  }

 private:
  template <int kAtOnce>
  KOKKOS_FORCEINLINE_FUNCTION void Add(const T* dy, T* dx) const {
    T sums[kAtOnce] = {};
    for (std::int64_t tile = 0; tile < tiles; ++tile, dy += parts.n)
      for (int i = 0; i < kAtOnce; ++i) sums[i] += dy[i];
    for (int i = 0; i < kAtOnce; ++i) dx[i] = sums[i];
  }
};

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

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    if (!propagate_down[0]) return;
    const Parts parts = Parts::Of(place, length_);
    ParallelFor(place, {rows_, parts.count}, Read(Diff(*top[0]), {rows_, tiles_, length_}),
                Overwrite(Diff(*bottom[0]), {rows_, length_}), AddTiles<T>{tiles_, parts});
  }

 private:
  std::int64_t tiles_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t length_ = 0;
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Tile);

}  // namespace ferry::detail
