// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/layers/gather_rows.hpp"
#include "core/nets/layers/layers.hpp"
#include "core/nets/prefetch.hpp"

namespace ferry::detail {
namespace {

/// The items of each bottom whose selector is not 0.
///
/// Bottoms: 2 or more; the last one is the selector, of N elements, and the others have N items.
/// Tops: one for each bottom except the selector, with as many items as there are selected. SetUp gives each
/// N items, since the selector has no values yet. The number of items is a shape, so each pass waits for the
/// selector and reads it on the host.
/// Gradient: 0 for the items that were dropped; none for the selector.
/// Caffe: divides by 0 in Backward where nothing was selected.
template <class T>
class FilterLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Filter"; }
  int MinBottomBlobs() const override { return 2; }
  int MinTopBlobs() const override { return 1; }

  void LayerSetUp(const Blobs& bottom, const Blobs& top) override {
    if (top.size() + 1 != bottom.size())
      this->Fail(std::to_string(bottom.size()) + " bottoms and " + std::to_string(top.size()) +
                 " tops; it takes one top for each bottom except the last, the selector");
    from_ = Blob<std::int64_t>(this->place().device());
    to_ = Blob<std::int64_t>(this->place().device());
    is_set_up_ = false;
  }

  void Reshape(const Blobs& bottom, const Blobs& top) override {
    this->RequireApart(bottom, top);
    const Blob<T>& selector = *bottom.back();
    const std::int64_t items = selector.shape(0);
    if (selector.count() != items)
      this->Fail("the selector, bottom " + std::to_string(top.size()) + ", has shape " +
                 selector.shape_string() + "; all its axes except the first must be 1");
    for (std::size_t i = 0; i < top.size(); ++i)
      if (bottom[i]->shape(0) != items)
        this->Fail("bottom " + std::to_string(i) + " has shape " + bottom[i]->shape_string() +
                   ", the selector has " + selector.shape_string() + "; the first dims must be equal");
    Select(selector);
    for (std::size_t i = 0; i < top.size(); ++i) {
      std::vector<std::int64_t> shape = bottom[i]->shape();
      shape[0] = is_set_up_ ? selected_ : items;
      top[i]->Reshape(shape);
    }
    is_set_up_ = true;
  }

 protected:
  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    for (std::size_t i = 0; i < top.size(); ++i) {
      const std::int64_t length = bottom[i]->count(1);
      GatherRows<T>(place, from_, selected_, length, Read(*bottom[i], {from_.count(), length}),
                    Overwrite(*top[i], {selected_, length}));
    }
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    if (propagate_down[top.size()])
      this->Fail("the selector, bottom " + std::to_string(top.size()) + ", has no gradient");
    for (std::size_t i = 0; i < top.size(); ++i) {
      if (!propagate_down[i]) continue;
      const std::int64_t length = bottom[i]->count(1);
      GatherRows<T>(place, to_, to_.count(), length, Read(Diff(*top[i]), {selected_, length}),
                    Overwrite(Diff(*bottom[i]), {to_.count(), length}));
    }
  }

 private:
  void Select(const Blob<T>& selector) {
    from_.Reshape({selector.count()});
    to_.Reshape({selector.count()});
    const TransferGuard meant(TransferPolicy::kAllow);
    const T* const values = selector.cpu_data();
    std::int64_t* const from = from_.overwrite_cpu_data();
    std::int64_t* const to = to_.overwrite_cpu_data();
    selected_ = 0;
    for (std::int64_t n = 0; n < selector.count(); ++n) {
      from[n] = -1;  // those behind the selected ones
      to[n] = -1;
      if (values[n] == T(0)) continue;
      from[selected_] = n;
      to[n] = selected_++;
    }
    PrefetchTo(this->place(), from_);
    PrefetchTo(this->place(), to_);
  }

  Blob<std::int64_t> from_;  ///< for each item of a top, that of the bottom
  Blob<std::int64_t> to_;    ///< for each item of a bottom, that of the top, or -1
  std::int64_t selected_ = 0;
  bool is_set_up_ = false;
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Filter);

}  // namespace ferry::detail
