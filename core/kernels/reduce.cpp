// SPDX-License-Identifier: BSD-2-Clause
#include <array>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "core/kernels/block_sum.hpp"
#include "ferry/detail/operands.hpp"
#include "ferry/kernels.hpp"
#include "ferry/kokkos.hpp"

namespace ferry {
namespace {

template <class Term>
struct AddTerm {
  Term term;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, double& total) const {
    total += term.template At<double>(i);
  }
};

/// On a device of Kokkos' own: neighbouring threads take neighbouring terms.
template <class Term>
struct ReduceOn {
  std::int64_t n;
  Term term;
  double* total;

  template <class Space>
  void operator()(const Space& space) const {
    Kokkos::parallel_reduce(Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, n),
                            AddTerm<Term>{term}, *total);
  }
};

template <class Term>
double TotalOnHost(std::optional<int> gpu, std::int64_t n, const Term& term) {
  using Sums = detail::BlockSums<Term>;
  const std::int64_t blocks = Sums::Blocks(n);
  std::array<double, 8> few;  // whose sum costs less than to start workers, or to allocate
  if (blocks <= std::ssize(few)) {
    detail::Run(Sums{term, n, few.data()}, 0, blocks);
    return std::accumulate(few.begin(), few.begin() + blocks, 0.0);
  }
  std::vector<double> sums(static_cast<std::size_t>(blocks));
  detail::RunOnHost(gpu, blocks, Sums{term, n, sums.data()});
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

template <class Term>
double Total(const char* call, const Place& place, std::int64_t n, Touches touches, const Term& term) {
  detail::RequireOperands(call, n, touches);
  if (n == 0) return 0;
  double total = 0;
  if (detail::RunOnDeviceSpace(place, ReduceOn<Term>{n, term, &total})) return total;
  const auto gpu = detail::GpuOf(place.stream().device().properties());
  if (place.side() == Side::kCpu) return TotalOnHost(gpu, n, term);
  // Shared with the queued work, which still runs if the wait fails.
  const auto result = std::make_shared<double>(0);
  detail::RunHostCode(place, touches, [gpu, n, term, result] { *result = TotalOnHost(gpu, n, term); });
  place.stream().Synchronize();
  return *result;
}

}  // namespace

template <Real T>
double Asum(const Place& place, std::int64_t n, const T* x) {
  return Total("Asum", place, n, {{x, n}}, detail::AbsoluteOf<T>{x});
}

template <Real T>
double Sumsq(const Place& place, std::int64_t n, const T* x) {
  return Total("Sumsq", place, n, {{x, n}}, detail::SquareOf<T>{x});
}

template <Real T>
double Dot(const Place& place, std::int64_t n, const T* x, const T* y) {
  return Total("Dot", place, n, {{x, n}, {y, n}}, detail::ProductOf<T>{x, y});
}

#define FERRY_INSTANTIATE(T)                                   \
  template double Asum(const Place&, std::int64_t, const T*);  \
  template double Sumsq(const Place&, std::int64_t, const T*); \
  template double Dot(const Place&, std::int64_t, const T*, const T*)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry
