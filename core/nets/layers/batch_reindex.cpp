// SPDX-License-Identifier: BSD-2-Clause
#include <numeric>

#include "core/nets/layers/gather_rows.hpp"
#include "core/nets/layers/layers.hpp"
#include "core/nets/prefetch.hpp"

namespace ferry::detail {
namespace {

/// dx's item m is the sum of dy's items order[first[m]] ... order[first[m + 1] - 1].
template <class T>
void SumRows(const Place& place, std::int64_t items, std::int64_t length, const Blob<std::int64_t>& firsts,
             const Blob<std::int64_t>& orders, const Operand<const T, 2>& from, const Operand<T, 2>& to) {
  ParallelFor(
      place, {items, length}, Read(firsts, {items + 1}), Read(orders, {orders.count()}), from, to,
      KOKKOS_LAMBDA(std::int64_t m, std::int64_t i, View<const std::int64_t, 1> first,
                    View<const std::int64_t, 1> order, View<const T, 2> dy, View<T, 2> dx) {
        T sum = 0;
        for (std::int64_t k = first(m); k < first(m + 1); ++k) sum += dy(order(k), i);
        dx(m, i) = sum;
      });
}

/// Item n of the top is item x_1[n] of bottom 0; an item may come several times, or not at all.
///
/// Bottoms: 2: items, and their numbers, of one axis. Each pass waits for the numbers and reads them on the
/// host, which checks them.
/// Tops: 1, with as many items as there are numbers.
/// Gradient: the sum over the items of the top that an item became; none for the numbers.
template <class T>
class BatchReindexLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "BatchReindex"; }
  int ExactNumBottomBlobs() const override { return 2; }
  int ExactNumTopBlobs() const override { return 1; }

  void LayerSetUp(const Blobs& /*bottom*/, const Blobs& /*top*/) override {
    for (Blob<std::int64_t>* const blob : {&rows_, &firsts_, &orders_})
      *blob = Blob<std::int64_t>(this->place().device());
  }
  void Reshape(const Blobs& bottom, const Blobs& top) override {
    this->RequireApart(bottom, top);
    if (bottom[1]->num_axes() != 1)
      this->Fail("bottom 1, the numbers of items, has shape " + bottom[1]->shape_string() +
                 "; it must have one axis");
    std::vector<std::int64_t> shape = bottom[0]->shape();
    if (shape.empty()) this->Fail("bottom 0 has no axes; its first one is that of the items");
    firsts_.Reshape({shape[0] + 1});
    rows_.Reshape({bottom[1]->count()});
    orders_.Reshape({bottom[1]->count()});
    shape[0] = bottom[1]->count();
    top[0]->Reshape(shape);
  }

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    const std::int64_t items = bottom[0]->shape(0);
    const std::int64_t length = bottom[0]->count(1);
    Index(items, *bottom[1]);
    for (const Blob<std::int64_t>* const made : {&rows_, &firsts_, &orders_}) PrefetchTo(place, *made);
    GatherRows<T>(place, rows_, rows_.count(), length, Read(*bottom[0], {items, length}),
                  Overwrite(*top[0], {rows_.count(), length}));
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    if (propagate_down[1]) this->Fail("bottom 1, the numbers of items, has no gradient");
    if (!propagate_down[0]) return;
    const std::int64_t items = bottom[0]->shape(0);
    const std::int64_t length = bottom[0]->count(1);
    SumRows<T>(place, items, length, firsts_, orders_, Read(Diff(*top[0]), {rows_.count(), length}),
               Overwrite(Diff(*bottom[0]), {items, length}));
  }

 private:
  /// Also the other way round, by a counting sort, so that the sums of Backward have one order.
  void Index(std::int64_t items, const Blob<T>& of) {
    const TransferGuard meant(TransferPolicy::kAllow);
    const T* const numbers = of.cpu_data();
    const std::int64_t count = rows_.count();
    for (std::int64_t n = 0; n < count; ++n)  // before anything changes
      if (!(numbers[n] >= 0 && numbers[n] < static_cast<T>(items)))
        this->Fail("element " + std::to_string(n) + " of bottom 1 is " + std::to_string(numbers[n]) +
                   "; bottom 0 has items 0 to " + std::to_string(items - 1));
    std::int64_t* const rows = rows_.overwrite_cpu_data();
    std::int64_t* const first = firsts_.overwrite_cpu_data();
    std::int64_t* const order = orders_.overwrite_cpu_data();
    std::fill_n(first, items + 1, 0);
    for (std::int64_t n = 0; n < count; ++n) {
      rows[n] = static_cast<std::int64_t>(numbers[n]);
      ++first[rows[n] + 1];
    }
    std::partial_sum(first, first + items + 1, first);
    for (std::int64_t n = 0; n < count; ++n) order[first[rows[n]]++] = n;
    for (std::int64_t m = items; m > 0; --m) first[m] = first[m - 1];
    first[0] = 0;
  }

  Blob<std::int64_t> rows_;    ///< for each item of the top, that of bottom 0
  Blob<std::int64_t> firsts_;  ///< for each item of bottom 0, where those that it became begin in orders_
  Blob<std::int64_t> orders_;
};

}  // namespace

FERRY_NETS_MAKE_LAYER(BatchReindex);

}  // namespace ferry::detail
