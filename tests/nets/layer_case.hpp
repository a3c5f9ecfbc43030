// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ferry/nets/layer_registry.hpp"
#include "tests/nets/fills.hpp"
#include "tests/unit/kernels_world.hpp"

namespace ferry::nets_test {

using ferry::testing::World;
/// Where tests of layers run, for World.
std::vector<std::string> Places();

/// The LayerParameter of a text.
LayerParameter LayerOf(const std::string& text, Phase phase = TRAIN);
/// The elements of a blob, as they are on the host.
template <class T>
std::vector<double> DataOf(const Blob<T>& blob);
template <class T>
std::vector<double> DiffOf(const Blob<T>& blob);
/// Overwrites them, on the host.
template <class T>
void SetData(Blob<T>& blob, const std::vector<double>& values);
template <class T>
void SetDiff(Blob<T>& blob, const std::vector<double>& values);

/// A layer with bottoms and tops of its own, made as layers/README.md of Caffe's values says.
template <class T>
class LayerRun {
 public:
  /// Steps 1 to 3. The layer is set up.
  LayerRun(const Json& layer_case, const Place& place);
  /// Steps 4 and 5: all Forwards. Returns the last one's loss.
  T Forward();
  /// Step 6.
  void Backward();

  Layer<T>& layer() { return *layer_; }
  const std::vector<Blob<T>*>& bottoms() const { return bottom_; }
  const std::vector<Blob<T>*>& tops() const { return top_; }

 private:
  void FillBottoms(std::uint32_t shift);

  const Json& case_;
  std::vector<std::unique_ptr<Blob<T>>> owned_;
  std::vector<Blob<T>*> bottom_, top_;
  std::shared_ptr<Layer<T>> layer_;
};

}  // namespace ferry::nets_test
