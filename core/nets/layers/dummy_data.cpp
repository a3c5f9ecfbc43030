// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/layers/layers.hpp"
#include "core/nets/prefetch.hpp"
#include "ferry/nets/filler.hpp"

namespace ferry::detail {
namespace {

/// Tops that fillers fill: constants once, all others anew in each pass.
///
/// Parameters: dummy_data_param { shape: one for all tops, or one for each data_filler: the same; none is
/// constant 0 }; num, channels, height and width, each once or once for each top, are shape's old names.
/// Bottoms: none.
/// Tops: 1 or more.
template <class T>
class DummyDataLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "DummyData"; }
  int ExactNumBottomBlobs() const override { return 0; }
  int MinTopBlobs() const override { return 1; }

  void LayerSetUp(const Blobs& /*bottom*/, const Blobs& top) override {
    CheckParam(static_cast<int>(top.size()));
    for (std::size_t i = 0; i < top.size(); ++i) {
      const int number = static_cast<int>(i);
      if (Param().shape_size() > 0)
        top[i]->Reshape(Param().shape(Param().shape_size() == 1 ? 0 : number));
      else
        top[i]->Reshape(At(Param().num(), number), At(Param().channels(), number),
                        At(Param().height(), number), At(Param().width(), number));
    }
    Fill(top, true);
  }
  void Reshape(const Blobs& /*bottom*/, const Blobs& /*top*/) override {}

 protected:
  void ForwardAt(const Place& place, const Blobs& /*bottom*/, const Blobs& top) override {
    Fill(top, false);
    for (const Blob<T>* const filled : top) PrefetchTo(place, *filled);
  }
  void BackwardAt(const Place& /*place*/, const Blobs& /*top*/, const std::vector<bool>& /*propagate_down*/,
                  const Blobs& /*bottom*/) override {}

 private:
  const DummyDataParameter& Param() const { return this->layer_param().dummy_data_param(); }

  template <class List>
  static std::int64_t At(const List& list, int top) {
    return list.Get(list.size() == 1 ? 0 : top);
  }

  void CheckParam(int tops) const {
    const auto check = [&](const char* name, int count) {
      if (count != 1 && count != tops)
        this->Fail("dummy_data_param has " + std::to_string(count) + ' ' + name + " for " +
                   std::to_string(tops) + " tops; say one, or one for each");
    };
    if (Param().data_filler_size() != 0) check("data_filler", Param().data_filler_size());
    const int old =
        Param().num_size() + Param().channels_size() + Param().height_size() + Param().width_size();
    if (old == 0) return check("shape", Param().shape_size());
    if (Param().shape_size() != 0)
      this->Fail("dummy_data_param has shape and its old names num, channels, height and width; say shape");
    check("num", Param().num_size());
    check("channels", Param().channels_size());
    check("height", Param().height_size());
    check("width", Param().width_size());
  }

  /// Fills the constant tops, or all others.
  void Fill(const Blobs& top, bool constant) const {
    for (std::size_t i = 0; i < top.size(); ++i) {
      FillerParameter filler;
      if (Param().data_filler_size() != 0)
        filler = Param().data_filler(Param().data_filler_size() == 1 ? 0 : static_cast<int>(i));
      RandomKey key = this->random_key();
      key.seed += 0xD1B54A32D192ED03U * i;  // each top has numbers of its own
      const auto made = GetFiller<T>(filler, key);
      if ((filler.type() == "constant") == constant) made->Fill(top[i]);
    }
  }
};

}  // namespace

FERRY_NETS_MAKE_LAYER(DummyData);

}  // namespace ferry::detail
