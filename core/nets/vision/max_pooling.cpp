// SPDX-License-Identifier: BSD-2-Clause
#include <cfloat>
#include <type_traits>

#include "core/nets/vision/pool_windows.hpp"

namespace ferry::detail {
namespace {

/// The largest element and its position; of equal ones the first.
template <class T>
struct Largest {
  template <int kParts>
  class Of {
   public:
    KOKKOS_FORCEINLINE_FUNCTION Of(const Largest& /*of*/, std::int64_t stride) {
      best_.Set(static_cast<T>(-FLT_MAX));
      at_.Set(-1);
      steps_.SetSteps(static_cast<PositionOf<T>>(stride));
    }
    KOKKOS_FORCEINLINE_FUNCTION void Take(const Lanes<T, kParts>& elements, std::int64_t position) {
      for (int p = 0; p < Lanes<T, kParts>::kVectors; ++p) {
        const auto more = elements.part[p] > best_.part[p];
        best_.part[p] = more ? elements.part[p] : best_.part[p];
        at_.part[p] = more ? steps_.part[p] + static_cast<PositionOf<T>>(position) : at_.part[p];
      }
    }
    template <class Index>
    KOKKOS_FORCEINLINE_FUNCTION void Store(T /*size*/, std::int64_t count, T* y, Index* mask) const {
      best_.Store(count, y);
      at_.Store(count, mask);
    }

   private:
    Lanes<T, kParts> best_;
    Lanes<PositionOf<T>, kParts> at_, steps_;
  };
};

}  // namespace

template <Real T, class Index>
void MaxPool(const At& at, const PoolSizes& sizes, const Operand<const T>& x, const Operand<T>& y,
             const Operand<Index>& mask) {
  strips::Run<const T, T, Index> by_strips = nullptr;
  if constexpr (std::is_same_v<T, float>)
    by_strips = strips::Largest<Index>(WindowsOf(sizes, sizes.w.pooled));
  Pool(at, sizes, Largest<T>{}, by_strips, x, y, mask);
}

#define FERRY_INSTANTIATE(T, Index)                                                              \
  template void MaxPool(const At&, const PoolSizes&, const Operand<const T>&, const Operand<T>&, \
                        const Operand<Index>&)
FERRY_INSTANTIATE(float, std::uint16_t);
FERRY_INSTANTIATE(float, int);
FERRY_INSTANTIATE(float, float);
FERRY_INSTANTIATE(double, std::uint16_t);
FERRY_INSTANTIATE(double, int);
FERRY_INSTANTIATE(double, double);
#undef FERRY_INSTANTIATE

}  // namespace ferry::detail
