// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/layers/layers.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

/// Element by element: the sum of coeff_i * x_i, the product, or the largest.
///
/// Parameters: eltwise_param { operation: SUM coeff: 1 for each bottom, of SUM alone stable_prod_grad: true
/// }.
/// Bottoms: 2 or more, of one shape.
/// Tops: 1, of that shape; not one of the bottoms.
/// Gradient: of MAX,
/// goes to the bottom that was the largest; of those that are equal, to bottom 1 before bottom 0, and then to
/// the one with the lowest number. Of PROD, with stable_prod_grad: false, top / x_i instead of the product of
/// the others.
/// Caffe: takes a top that is bottom 0, and then gives wrong values. Its BLAS decides what coeff: 0 makes of
/// a gradient of infinity or not-a-number; here both become not-a-number.
template <class T>
class EltwiseLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Eltwise"; }
  int MinBottomBlobs() const override { return 2; }
  int ExactNumTopBlobs() const override { return 1; }

  void LayerSetUp(const Blobs& bottom, const Blobs& /*top*/) override {
    const EltwiseParameter& param = this->layer_param().eltwise_param();
    const auto coefficients = static_cast<std::size_t>(param.coeff_size());
    if (coefficients != 0 && coefficients != bottom.size())
      this->Fail("eltwise_param has " + std::to_string(coefficients) + " coeff for " +
                 std::to_string(bottom.size()) + " bottoms; say one for each, or none");
    if (coefficients != 0 && param.operation() == EltwiseParameter::PROD)
      this->Fail("eltwise_param has coeff, which is for SUM, and operation: PROD");
    coefficients_.assign(bottom.size(), T(1));
    for (std::size_t i = 0; i < coefficients; ++i)
      coefficients_[i] = static_cast<T>(param.coeff(static_cast<int>(i)));
    largest_ = Blob<int>(this->place().device());
  }

  void Reshape(const Blobs& bottom, const Blobs& top) override {
    this->RequireApart(bottom, top);
    for (std::size_t i = 0; i < bottom.size(); ++i)
      if (bottom[i]->shape() != bottom[0]->shape())
        this->Fail("bottom 0 has shape " + bottom[0]->shape_string() + ", bottom " + std::to_string(i) +
                   " has " + bottom[i]->shape_string() + "; they must be equal");
    top[0]->ReshapeLike(*bottom[0]);
    if (Operation() == EltwiseParameter::MAX) largest_.Reshape(bottom[0]->shape());
  }

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    switch (Operation()) {
      case EltwiseParameter::PROD:
        return Multiply(place, bottom, top[0]);
      case EltwiseParameter::SUM:
        return Add(place, bottom, top[0]);
      case EltwiseParameter::MAX:
        return TakeLargest(place, bottom, top[0]);
    }
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    for (std::size_t i = 0; i < bottom.size(); ++i) {
      if (!propagate_down[i]) continue;
      switch (Operation()) {
        case EltwiseParameter::PROD:
          this->layer_param().eltwise_param().stable_prod_grad() ? OfProduct(place, top[0], bottom, i)
                                                                 : OfQuotient(place, top[0], bottom[i]);
          break;
        case EltwiseParameter::SUM:
          OfSum(place, top[0], coefficients_[i], bottom[i]);
          break;
        case EltwiseParameter::MAX:
          OfLargest(place, top[0], static_cast<int>(i), bottom[i]);
          break;
      }
    }
  }

  void Multiply(const Place& place, const Blobs& bottom, Blob<T>* top) const {
    ParallelFor(
        place, top->count(), Read(*bottom[0]), Read(*bottom[1]), Overwrite(*top),
        KOKKOS_LAMBDA(std::int64_t i, const T* a, const T* b, T* y) { y[i] = a[i] * b[i]; });
    for (std::size_t k = 2; k < bottom.size(); ++k) MultiplyBy(place, Read(*bottom[k]), ReadWrite(*top));
  }
  static void MultiplyBy(const Place& place, const Operand<const T>& factor, const Operand<T>& product) {
    ParallelFor(
        place, product.count(), factor, product,
        KOKKOS_LAMBDA(std::int64_t i, const T* x, T* y) { y[i] *= x[i]; });
  }
  /// A bottom whose coefficient is 0 has no part in the sum, be it infinite or not a number.
  void Add(const Place& place, const Blobs& bottom, Blob<T>* top) const {
    const T of_a = coefficients_[0];
    const T of_b = coefficients_[1];
    ParallelFor(
        place, top->count(), Read(*bottom[0]), Read(*bottom[1]), Overwrite(*top),
        KOKKOS_LAMBDA(std::int64_t i, const T* a, const T* b, T* y) {
          const T from_a = a[i];  // read always: under a condition it keeps g++ from vectorising
          const T from_b = b[i];
          y[i] = (of_a != 0 ? of_a * from_a : T(0)) + (of_b != 0 ? of_b * from_b : T(0));
        });
    for (std::size_t k = 2; k < bottom.size(); ++k)
      if (coefficients_[k] != 0) Axpy(place, coefficients_[k], *bottom[k], *top);
  }
  void TakeLargest(const Place& place, const Blobs& bottom, Blob<T>* top) {
    ParallelFor(
        place, top->count(), Read(*bottom[0]), Read(*bottom[1]), Overwrite(*top), Overwrite(largest_),
        KOKKOS_LAMBDA(std::int64_t i, const T* a, const T* b, T* y, int* largest) {
          const bool first = a[i] > b[i];
          y[i] = first ? a[i] : b[i];
          largest[i] = first ? 0 : 1;
        });
    for (std::size_t k = 2; k < bottom.size(); ++k) {
      const int number = static_cast<int>(k);
      ParallelFor(
          place, top->count(), Read(*bottom[k]), ReadWrite(*top), ReadWrite(largest_),
          KOKKOS_LAMBDA(std::int64_t i, const T* x, T* y, int* largest) {
            const bool larger = x[i] > y[i];
            y[i] = larger ? x[i] : y[i];
            largest[i] = larger ? number : largest[i];
          });
    }
  }

  /// The product of the other bottoms, times the top's diff.
  static void OfProduct(const Place& place, Blob<T>* top, const Blobs& bottom, std::size_t number) {
    Blob<T>& to = *bottom[number];
    const Blob<T>* one = nullptr;
    bool begun = false;
    for (std::size_t k = 0; k < bottom.size(); ++k) {
      if (k == number) continue;
      if (begun) {
        MultiplyBy(place, Read(*bottom[k]), ReadWrite(Diff(to)));
      } else if (one == nullptr) {
        one = bottom[k];
      } else {
        Product(place, *one, Read(*bottom[k]), &to);
        begun = true;
      }
    }
    begun ? MultiplyBy(place, Read(Diff(*top)), ReadWrite(Diff(to)))
          : Product(place, *one, Read(Diff(*top)), &to);
  }
  static void Product(const Place& place, const Blob<T>& x, const Operand<const T>& y, Blob<T>* to) {
    ParallelFor(
        place, to->count(), Read(x), y, Overwrite(Diff(*to)),
        KOKKOS_LAMBDA(std::int64_t i, const T* a, const T* b, T* dx) { dx[i] = a[i] * b[i]; });
  }
  static void OfQuotient(const Place& place, Blob<T>* top, Blob<T>* bottom) {
    ParallelFor(
        place, top->count(), Read(*top), Read(Diff(*top)), Read(*bottom), Overwrite(Diff(*bottom)),
        KOKKOS_LAMBDA(std::int64_t i, const T* y, const T* dy, const T* x, T* dx) {
          dx[i] = y[i] / x[i] * dy[i];
        });
  }
  static void OfSum(const Place& place, Blob<T>* top, T coefficient, Blob<T>* bottom) {
    if (coefficient == T(1)) return Copy(place, Diff(*top), Diff(*bottom));
    ParallelFor(
        place, top->count(), Read(Diff(*top)), Overwrite(Diff(*bottom)),
        KOKKOS_LAMBDA(std::int64_t i, const T* dy, T* dx) { dx[i] = coefficient * dy[i]; });
  }
  void OfLargest(const Place& place, Blob<T>* top, int number, Blob<T>* bottom) {
    ParallelFor(
        place, top->count(), Read(largest_), Read(Diff(*top)), Overwrite(Diff(*bottom)),
        KOKKOS_LAMBDA(std::int64_t i, const int* largest, const T* dy, T* dx) {
          dx[i] = largest[i] == number ? dy[i] : T(0);
        });
  }

 private:
  EltwiseParameter::EltwiseOp Operation() const { return this->layer_param().eltwise_param().operation(); }

  std::vector<T> coefficients_;
  Blob<int> largest_;  ///< of MAX: the number of the bottom that each element is of
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Eltwise);

}  // namespace ferry::detail
