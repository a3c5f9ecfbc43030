// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ferry/nets/layer_registry.hpp"
#include "tests/nets/layer_case.hpp"

namespace ferry::nets_test {

/// A layer of a text, with bottoms 1, 2, 3, 4.
struct LoneLayer {
  explicit LoneLayer(const std::string& text, const Place& place, int bottoms = 1, int tops = 1)
      : layer(LayerRegistry<float>::CreateLayer(LayerOf(text), place)) {
    for (int i = 0; i < bottoms + tops; ++i) {
      owned.push_back(std::make_unique<Blob<float>>(place.device()));
      (i < bottoms ? bottom : top).push_back(owned.back().get());
    }
    for (Blob<float>* const blob : bottom) {
      blob->Reshape({4});
      SetData(*blob, {1, 2, 3, 4});
    }
  }
  void SetUp() { layer->SetUp(bottom, top); }

  std::shared_ptr<Layer<float>> layer;
  std::vector<std::unique_ptr<Blob<float>>> owned;
  std::vector<Blob<float>*> bottom, top;
};

}  // namespace ferry::nets_test
