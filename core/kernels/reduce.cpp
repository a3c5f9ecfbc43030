// SPDX-License-Identifier: BSD-2-Clause
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/kernels/block_sum.hpp"
#include "ferry/detail/stream_note.hpp"
#include "ferry/kernels.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
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
struct AddOn {
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
  using Sums = BlockSums<Term>;
  const std::int64_t blocks = Sums::Blocks(n);
  std::array<double, 8> few;  // whose sum costs less than to start workers, or to allocate
  if (blocks <= std::ssize(few)) {
    Run(Sums{term, n, few.data()}, 0, blocks);
    return std::accumulate(few.begin(), few.begin() + blocks, 0.0);
  }
  std::vector<double> sums(static_cast<std::size_t>(blocks));
  RunOnHost(gpu, blocks, Sums{term, n, sums.data()});
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

/// The total of Terms of the operands.
template <class Term, class... Operands>
double Total(const At& at, std::int64_t n, const Operands&... operands) {
  if (n == 0) return 0;
  RequireKokkosFor(at.place());
  Taken<Operands...> taken(at, operands...);
  taken.NoteWait();
  const Place& place = taken.place();
  const Term term = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return Term{taken.template get<I>()...};
  }
  (std::index_sequence_for<Operands...>());
  double total = 0;
  if (RunOnDeviceSpace(place, AddOn<Term>{n, term, &total})) return total;
  const auto gpu = GpuOf(place.device().properties());
  if (place.side() == Side::kCpu) return TotalOnHost(gpu, n, term);
  // Shared with the queued work, which still runs if the wait fails.
  const auto result = std::make_shared<double>(0);
  RunHostCode(
      place, [&] { return taken.Touches(); },
      [gpu, n, term, result] { *result = TotalOnHost(gpu, n, term); });
  HostWait(place.stream());
  return *result;
}

}  // namespace

template <Real T>
double Asum(const At& at, const Operand<const T>& x) {
  return Total<AbsoluteOf<T>>(at, x.count(), x);
}

template <Real T>
double Sumsq(const At& at, const Operand<const T>& x) {
  return Total<SquareOf<T>>(at, x.count(), x);
}

template <Real T>
double Dot(const At& at, const Operand<const T>& x, const Operand<const T>& y) {
  RequireSameCount("Dot", {"x", x.part()}, {"y", y.part()});
  return Total<ProductOf<T>>(at, x.count(), x, y);
}

#define FERRY_INSTANTIATE(T)                                 \
  template double Asum(const At&, const Operand<const T>&);  \
  template double Sumsq(const At&, const Operand<const T>&); \
  template double Dot(const At&, const Operand<const T>&, const Operand<const T>&)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry::detail
