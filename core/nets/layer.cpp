// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/nets/layer.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "ferry/diff.hpp"
#include "ferry/kernels.hpp"
#include "ferry/nets/filler.hpp"
#include "ferry/transfer_guard.hpp"

namespace ferry {

namespace {

thread_local constinit const Place* beginning = nullptr;

bool RunsOnHost(const Place& place) {
  return place.side() == Side::kCpu || place.device().properties().kernels_at_once;
}

}  // namespace

Place detail::LayersBeginAt::Now() { return beginning != nullptr ? *beginning : DefaultPlace(); }
detail::LayersBeginAt::LayersBeginAt(const Place& place) noexcept
    : outer_(std::exchange(beginning, &place)) {}
detail::LayersBeginAt::~LayersBeginAt() { beginning = outer_; }

LayerBase::LayerBase(const LayerParameter& param)
    : layer_param_(param),
      phase_(param.phase()),
      place_(detail::LayersBeginAt::Now()),
      random_{FreshSeed().value, 0, 0} {
  layer_param_.clear_blobs();
}

bool LayerBase::param_propagate_down(int param) const {
  const auto index = static_cast<std::size_t>(param);
  return index < param_propagate_down_.size() && param_propagate_down_[index];
}

void LayerBase::set_param_propagate_down(int param, bool value) {
  if (param < 0)
    Fail("set_param_propagate_down: parameter " + std::to_string(param) + "; the first one is 0");
  const auto index = static_cast<std::size_t>(param);
  if (param_propagate_down_.size() <= index) param_propagate_down_.resize(index + 1, true);
  param_propagate_down_[index] = value;
}

void LayerBase::Fail(const std::string& what) const {
  throw NetError("layer '" + layer_param_.name() + "' (" + layer_param_.type() + "): " + what);
}

void LayerBase::CheckBlobCounts(int bottoms, int tops) const {
  const auto check = [this](const char* which, int count, int exact, int min, int max) {
    if ((exact < 0 || count == exact) && count >= min && (max < 0 || count <= max)) return;
    std::string allowed;
    if (exact >= 0)
      allowed = std::to_string(exact);
    else if (max < 0)
      allowed = std::to_string(min) + " or more";
    else
      allowed = std::to_string(std::max(min, 0)) + " to " + std::to_string(max);
    Fail(std::to_string(count) + " " + which + " blobs; it takes " + allowed);
  };
  check("bottom", bottoms, ExactNumBottomBlobs(), MinBottomBlobs(), MaxBottomBlobs());
  check("top", tops, ExactNumTopBlobs(), MinTopBlobs(), MaxTopBlobs());
  if (EqualNumBottomTopBlobs() && bottoms != tops)
    Fail(std::to_string(bottoms) + " bottom blobs and " + std::to_string(tops) +
         " top blobs; it takes as many of both");
}

template <class T>
Layer<T>::Layer(const LayerParameter& param) : LayerBase(param) {
  for (const BlobProto& message : param.blobs()) {
    blobs_.push_back(std::make_shared<Blob<T>>(place_.device()));
    blobs_.back()->FromProto(message);
  }
}

template <class T>
void Layer<T>::SetUp(const Blobs& bottom, const Blobs& top) {
  CheckBlobCounts(static_cast<int>(bottom.size()), static_cast<int>(top.size()));
  CheckLossWeights(top.size());
  fits_ = false;
  LayerSetUp(bottom, top);
  CheckLossWeights(top.size());  // a loss may have given itself one
  Reshape(bottom, top);
  fits_ = true;
  SetLossWeights(top);
}

template <class T>
void Layer<T>::CheckLossWeights(std::size_t tops) const {
  const auto& weights = layer_param_.loss_weight();
  if (!weights.empty() && static_cast<std::size_t>(weights.size()) != tops)
    Fail(std::to_string(weights.size()) + " loss_weight for " + std::to_string(tops) +
         " top blobs; say one for each, or none");
  for (const float weight : weights)
    if (!std::isfinite(weight)) Fail("loss_weight " + std::to_string(weight) + "; it must be finite");
}

template <class T>
void Layer<T>::SetLossWeights(const Blobs& top) {
  if (layer_param_.loss_weight().empty()) return;
  weighted_.assign(top.size(), {});
  for (std::size_t i = 0; i < top.size(); ++i) {
    const int number = static_cast<int>(i);
    const T weight = static_cast<T>(layer_param_.loss_weight(number));
    if (weight == T(0)) continue;
    set_loss(number, weight);
    ferry::Set(place_, weight, Diff(*top[i]));
    weighted_[i] = {top[i]->count(), top[i]->count()};
  }
}

/// A top that gets smaller and then larger again has lost the weights at its end. One that gets larger than
/// it ever was has new storage, without weights, as in Caffe: then it is no part of the loss any more.
template <class T>
void Layer<T>::KeepLossWeights(const Blobs& top) {
  for (std::size_t i = 0; i < std::min(weighted_.size(), top.size()); ++i) {
    Weighted& weighted = weighted_[i];
    const std::int64_t count = top[i]->count();
    if (count > weighted.room)
      weighted.room = 0;
    else if (count > weighted.count)
      ferry::Set(place_, loss_[i], Diff(*top[i]));
    weighted.count = count;
  }
}

template <class T>
void Layer<T>::Refit(const Blobs& bottom, const Blobs& top) {
  fits_ = false;
  Reshape(bottom, top);
  fits_ = true;
  KeepLossWeights(top);
}

template <class T>
T Layer<T>::Forward(const Blobs& bottom, const Blobs& top) {
  Refit(bottom, top);
  if (RunsOnHost(place_)) CheckValues(bottom);
  ForwardAt(place_, bottom, top);
  ++random_.iteration;
  T loss = 0;
  for (std::size_t i = 0; i < std::min(loss_.size(), top.size()); ++i)
    if (loss_[i] != T(0)) loss += static_cast<T>(Dot(place_, *top[i], Diff(*top[i])));
  if (std::isnan(loss)) CheckValuesAfter(bottom);
  return loss;
}

template <class T>
void Layer<T>::CheckValuesAfter(const Blobs& bottom) const {
  if (RunsOnHost(place_)) return;
  const TransferGuard meant(TransferPolicy::kAllow);
  CheckValues(bottom);
}

template <class T>
void Layer<T>::Backward(const Blobs& top, const std::vector<bool>& propagate_down, const Blobs& bottom) {
  if (!fits_) Fail("Backward, while its shapes do not fit; make a Forward that succeeds first");
  BackwardAt(place_, top, propagate_down, bottom);
}

template <class T>
void Layer<T>::ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) {
  place.side() == Side::kCpu ? Forward_cpu(bottom, top) : Forward_gpu(bottom, top);
}

