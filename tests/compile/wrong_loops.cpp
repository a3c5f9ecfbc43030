// SPDX-License-Identifier: BSD-2-Clause
// Loops that must not compile, by their names; and their neighbours, which must.
#include "ferry/array.hpp"
#include "ferry/blob.hpp"
#include "ferry/kokkos.hpp"

using ferry::Array, ferry::Blob, ferry::Place;

struct Double {
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, float* x) const { x[i] *= 2; }
};

void Right(const Place& place, Array<float>& x, Blob<float>& blob) {
  ParallelFor(place, 3, ReadWrite(x), Double{});
  ParallelFor(place, 3, ReadWrite(Diff(blob)), Double{});
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
#elif defined(RESULT_OF_NO_KIND)
  ParallelReduce(place, 3, Read(x), Double{}, &sum);
#endif
}
