// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/nets/layer_case.hpp"

namespace ferry::nets_test {

/// A layer of any type, set up at a place, with bottoms of the given shapes.
template <class T>
struct Made {
  Made(const std::string& text, const Place& place, const std::vector<Shape>& shapes, std::size_t top_count) {
    for (const Shape& shape : shapes) blobs.push_back(std::make_unique<Blob<T>>(shape, place.device()));
    for (std::size_t i = 0; i < top_count; ++i) blobs.push_back(std::make_unique<Blob<T>>(place.device()));
    for (std::size_t i = 0; i < blobs.size(); ++i)
      (i < shapes.size() ? bottoms : tops).push_back(blobs[i].get());
    layer = LayerRegistry<T>::CreateLayer(LayerOf(text), place);
    layer->SetUp(bottoms, tops);
  }
  void Backward() { layer->Backward(tops, {true, false}, bottoms); }

  std::vector<std::unique_ptr<Blob<T>>> blobs;
  std::vector<Blob<T>*> bottoms, tops;
  std::shared_ptr<Layer<T>> layer;
};

}  // namespace ferry::nets_test
