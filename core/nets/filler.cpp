// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/nets/filler.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "core/nets/draw.hpp"
#include "core/nets/philox.hpp"
#include "ferry/nets/error.hpp"

namespace ferry {
namespace {

using detail::Philox;

/// What all fillers check, and what they draw from.
template <class T>
class CheckedFiller : public Filler<T> {
 public:
  CheckedFiller(FillerParameter param, const RandomKey& key) : param_(std::move(param)), random_(key) {}

  void Fill(Blob<T>* blob) final {
    if (blob->count() == 0) Fail(*blob, "the blob has no elements; give it a shape without a 0");
    if (param_.sparse() != -1 && param_.type() != "gaussian")
      Fail(*blob, "sparse is " + std::to_string(param_.sparse()) + "; only gaussian takes it");
    Check(*blob);
    Write(*blob, blob->overwrite_cpu_data());
  }

 protected:
  /// Fails where this filler can't.
  virtual void Check(const Blob<T>& /*blob*/) const {}
  virtual void Write(const Blob<T>& blob, T* data) const = 0;

  const FillerParameter& param() const { return param_; }
  const Philox& random() const { return random_; }
  [[noreturn]] void Fail(const Blob<T>& blob, const std::string& what) const {
    throw NetError("filler '" + param_.type() + "' of a blob of shape " + blob.shape().ToString() + ": " +
                   what);
  }
  void RequireAxes(const Blob<T>& blob) const {
    if (blob.num_axes() == 0) Fail(blob, "the blob has no axes; it takes 1 or more");
  }

  void WriteUniform(const Blob<T>& blob, T a, T b, T* data) const {
    detail::Draw(random_, detail::UniformElements<T>{a, b}, Elements(blob, data));
  }
  void WriteGaussian(const Blob<T>& blob, T mean, T std, T* data) const {
    detail::Draw(random_, detail::NormalElements<T>{mean, std}, Elements(blob, data));
  }
  /// The number of inputs, of outputs, or their mean, that the variance is divided by.
  T Fan(const Blob<T>& blob) const {
    const std::int64_t in = blob.count() / blob.shape(0);
    const std::int64_t out = blob.num_axes() > 1 ? blob.count() / blob.shape(1) : blob.count();
    switch (param_.variance_norm()) {
      case FillerParameter::FAN_OUT:
        return static_cast<T>(out);
      case FillerParameter::AVERAGE:
        return static_cast<T>(in + out) / T(2);
      default:
        return static_cast<T>(in);
    }
  }

 private:
  static std::span<T> Elements(const Blob<T>& blob, T* data) {
    return {data, static_cast<std::size_t>(blob.count())};
  }

  FillerParameter param_;
  Philox random_;
};

template <class T>
class ConstantFiller final : public CheckedFiller<T> {
 public:
  using CheckedFiller<T>::CheckedFiller;

 protected:
  void Write(const Blob<T>& blob, T* data) const override {
    std::fill_n(data, blob.count(), static_cast<T>(this->param().value()));
  }
};

template <class T>
class UniformFiller final : public CheckedFiller<T> {
 public:
  using CheckedFiller<T>::CheckedFiller;

 protected:
  void Check(const Blob<T>& blob) const override {
    const FillerParameter& param = this->param();
    if (!(param.min() <= param.max()))
      this->Fail(blob, "min is " + std::to_string(param.min()) + " and max " + std::to_string(param.max()) +
                           "; min must be at most max");
  }
  void Write(const Blob<T>& blob, T* data) const override {
    this->WriteUniform(blob, static_cast<T>(this->param().min()), static_cast<T>(this->param().max()), data);
  }
};

template <class T>
class GaussianFiller final : public CheckedFiller<T> {
 public:
  using CheckedFiller<T>::CheckedFiller;

 protected:
  void Check(const Blob<T>& blob) const override {
    const FillerParameter& param = this->param();
    if (!(param.std() > 0))
      this->Fail(blob, "std is " + std::to_string(param.std()) + "; it must be more than 0");
    if (param.sparse() == -1) return;
    this->RequireAxes(blob);
    if (param.sparse() < -1 || param.sparse() > blob.shape(0))
      this->Fail(blob, "sparse is " + std::to_string(param.sparse()) +
                           "; it is -1, or 0 to the first dim: how many weights of an input are not 0");
  }
  void Write(const Blob<T>& blob, T* data) const override {
    const FillerParameter& param = this->param();
    this->WriteGaussian(blob, static_cast<T>(param.mean()), static_cast<T>(param.std()), data);
    if (param.sparse() == -1) return;
    // The upper half of the indices, which the values leave.
    constexpr std::uint64_t kMask = std::uint64_t{1} << 63U;
    const double kept = static_cast<double>(param.sparse()) / static_cast<double>(blob.shape(0));
    for (std::int64_t i = 0; i < blob.count(); ++i)
      if (this->random().Uniform(kMask | static_cast<std::uint64_t>(i)) >= kept) data[i] = T(0);
  }
};

template <class T>
class PositiveUnitballFiller final : public CheckedFiller<T> {
 public:
  using CheckedFiller<T>::CheckedFiller;

