// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "core/nets/layers/labels.hpp"
#include "core/nets/layers/term_sum.hpp"
#include "ferry/layers.pb.h"
#include "ferry/nets/layer.hpp"

namespace ferry::detail {

/// A layer whose first top is a loss, computed from predictions and labels: a scalar, of weight 1 unless the
/// text says otherwise. Caffe's LossLayer.
template <class T>
class LossLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  int ExactNumBottomBlobs() const override { return 2; }
  int ExactNumTopBlobs() const override { return 1; }
  bool AutoTopBlobs() const override { return true; }
  bool AllowForceBackward(int bottom) const override { return bottom != 1; }

  /// Gives the one weight also to a layer of two tops, which SetUp then refuses, as Caffe does.
  void LayerSetUp(const Blobs& /*bottom*/, const Blobs& /*top*/) override {
    if (this->layer_param_.loss_weight_size() == 0) this->layer_param_.add_loss_weight(1);
    sum_ = TermSum<T>(this->place().device());
  }
  void Reshape(const Blobs& bottom, const Blobs& top) override {
    this->RequireApart(bottom, top);
    if (bottom[0]->shape(0) != bottom[1]->shape(0))
      this->Fail("bottoms 0 and 1 have shapes " + bottom[0]->shape_string() + " and " +
                 bottom[1]->shape_string() + "; their first dims must be equal");
    top[0]->Reshape(Shape());
  }

 protected:
  /// Throws NetError if a bottom from number `first` on is to get a gradient.
  void RefuseGradient(const std::vector<bool>& propagate_down, std::size_t first) const {
    for (std::size_t i = first; i < propagate_down.size(); ++i)
      if (propagate_down[i])
        this->Fail("bottom " + std::to_string(i) +
                   " is to get a gradient, and has none; set propagate_down: false for it");
  }
  /// Throws NetError unless there is a label for each of `predictions`.
  void RequireLabelCount(std::int64_t predictions, const Blob<T>& labels) const {
    if (labels.count() != predictions)
      this->Fail("bottom 1 has " + std::to_string(labels.count()) + " labels, of shape " +
                 labels.shape_string() + ", for " + std::to_string(predictions) +
                 " predictions; it takes one for each");
  }
  /// Throws NetError for a label without a class.
  void RequireLabels(const Blob<T>& blob, const Labels& labels) const {
    const std::string wrong = WrongLabel(blob, labels);
    if (!wrong.empty()) this->Fail(wrong);
  }
  /// What loss_param says is ignored.
  Labels LabelsFor(std::int64_t classes) const {
    const LossParameter& param = this->layer_param().loss_param();
    return {classes, param.has_ignore_label(), param.ignore_label()};
  }
  /// What loss_param's normalization means for that many instances, each of `inner` predictions.
  static Divisor DivisorFor(LossParameter::NormalizationMode mode, std::int64_t outer, std::int64_t inner) {
    std::int64_t number = 1;
    if (mode == LossParameter::FULL) number = outer * inner;
    if (mode == LossParameter::BATCH_SIZE) number = outer;
    return {mode == LossParameter::VALID, static_cast<double>(std::max<std::int64_t>(number, 1))};
  }

  TermSum<T> sum_;
};

}  // namespace ferry::detail
