// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ferry/backend.hpp"
#include "ferry/net.pb.h"
#include "ferry/nets/error.hpp"
#include "ferry/nets/random.hpp"
#include "ferry/place.hpp"

namespace ferry {

/// Where a net or a layer runs that is not told: on the default device's main stream.
inline Place DefaultPlace() { return Place(DefaultDevice()); }

namespace detail {

/// While it lives, layers that this thread makes begin at that place, which must live as long.
class LayersBeginAt {
 public:
  /// That of the innermost one that lives; where there is none, the default place.
  static Place Now();

  explicit LayersBeginAt(const Place& place) noexcept;
  explicit LayersBeginAt(Place&&) = delete;
  ~LayersBeginAt();
  LayersBeginAt(const LayersBeginAt&) = delete;
  LayersBeginAt& operator=(const LayersBeginAt&) = delete;

 private:
  const Place* const outer_;
};

}  // namespace detail

/// What a Layer is, whatever its elements. Names and meanings are Caffe's.
class LayerBase {
 public:
  virtual ~LayerBase() = default;
  LayerBase(const LayerBase&) = delete;
  LayerBase& operator=(const LayerBase&) = delete;

  /// What the layer was made from.
  const LayerParameter& layer_param() const noexcept { return layer_param_; }
  /// The type, as prototxt has it.
  virtual const char* type() const { return ""; }

  /// @name How many bottoms and tops; -1 for any number
  ///@{
  virtual int ExactNumBottomBlobs() const { return -1; }
  virtual int MinBottomBlobs() const { return -1; }
  virtual int MaxBottomBlobs() const { return -1; }
  virtual int ExactNumTopBlobs() const { return -1; }
  virtual int MinTopBlobs() const { return -1; }
  virtual int MaxTopBlobs() const { return -1; }
  ///@}
  /// Whether there must be as many tops as bottoms.
  virtual bool EqualNumBottomTopBlobs() const { return false; }
  /// Whether a net adds the tops that are missing.
  virtual bool AutoTopBlobs() const { return false; }
  /// Whether force_backward reaches this bottom.
  virtual bool AllowForceBackward(int /*bottom*/) const { return true; }

  /// Whether Backward computes the gradient of parameter number `param`.
  bool param_propagate_down(int param) const;
  /// Says so.
  void set_param_propagate_down(int param, bool value);

  /// Where the layer runs.
  const Place& place() const noexcept { return place_; }
  /// Moves the layer there: what it has ferries itself.
  virtual void set_place(const Place& place) { place_ = place; }
  /// The random numbers of the next pass.
  RandomKey random_key() const noexcept { return random_; }
  /// Says which those are. Each pass forward counts the iteration up.
  virtual void set_random_key(const RandomKey& key) { random_ = key; }

 protected:
  /// Of that parameter, at the place that LayerRegistry was told or else the default one, with a fresh seed.
  explicit LayerBase(const LayerParameter& param);

  /// Throws a NetError that begins with the layer's name and type.
  [[noreturn]] void Fail(const std::string& what) const;
  /// Throws NetError unless there may be so many.
  void CheckBlobCounts(int bottoms, int tops) const;

  LayerParameter layer_param_;  ///< without its blobs, which the Layer has
  Phase phase_;
  Place place_;
  RandomKey random_;
  std::vector<bool> param_propagate_down_;  ///< which parameters get a gradient, as param_propagate_down says
};

}  // namespace ferry