 protected:
  void Check(const Blob<T>& blob) const override { this->RequireAxes(blob); }
  void Write(const Blob<T>& blob, T* data) const override {
    this->WriteUniform(blob, T(0), T(1), data);
    const std::int64_t dim = blob.count() / blob.shape(0);
    for (T* row = data; row != data + blob.count(); row += dim) {
      double sum = 0;
      for (std::int64_t j = 0; j < dim; ++j) sum += row[j];
      for (std::int64_t j = 0; j < dim; ++j) row[j] = static_cast<T>(row[j] / sum);
    }
  }
};

/// Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural networks", 2010.
template <class T>
class XavierFiller final : public CheckedFiller<T> {
 public:
  using CheckedFiller<T>::CheckedFiller;

 protected:
  void Check(const Blob<T>& blob) const override { this->RequireAxes(blob); }
  void Write(const Blob<T>& blob, T* data) const override {
    const T limit = std::sqrt(T(3) / this->Fan(blob));
    this->WriteUniform(blob, -limit, limit, data);
  }
};

/// He et al., "Delving deep into rectifiers", 2015.
template <class T>
class MsraFiller final : public CheckedFiller<T> {
 public:
  using CheckedFiller<T>::CheckedFiller;

 protected:
  void Check(const Blob<T>& blob) const override { this->RequireAxes(blob); }
  void Write(const Blob<T>& blob, T* data) const override {
    this->WriteGaussian(blob, T(0), std::sqrt(T(2) / this->Fan(blob)), data);
  }
};

/// The weights with which a deconvolution interpolates.
template <class T>
class BilinearFiller final : public CheckedFiller<T> {
 public:
  using CheckedFiller<T>::CheckedFiller;

 protected:
  void Check(const Blob<T>& blob) const override {
    if (blob.num_axes() != 4 || blob.shape(2) != blob.shape(3))
      this->Fail(blob, "it takes 4 axes, of which the last two have the same dim");
  }
  void Write(const Blob<T>& blob, T* data) const override {
    const std::int64_t width = blob.shape(3);
    const std::int64_t half = (width + 1) / 2;
    const T centre = static_cast<T>(static_cast<double>(width - 1) / (2.0 * static_cast<double>(half)));
    const auto weight = [&](std::int64_t i) {
      return T(1) - std::abs(static_cast<T>(i) / static_cast<T>(half) - centre);
    };
    for (std::int64_t i = 0; i < blob.count(); ++i) data[i] = weight(i % width) * weight(i / width % width);
  }
};

template <class T, template <class> class F>
std::shared_ptr<Filler<T>> Make(const FillerParameter& param, const RandomKey& key) {
  return std::make_shared<F<T>>(param, key);
}

}  // namespace

template <class T>
std::shared_ptr<Filler<T>> GetFiller(const FillerParameter& param, const RandomKey& key) {
  const std::string& type = param.type();
  if (type == "constant") return Make<T, ConstantFiller>(param, key);
  if (type == "uniform") return Make<T, UniformFiller>(param, key);
  if (type == "gaussian") return Make<T, GaussianFiller>(param, key);
  if (type == "positive_unitball") return Make<T, PositiveUnitballFiller>(param, key);
  if (type == "xavier") return Make<T, XavierFiller>(param, key);
  if (type == "msra") return Make<T, MsraFiller>(param, key);
  if (type == "bilinear") return Make<T, BilinearFiller>(param, key);
  throw NetError("filler type '" + type +
                 "' is unknown; there are constant, uniform, gaussian, positive_unitball, xavier, msra and "
                 "bilinear");
}

template std::shared_ptr<Filler<float>> GetFiller(const FillerParameter&, const RandomKey&);
template std::shared_ptr<Filler<double>> GetFiller(const FillerParameter&, const RandomKey&);

}  // namespace ferry
