// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "ferry/blob.hpp"
#include "ferry/filler.pb.h"
#include "ferry/nets/random.hpp"

namespace ferry {

/// Gives a blob its first values, on the host. Caffe's Filler.
template <class T>
class Filler {
 public:
  virtual ~Filler() = default;
  Filler(const Filler&) = delete;
  Filler& operator=(const Filler&) = delete;

  /// Overwrites the data. Throws NetError for a blob that this filler is not for.
  virtual void Fill(Blob<T>* blob) = 0;

 protected:
  Filler() = default;
};

/// The filler of that type: constant, uniform, gaussian, positive_unitball, xavier, msra or bilinear. Its
/// random numbers are those of `key`. Throws NetError for another type, and lists these.
template <class T>
std::shared_ptr<Filler<T>> GetFiller(const FillerParameter& param, const RandomKey& key);
/// The same with a fresh seed.
template <class T>
std::shared_ptr<Filler<T>> GetFiller(const FillerParameter& param) {
  return GetFiller<T>(param, {FreshSeed().value, 0, 0});
}

}  // namespace ferry