template <class T>
void Layer<T>::BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                          const Blobs& bottom) {
  place.side() == Side::kCpu ? Backward_cpu(top, propagate_down, bottom)
                             : Backward_gpu(top, propagate_down, bottom);
}

template <class T>
void Layer<T>::Forward_cpu(const Blobs& /*bottom*/, const Blobs& /*top*/) {
  Fail("the class overrides neither ForwardAt nor Forward_cpu");
}

template <class T>
void Layer<T>::Backward_cpu(const Blobs& /*top*/, const std::vector<bool>& propagate_down,
                            const Blobs& /*bottom*/) {
  if (std::find(propagate_down.begin(), propagate_down.end(), true) != propagate_down.end())
    Fail("it has no gradient: the class overrides neither BackwardAt nor Backward_cpu");
}

template <class T>
void Layer<T>::RequireApart(const Blobs& bottom, const Blobs& top) const {
  for (std::size_t i = 0; i < top.size(); ++i)
    for (std::size_t j = 0; j < bottom.size(); ++j)
      if (top[i] == bottom[j])
        Fail("top " + std::to_string(i) + " is bottom " + std::to_string(j) +
             ", and the layer cannot be in place; give the top a name of its own");
}

template <class T>
void Layer<T>::FillBlob(const FillerParameter& filler, Blob<T>* blob) {
  constexpr std::uint64_t kNoPass = std::uint64_t{1} << 63U;
  if (blob->name().empty()) {
    const auto it =
        std::find_if(blobs_.begin(), blobs_.end(), [&](const auto& one) { return one.get() == blob; });
    const auto number = it - blobs_.begin();  // if it is not among them yet, the next one
    blob->set_name(layer_param_.name() + '.' + std::to_string(number));
  }
  try {
    GetFiller<T>(filler, {random_.seed, random_.layer, kNoPass + fills_++})->Fill(blob);
  } catch (const NetError& error) {
    Fail(error.what());
  }
}

template <class T>
T Layer<T>::loss(int top) const {
  const auto index = static_cast<std::size_t>(top);
  return index < loss_.size() ? loss_[index] : T(0);
}

template <class T>
void Layer<T>::set_loss(int top, T value) {
  if (top < 0) Fail("set_loss: top " + std::to_string(top) + "; the first one is 0");
  const auto index = static_cast<std::size_t>(top);
  if (loss_.size() <= index) loss_.resize(index + 1, T(0));
  loss_[index] = value;
}

template <class T>
// NOLINTNEXTLINE(google-default-arguments): as Caffe's
void Layer<T>::ToProto(LayerParameter* param, bool write_diff) {
  *param = layer_param_;
  for (const auto& blob : blobs_) blob->ToProto(param->add_blobs(), write_diff);
}

template class Layer<float>;
template class Layer<double>;

}  // namespace ferry
