// SPDX-License-Identifier: BSD-2-Clause
// Loops that must not compile, by their names; and their neighbours, which must.
#include "ferry/array.hpp"
#include "ferry/blob.hpp"
#include "ferry/kokkos.hpp"

using ferry::Array, ferry::Blob, ferry::Place;

struct Double {
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, float* x) const { x[i] *= 2; }
};

struct Sum {
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, const float* x, double& sum) const { sum += x[i]; }
};
struct Scan {
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, const float* x, double& sum, bool) const {
    sum += x[i];
  }
};
struct ScanOfFloats {
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t, const double*, float& sum, bool) const { sum += 1; }
};

void Right(const Place& place, Array<float>& x, Blob<float>& blob, double sum) {
  ParallelFor(place, 3, ReadWrite(x), Double{});
  ParallelFor(place, 3, ReadWrite(Diff(blob)), Double{});
  ParallelReduce(place, 3, Read(x), Sum{}, sum);
  ParallelReduce(place, 3, Read(x), Sum{}, Kokkos::Sum<double>(sum));
  ParallelScan(place, 3, Read(x), Scan{});
  ParallelScan(place, 3, Read(x), Scan{}, sum);
}

void Wrong(const Place& place, Array<float>& x, Array<double>& doubles, const Blob<float>& b, double sum) {
#if defined(ARRAY_FOR_AN_OPERAND)
  ParallelFor(place, 3, x, Double{});
#elif defined(POINTER_FOR_AN_OPERAND)
  ParallelFor(place, 3, place.ReadWrite(x).data(), Double{});
#elif defined(NO_BODY)
  ParallelFor(place, 3);
#elif defined(BODY_WRITES_WHAT_IT_READS)
  ParallelFor(place, 3, Read(b), Double{});
#elif defined(BODY_OF_ANOTHER_TYPE)
  ParallelFor(place, 3, ReadWrite(doubles), Double{});
#elif defined(RESULT_IN_A_TEMPORARY)
  ParallelReduce(place, 3, Read(x), Sum{}, 0.0);
#elif defined(TOTAL_IN_A_TEMPORARY)
  ParallelScan(place, 3, Read(x), Scan{}, 0.0);
#elif defined(TOTAL_OF_ANOTHER_TYPE)
  ParallelScan(place, 3, Read(doubles), ScanOfFloats{}, sum);
#elif defined(RESULT_OF_NO_KIND)
  ParallelReduce(place, 3, Read(x), Double{}, &sum);
#endif
}
